"""Running functions and loops: how each has been left so far, and what stops a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from mplint.interpreter.frames import Frame
from mplint.interpreter.state import State
from mplint.interpreter.values import Instance, Symbol, Value

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

MAX_DEPTH: Final = 40
"""Calls deeper than this are not entered."""
MAX_RECURSIVE_STEPS: Final = 10_000
"""Expressions evaluated for the recursive calls of one function in one run, beside its outermost calls."""


class Split(Exception):
    """The run depends on an unknown condition in a way that matters: run it again once for each of its outcomes."""

    def __init__(self, symbol: Symbol) -> None:
        super().__init__(symbol)
        self.symbol = symbol


class OutOfBudget(Exception):
    """The run took more steps than an entry point may take."""


class Patience(NamedTuple):
    """When a run is given up that comes to nothing: after so many steps it is asked, `until` which one it may go on."""

    steps: int
    until: Callable[[Machine], int]


class PolicyMatters(Exception):
    """A module that is being put on the shelf for all policies asks for the policy, or sets it."""


class Loop:
    """The states in which a loop that is being executed was left early."""

    __slots__ = ("breaks", "continues", "left")

    def __init__(self) -> None:
        self.breaks: list[State] = []
        self.continues: list[State] = []
        self.left = True  # whether control reaches what stands behind it


class Exit(NamedTuple):
    """A way in which a function was left: the state, and what it gives."""

    state: State
    value: Value
    path: tuple[Symbol, ...]
    """The conditions of the branches in which it was left."""
    known: dict[Symbol, bool]
    """What is known of conditions there, and was not known at the call."""


class Activation:
    """One running function: the ways in which it has been left so far."""

    __slots__ = (
        "arguments",
        "began",
        "decided",
        "exits",
        "frame",
        "idled",
        "in_call",
        "interest",
        "loops",
        "loose",
        "on_yield",
        "path",
        "steps",
        "yields",
    )

    def __init__(self, frame: Frame, in_call: Instance | None = None, arguments: Arguments | None = None) -> None:
        self.frame = frame
        self.arguments = arguments
        self.began = self.steps = 0  # the machine's clock, and its steps, at the call
        self.interest = 0  # what the trace had of interest at the call
        self.idled = 0  # the steps of calls in it that came to nothing of interest, where they were many
        self.decided = 0  # how many conditions were known at the call
        self.exits: list[Exit] = []
        self.loops: list[Loop] = []
        self.path: list[Symbol] = []
        self.yields: list[Value] = []
        self.loose = False  # some yield may not happen, or happen often
        self.on_yield: Callable[[Value], object] | None = None
        self.in_call = in_call  # the layer whose `call` this is
