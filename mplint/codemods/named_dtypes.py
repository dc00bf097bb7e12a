"""Another dtype where a call names one."""

from __future__ import annotations

from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names
from mplint.findings import Edit
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api import dtype_name
from mplint.source.file import SourceFile

_POSITIONS: Final = {
    "astype": 0, "array": 1, "asarray": 1, "ascontiguousarray": 1, "ones": 1, "zeros": 1, "empty": 1, "full": 2,
}  # fmt: skip
"""Where the dtype stands among the arguments of what the table does not know."""


def other_dtype(world: World, at: Place, by: str, wanted: str) -> Edit | None:
    """The edit that has the call at `at` name the dtype `wanted`; None where it names none.

    `by` is what it calls, as in the table, where that knows it.
    """
    source, call = at.source, at.node
    if not isinstance(call, cst.Call):
        return None
    if isinstance(call.func, cst.Attribute) and dtype_name(call.func.attr.value) is not None:  # np.float16(x)
        return Edit(source.path, source.span(call.func.attr), wanted)
    found = calls.argument_of(call, by, "dtype", world.generation)
    called = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    last = called.value if isinstance(called, cst.Name) else ""
    if found is None and last in _POSITIONS:
        found = calls.argument_at(call, "dtype", _POSITIONS[last])
    if found is None or found.star:
        return None
    return Edit(source.path, source.span(found.value, parentheses=True), _like(world, source, found.value, wanted))


def _like(world: World, source: SourceFile, written: cst.BaseExpression, wanted: str) -> str:
    """The dtype `wanted`, written as `written` is."""
    match written:
        case cst.SimpleString(quote=quote):
            return f"{quote}{wanted}{quote}"
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if dtype_name(name) is not None:
            return f"{layout.code(source, value)}.{wanted}"
        case _:
            return names.written(world, source, f"tensorflow.{wanted}") or layout.quoted(source, wanted)
