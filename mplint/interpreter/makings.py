"""What a class of the program is made with: an object that stands for all of them has what these have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from mplint.interpreter.calls import Arguments
from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    Choice,
    Class,
    Const,
    DType,
    Function,
    Symbol,
    Tuple,
    Unknown,
    Value,
    choice,
)

_MOST: Final = 8
"""A class that is made in more ways has nothing in common that is worth to know."""


class Makings:
    """How the classes of the program were called, as far as that was seen."""

    def __init__(self) -> None:
        self._seen: dict[cst.CSTNode, dict[Arguments, None]] = {}

    def note(self, cls: Class, arguments: Arguments) -> None:
        """A program makes an object of `cls`."""
        seen = self._seen.setdefault(cls.code.node, {})
        if len(seen) <= _MOST:
            seen[arguments] = None

    def in_common(self, cls: Class, function: Value | None, but: Iterable[str]) -> tuple[tuple[str, Value], ...]:
        """What the `__init__` of `cls`, `function` or that of the library, is given by all of them, `but` for some.

        Of several numbers and names it is one of them; what has a place of its own in a program is not known, nor is
        what some give and others leave out.
        """
        seen = self._seen.get(cls.code.node, {})
        if not seen or len(seen) > _MOST or not all(arguments.sure for arguments in seen):
            return ()
        defaults = dict(function.defaults) if isinstance(function, Function) else {}
        left = set(but)
        found: list[tuple[str, Value]] = []
        for position, name in _parameters(function, seen):
            given = [arguments.get(name, position) for arguments in seen]
            if name in left or all(value is None for value in given):
                continue
            values = [value if value is not None else defaults.get(name, UNKNOWN) for value in given]
            unseen = Unknown(Symbol("parameter", cls.code.qualname, name))
            found.append((name, choice(values) if all(map(_is_portable, values)) else unseen))
        return tuple(found)


def _parameters(function: Value | None, seen: Iterable[Arguments]) -> Iterable[tuple[int | None, str]]:
    """The parameters behind `self`, each with the position in which it may be given; of `**` what is given."""
    position, named, open_ = -1, set[str](), not isinstance(function, Function)
    for parameter in function.code.parameters if isinstance(function, Function) else ():
        named.add(parameter.name)
        open_ = open_ or parameter.kind == "star_star"
        if parameter.kind == "positional":
            if position >= 0:
                yield position, parameter.name
            position += 1
        elif parameter.kind == "keyword_only":
            yield None, parameter.name
    for name in dict.fromkeys(name for arguments in seen for name, _ in arguments.keywords) if open_ else ():
        if name not in named:
            yield None, name


def _is_portable(value: Value) -> bool:
    """Whether a value means the same in another run of the program."""
    match value:
        case Const() | DType() | Api() | Class():
            return True
        case Tuple(items=items, rest=None):
            return all(map(_is_portable, items))
        case Choice(options=held):
            return all(map(_is_portable, held))
        case _:
            return False
