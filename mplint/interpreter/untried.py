"""Parameters that turn half precision on, off by default, that no call was seen to pass: what a function offers.

By what stands in the functions, without running them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter.code import dotted
from mplint.interpreter.definitions import functions
from mplint.interpreter.program import Program
from mplint.interpreter.setters import Setters
from mplint.source.file import ParseFault, SourceError
from mplint.source.walk import walk

_MAX_HOMES: Final = 4
"""A name that more files define than this says nothing of what is called."""
_DEEPEST: Final = 5
"""Functions that a parameter is handed on through."""


class Untried:
    """The parameters of a project's functions that turn half precision on and that nobody was seen to pass."""

    def __init__(self, program: Program, setters: Setters) -> None:
        self._program = program
        self._setters = setters
        self._named: dict[str, tuple[cst.FunctionDef, ...]] = {}

    def of(self, path: Path, node: cst.FunctionDef) -> frozenset[str]:
        """Those of the function `node`, which stands in the file `path`."""
        if not self._setters.may_set(path, node.name.value):
            return frozenset()
        left = (name for name in _off_by_default(node) if (node, name) not in self._program.passed)
        return frozenset(name for name in left if self._turns_on(node, name, 0))

    def _turns_on(self, function: cst.FunctionDef, name: str, depth: int) -> bool:
        """Whether the parameter guards a setter of half precision in the function, or is handed to one that it does."""
        aliases: dict[str, set[str]] | None = None
        for node in walk(function.body):
            match node:
                case cst.If(test=test, body=body, orelse=orelse) if _speaks_of(test, name):
                    if any(self._sets(branch) for branch in (body, orelse) if branch is not None):
                        return True
                case cst.IfExp(test=test, body=yes, orelse=no) if _speaks_of(test, name):
                    if self._sets(yes) or self._sets(no):
                        return True
                case cst.Call(args=args) if depth < _DEEPEST:
                    for position, arg in enumerate(args):
                        if not isinstance(arg.value, cst.Name) or arg.value.value != name or arg.star:
                            continue
                        aliases = _aliases(function) if aliases is None else aliases
                        keyword = arg.keyword.value if arg.keyword is not None else position
                        if self._is_handed_on(node, aliases, keyword, depth + 1):
                            return True
                case _:
                    pass
        return False

    def _sets(self, branch: cst.CSTNode) -> bool:
        return self._setters.speaks_itself(cst.Module(()).code_for_node(branch))

    def _is_handed_on(self, call: cst.Call, aliases: dict[str, set[str]], given: str | int, depth: int) -> bool:
        """Whether what `call` passes as the keyword or at the position `given` turns half precision on there."""
        called = dotted(call.func).rpartition(".")[2]
        return any(
            self._takes(function, given, depth)
            for name in aliases.get(called, {called})
            for function in self._functions(name)
        )

    def _takes(self, function: cst.FunctionDef, given: str | int, depth: int) -> bool:
        parameters = function.params
        plain = [*parameters.posonly_params, *parameters.params]
        if isinstance(given, int):
            own = plain[1:] if plain and plain[0].name.value in ("self", "cls") else plain
            return given < len(own) and self._turns_on(function, own[given].name.value, depth)
        if any(each.name.value == given for each in (*plain, *parameters.kwonly_params)):
            return self._turns_on(function, given, depth)
        if parameters.star_kwarg is None or depth >= _DEEPEST:
            return False
        more, aliases = parameters.star_kwarg.name.value, _aliases(function)
        return any(
            self._is_handed_on(node, aliases, given, depth + 1)
            for node in walk(function.body)
            if isinstance(node, cst.Call) and any(arg.star == "**" and dotted(arg.value) == more for arg in node.args)
        )

    def _functions(self, name: str) -> Collection[cst.FunctionDef]:
        """The functions, and the constructors of the classes, that are called `name` and may set half precision."""
        if name not in self._named:
            homes = self._setters.homes(name)
            self._named[name] = tuple(
                node
                for path in (homes if len(homes) <= _MAX_HOMES else ())
                for owner, node in self._defined(path)
                if name == _called(owner, node)
            )
        return self._named[name]

    def _defined(self, path: Path) -> Iterator[tuple[cst.ClassDef | None, cst.FunctionDef]]:
        try:
            tree = self._program.source(path).module
        except (SourceError, ParseFault):
            return
        yield from functions(tree)


def _called(owner: cst.ClassDef | None, function: cst.FunctionDef) -> str:
    """By what name a function is called: a constructor by that of its class."""
    name = function.name.value
    return owner.name.value if owner is not None and name == "__init__" else name


def _off_by_default(function: cst.FunctionDef) -> Iterator[str]:
    for parameter in (*function.params.params, *function.params.kwonly_params):
        if isinstance(parameter.default, cst.Name) and parameter.default.value == "False":
            yield parameter.name.value


def _speaks_of(test: cst.CSTNode, name: str) -> bool:
    return any(isinstance(node, cst.Name) and node.value == name for node in walk(test))


def _aliases(function: cst.FunctionDef) -> dict[str, set[str]]:
    """The variables of a function that are other names for functions: what each may stand for."""
    found: dict[str, set[str]] = {}
    for node in walk(function.body):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                called = dotted(value).rpartition(".")[2]
                if called:
                    found.setdefault(name, set()).add(called)
            case _:
                pass
    return found
