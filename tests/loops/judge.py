"""What mplint says of training loops against what real Keras makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mplint.analysis import analyze
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings
from tests.generator.process import Worker
from tests.loops.writing import Loop

_REPOSITORY: Final = Path(__file__).resolve().parent.parent.parent
_FILE: Final = Path("/program/main.py")
LIKE: Final = 0.25
"""Two runs are alike whose weights move to places no further apart than this share of the way."""
SHOWN: Final = 8.0
"""A loss is reported wrong where it is so many times the right one."""


@dataclass(frozen=True)
class Trained:
    """What came of a program: how far each weight moved, what was logged, what was raised."""

    moved: Sequence[float]
    history: Sequence[float]
    error: str | None
    score: float | None = None
    """The accuracy that the program measures at its end, if it does."""

    @property
    def way(self) -> float:
        """How far the weights have moved."""
        return math.sqrt(sum(each * each for each in self.moved))

    def distance(self, other: Trained) -> float:
        """How far the weights are from where `other` ended, in units of the way that it went; inf where it failed."""
        if self.error is not None or not all(map(math.isfinite, self.moved)):
            return math.inf
        apart = math.sqrt(sum((one - two) ** 2 for one, two in zip(self.moved, other.moved, strict=True)))
        return apart / other.way

    def reports_as(self, other: Trained) -> bool:
        """Whether the first loss that was logged is about that of `other`."""
        return abs(self.history[0]) <= SHOWN * abs(other.history[0])


class Keras(Worker):
    """One generation of Keras, which trains one program after the other."""

    def __init__(self, generation: str) -> None:
        super().__init__("tests.loops.real", generation)

    def train(self, source: str, policy: str = "mixed_float16") -> Trained:
        """Run a program, under its own policy or under float32."""
        self.send({"source": source, "policy": policy})
        found = self.answer()
        return Trained(found.get("moved", ()), found.get("history", ()), found["error"], found.get("score"))


def codes(generation: str, text: str) -> list[str]:
    """What mplint finds in a program."""
    report = analyze(*_asked(generation, text))
    assert not report.failures, report.failures
    return [finding.code for finding in report.findings]


def fix_text(generation: str, text: str) -> str:
    """What `--fix --unsafe-fixes` makes of it."""
    return fix(*_asked(generation, text), unsafe=True).project.source(_FILE).text


def _asked(generation: str, text: str) -> tuple[Project, list[Path], Settings]:
    settings = Settings(keras="2" if generation == "2" else "3")
    return Project(_FILE.parent, [_FILE], {_FILE: text.encode()}), [_FILE], settings


def disagreements(loop: Loop, keras: Keras) -> list[str]:
    """Where mplint and Keras differ about a loop."""
    wrong = []
    said = codes(loop.generation, loop.source)
    if loop.fault is None and said:
        wrong.append(f"{said} is said of what is right")
    if loop.fault is not None and set(said) != {loop.fault}:
        wrong.append(f"{said} is said, and it has {loop.fault}")
    right = keras.train(loop.right, "float32")
    if right.error is not None:
        return [*wrong, f"the right one raises {right.error}"]
    mixed = keras.train(loop.right)
    if mixed.distance(right) > LIKE:
        wrong.append(f"the right one does not train as in float32: {mixed.error or mixed.distance(right)}")
    if loop.fault is None:
        return wrong
    faulty = keras.train(loop.source)
    shows = faulty.distance(right) > LIKE or not faulty.reports_as(right)
    if not shows:
        wrong.append(f"{loop.fault} does not show: {faulty.distance(right)}")
    text = fix_text(loop.generation, loop.source)
    healed = keras.train(text)
    if healed.distance(right) > LIKE or not healed.reports_as(right):
        why = healed.error or healed.distance(right)
        wrong.append(f"the rewritten one does not train as the right one: {why}\n{text}")
    if left := codes(loop.generation, text):
        wrong.append(f"{left} is left\n{text}")
    return wrong
