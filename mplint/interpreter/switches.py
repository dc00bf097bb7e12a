"""The flags of a function that nobody was seen to call: parameters that decide on whether half precision is set.

A caller that was not seen may pass them.  By what stands in the function, without running it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter.calls import Arguments
from mplint.interpreter.candidates import switch
from mplint.interpreter.code import FunctionCode, dotted
from mplint.interpreter.setters import Setters
from mplint.interpreter.values import Const, Function, Symbol
from mplint.source.walk import walk

_LEAVES: Final = (cst.Return, cst.Raise)


def flags(function: Function, setters: Setters, path: Path) -> Arguments:
    """What a caller that was not seen may pass to `function`, which stands in the file `path`: flags on or off."""
    code = function.code
    if not isinstance(code.node, cst.FunctionDef) or not setters.may_set(path, code.name):
        return Arguments()
    defaults = dict(function.defaults)
    switches = {
        parameter.name
        for parameter in code.parameters
        if parameter.kind in ("positional", "keyword_only")
        and isinstance(default := defaults.get(parameter.name), Const)
        and isinstance(default.value, bool)
    }
    found = switches & set(_deciding(code, setters)) if switches else set()
    return Arguments((), tuple((name, switch(Symbol("option", code.qualname, name))) for name in sorted(found)))


def _deciding(code: FunctionCode, setters: Setters) -> Iterator[str]:
    """The names on which it depends whether the function sets half precision, as far as its text tells."""
    for node in walk(code.node.body):
        match node:
            case cst.If(test=test, body=body, orelse=orelse):
                branches = [body] if orelse is None else [body, orelse]
                if any(_leaves(branch) or _speaks(branch, setters) for branch in branches):
                    yield from _names(test)
            case cst.IfExp(test=test) if _speaks(node, setters):
                yield from _names(test)
            case cst.Call(func=func, args=args) if setters.sets(dotted(func).rpartition(".")[2]):
                for arg in args:
                    yield from _names(arg.value)
            case _:
                pass


def _leaves(branch: cst.CSTNode) -> bool:
    return any(isinstance(node, _LEAVES) for node in walk(branch))


def _speaks(branch: cst.CSTNode, setters: Setters) -> bool:
    return setters.speaks_in(cst.Module(()).code_for_node(branch))


def _names(node: cst.CSTNode) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, cst.Name):
            yield inner.value
