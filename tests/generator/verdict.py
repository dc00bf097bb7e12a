"""What comes of judging: figures, and what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.generator.program import Program


@dataclass(frozen=True)
class Disagreement:
    """Something that mplint has wrong (or the judge)."""

    program: Program
    kind: str
    """dtype, outputs, finding, numbers, rewrite, training; failure and crash are mplint's own."""
    text: str

    @classmethod
    def crash(cls, program: Program, error: Exception) -> Disagreement:
        """Mplint raised."""
        return cls(program, "crash", f"{type(error).__name__}: {error}")


@dataclass
class Tally:
    """What a batch of programs came to."""

    programs: int = 0
    discarded: Counter[str] = field(default_factory=Counter)
    """Programs that raise in real Keras, by the exception."""
    half: int = 0
    """Programs with an end that is half, or whose softmax was."""
    outputs: int = 0
    unknown: int = 0
    unknown_in: list[str] = field(default_factory=list)
    """The programs with an output that mplint does not know."""
    uncalled: int = 0
    """Models that raise when they are called."""
    rewritten: int = 0
    """Programs that --fix changes."""
    trained: int = 0
    """Of these, the ones that were run and trained."""
    subjects: Counter[str] = field(default_factory=Counter)
    """What the models about numbers are about."""
    symptoms: Counter[str] = field(default_factory=Counter)
    """What shows in half precision and not in float32, by the number of programs."""
