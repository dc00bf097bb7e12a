"""Writes the table: JSON with one entry a line, sorted, so that a diff shows what changed in Keras."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def text_of(sections: Mapping[str, Any]) -> str:
    """A JSON object of sections; each entry of a section that is a mapping or list has its own line."""
    return "{\n" + ",\n".join(f"{_compact(key)}: {_section(section)}" for key, section in sections.items()) + "\n}\n"


def _section(section: Any) -> str:
    if isinstance(section, dict):
        lines = [f"{_compact(key)}:{_compact(value)}" for key, value in sorted(section.items())]
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(section, list):
        return "[\n" + ",\n".join(_compact(value) for value in section) + "\n]"
    return _compact(section)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def write(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Write each of `files` (name -> sections) into `folder`."""
    for name, sections in files.items():
        (folder / name).write_text(text_of(sections), encoding="utf-8", newline="\n")
