"""Loads the data files of the table, each once and only when it is asked for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@cache
def section(file: str, key: str) -> Any:
    """One section of one data file."""
    return _file(file)[key]


@cache
def _file(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_bytes())
