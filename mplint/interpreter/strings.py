"""Texts: their methods, and the formatting of values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, sequences, versions
from mplint.interpreter.concrete import MAX_TEXT, abstract, concrete
from mplint.interpreter.folding import NotKnown
from mplint.interpreter.keras import losses
from mplint.interpreter.values import UNKNOWN, Const, Place, Symbol, Unknown, Value, derived

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_METHODS: Final = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition",
     "startswith", "endswith", "replace", "removeprefix", "removesuffix", "title", "capitalize", "casefold", "swapcase",
     "isdigit", "isalpha", "isalnum", "isidentifier", "islower", "isupper", "isspace", "isnumeric", "count", "find",
     "rfind", "index"}
)  # fmt: skip
_PADDED: Final = frozenset({"zfill", "center", "ljust", "rjust"})
_MAX_PATTERN: Final = 200
_LONG: Final = re.compile(r"\d{4}")


def method(m: Machine, text: str, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a text."""
    if name == "join" and arguments.args:
        parts = sequences.iterate(m, arguments.args[0], place, whole=True)
        if versions.varies(m, parts):
            return versions.apply(m, text.join, (parts,), place, "join")
        words = [item.value for item in parts.items if isinstance(item, Const) and isinstance(item.value, str)]
        if parts.rest is not None or len(words) != len(parts.items):
            return UNKNOWN
        return abstract(m, text.join(words), place)
    unknown = derived(f"str.{name}", Const(text), *arguments.args)
    if not arguments.sure:
        return unknown
    try:
        given = [concrete(m, value) for value in arguments.args]
        named = {key: concrete(m, value) for key, value in arguments.keywords}
    except NotKnown:
        if name == "format":
            losses.written(m, (Const(text), *arguments.values()), place, "str.format")
        return _likely(m, text, name, arguments, place, unknown)
    if name == "format":
        return formatted(m, text, given, named, place)
    if name in _PADDED and not (given and isinstance(given[0], int) and given[0] < _MAX_PATTERN):
        return unknown
    if name not in _METHODS and name not in _PADDED:
        return unknown
    try:
        return abstract(m, getattr(text, name)(*given, **named), place)
    except Exception:  # noqa: BLE001  (the program's own error)
        return UNKNOWN


def _likely(m: Machine, text: str, name: str, arguments: Arguments, place: Place, unknown: Value) -> Value:
    """A method of a text that was given an unknown, with what it gives for each of its candidates."""
    for position, source in enumerate(arguments.args):
        if isinstance(source, Unknown) and source.candidates:
            before, behind = arguments.args[:position], arguments.args[position + 1 :]

            def run(value: Value, before: tuple[Value, ...] = before, behind: tuple[Value, ...] = behind) -> Value:
                return method(m, text, name, replace(arguments, args=(*before, value, *behind)), place)

            return candidates.through(source, unknown, run)
    return unknown


def formatted(m: Machine, text: str, given: list[object], named: dict[str, object], place: Place) -> Value:
    """`text.format(…)`; neither very wide, nor reaching into what is formatted."""
    if len(text) > _MAX_PATTERN or _LONG.search(text) or re.search(r"\{[^}:]*[.\[]", text) or "{}}" in text:
        return UNKNOWN
    if re.search(r":[^}]*\{", text):
        return UNKNOWN
    try:
        return abstract(m, text.format(*given, **named), place)
    except Exception:  # noqa: BLE001  (the program's own error)
        return UNKNOWN


def written(value: object, conversion: str | None, pattern: str) -> str | None:
    """What `{value!conversion:pattern}` in an f-string gives; None where that is not known."""
    if len(pattern) > _MAX_PATTERN or _LONG.search(pattern):
        return None
    if isinstance(value, frozenset):  # in an order that is not known, and perhaps a set
        return None
    if conversion is not None:
        value = repr(value) if conversion == "r" else ascii(value) if conversion == "a" else str(value)
    try:
        text = format(value, pattern)
    except (TypeError, ValueError):
        return None
    return text if len(text) <= MAX_TEXT else None


def beginning(value: Unknown) -> str:
    """How a text begins of which not all is known: `models.` for `f"models.{name}"`."""
    return _beginning(value.symbol)[0] if value.symbol is not None else ""


def _beginning(part: object) -> tuple[str, bool]:
    """How a text begins, and whether it ends there, too."""
    match part:
        case Const(value=str(text)):
            return text, True
        case Symbol(parts=("text" | "Add", left, right)):
            text, whole = _beginning(left)
            more, ends = _beginning(right) if whole else ("", False)
            return text + more, whole and ends
        case Symbol(parts=("Modulo", Const(value=str(text)), *_)):
            return text.partition("%")[0], False
        case Symbol(parts=("str.format", Const(value=str(text)), *_)):
            return text.partition("{")[0], False
        case _:
            return "", False
