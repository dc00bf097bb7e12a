"""Why a policy holds, in words: for the end of a message, and step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter.reasons import Condition, Reason, Step, function_around
from mplint.interpreter.values import Place, Policy
from mplint.project.naming import Naming

_LONGEST: Final = 48
"""A longer condition is shortened."""
_LONGEST_CALLED: Final = 24


class Wording:
    """Words for reasons."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming

    def row_of(self, place: Place) -> str:
        """The file and the row of a place."""
        return self._naming.row(place.source, place.node)

    def rows_of(self, places: Iterable[Place]) -> list[str]:
        """The files and rows of several places, each row once."""
        return sorted(set(map(self.row_of, places)))

    def origin(self, reason: Reason) -> str:
        """Where the policy is set, under which condition, and how it gets here."""
        text = self.setting(reason)
        match reason.through:
            case None:
                return text
            case Step(place, Path() as imported):
                return f"{text}, reaches here through the import of {self._name(imported)} ({self.row_of(place)})"
            case Step(place, what):
                return f"{text}, reaches here through {self._name(what)} ({self.row_of(place)})"

    def setting(self, reason: Reason) -> str:
        """Where the policy is set, and under which condition."""
        setting = reason.setting
        condition = self._condition(reason.condition, setting.place)
        return f"{self._name(setting.what)} is set at {self.row_of(setting.place)}{condition}"

    def steps(self, reason: Reason) -> Iterator[str]:
        """The whole way, a line a step: where it is done, what, and under which condition."""
        for step in reason.steps:
            done = "sets" if isinstance(step.what, Policy) else "imports" if isinstance(step.what, Path) else "calls"
            condition = self._condition(step.condition, step.place)
            yield f"{self.row_of(step.place)} {done} {self._name(step.what)}{condition}"

    def _name(self, what: Place | Path | Policy) -> str:
        match what:
            case Path():
                return self._naming.file(what)
            case Policy():
                return str(what.name)
            case _:
                return _called(what)

    def _condition(self, condition: Condition | None, of: Place) -> str:
        """A condition, and the row of its test where that is in another function than what depends on it."""
        if condition is None:
            return ""
        elsewhere = function_around(condition.test) is not function_around(of)
        return f" {worded(condition)}" + (f" ({self.row_of(condition.test)})" if elsewhere else "")


def worded(condition: Condition) -> str:
    """A condition as a clause: "under `if args.amp`", "unless `args.amp`", "if `args.policy` says so"."""
    text = _text(condition.test, _LONGEST)
    if condition.chosen:
        return f"if `{text}` says so"
    return f"under `if {text}`" if condition.holds else f"unless `{text}`"


def _called(function: Place) -> str:
    """What to call a function or object that is called: the last name, `Net` of `models.Net(3)(x)`."""
    match function.node:
        case cst.Name(name) | cst.Attribute(attr=cst.Name(name)):
            return name
        case cst.Call(func=func):
            return _called(Place(function.source, func))
        case _:
            return _text(function, _LONGEST_CALLED)


def _text(place: Place, longest: int) -> str:
    """The source of an expression on one line, shortened at the end."""
    span = place.source.span(place.node)
    text = " ".join(place.source.text[span.start : span.end].split())
    if len(text) <= longest:
        return text
    return f"{text[:longest].rpartition(' ')[0] or text[:longest]} …"
