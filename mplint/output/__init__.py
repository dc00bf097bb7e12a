"""Findings for people and for programs: one module a format."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final, cast

from mplint.analysis import Report
from mplint.output.context import Context

Format = Callable[[Report, Context], str]

FOR_PEOPLE: Final = frozenset({"full", "concise", "grouped"})
"""The formats in which words for the reader stand behind the findings; programs read all the others."""
COUNTED: Final = (*sorted(FOR_PEOPLE), "json")
"""The formats that `--statistics` has."""


def findings(form: str) -> Format:
    """How a format, one of `settings.OUTPUT_FORMATS`, shows findings; only its own module is loaded."""
    module = importlib.import_module(f"{__name__}.{form.replace('-', '_')}")
    return cast(Format, module.render)


def counts(form: str) -> Format:
    """How it counts them."""
    from mplint.output import statistics

    return statistics.render if form in FOR_PEOPLE else statistics.render_json
