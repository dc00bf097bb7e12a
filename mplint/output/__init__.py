"""Findings for people and for programs: one module a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from mplint.analysis import Report
from mplint.output import concise, full, json, statistics
from mplint.output.context import Context

Format = Callable[[Report, Context], str]

FINDINGS: Final[Mapping[str, Format]] = {"full": full.render, "concise": concise.render, "json": json.render}
"""How findings are shown."""

COUNTS: Final[Mapping[str, Format]] = {
    "full": statistics.render,
    "concise": statistics.render,
    "json": statistics.render_json,
}
"""How `--statistics` counts them."""
