"""Tuners: what a trial is told to choose from says which values it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import choices
from mplint.interpreter.values import FALSE, TRUE, Const, Place, Symbol, Unknown, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_CHOOSERS: Final = {"suggest_categorical": "choices", "Choice": "values", "Boolean": ""}
"""Methods of a trial of Optuna, or of the hyperparameters of KerasTuner, and how they call what can be chosen."""


def chosen(m: Machine, callee: Value, arguments: Arguments, place: Place) -> Value | None:
    """`trial.suggest_categorical("policy", [...])`; None of any other call.

    What was chosen under a name is so wherever it is asked for again.
    """
    match callee:
        case Unknown(symbol=Symbol(parts=("attribute", Symbol() as trial, str(method)))) if method in _CHOOSERS:
            pass
        case _:
            return None
    name = arguments.get("name", 0)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return None
    symbol = Symbol("chosen", trial, name)
    if method == "Boolean":
        return candidates.switch(symbol)
    listed = choices.listed(m, arguments.get(_CHOOSERS[method], 1), place)
    if listed is None or not listed.items:
        return None
    if listed.rest is None and set(listed.items) == {TRUE, FALSE}:
        return candidates.switch(symbol)
    return candidates.likely(symbol, listed.items, closed=listed.rest is None)
