"""Calls that clip gradients, and the numbers that these are held against."""

from __future__ import annotations

from typing import Final

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.expressions import is_closed
from mplint.findings import Edit
from mplint.keras_api.arithmetic import LIMITS
from mplint.source.file import SourceFile

NORM_GIVEN: Final = "use_norm"
"""By which clipping is told the norm of all gradients."""


def limits(call: cst.Call, path: str) -> list[cst.BaseExpression]:
    """The numbers that a call of what the library has at `path` is given to clip to."""
    given = (calls.argument_at(call, name, position) for name, position in LIMITS[path])
    return [arg.value for arg in given if arg is not None]


def times_scale(source: SourceFile, limit: cst.BaseExpression, scale: str) -> Edit:
    """The edit that multiplies such a number with the scale of the gradients."""
    text = layout.code(source, limit)
    if isinstance(limit, (cst.Integer, cst.Float)) and limit.evaluated_value == 1:
        return Edit(source.path, source.span(limit, parentheses=True), scale)
    is_factor = is_closed(limit) or isinstance(limit, cst.UnaryOperation)
    return Edit(source.path, source.span(limit, parentheses=True), f"{text if is_factor else f'({text})'} * {scale}")
