"""What a rule reports: the one vocabulary of everything behind the interpreter."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path


class Severity(enum.IntEnum):
    """How bad a fault is; ordered, so that `--fail-on` is a comparison."""

    ADVICE = 1
    """Speed or style."""
    WARNING = 2
    """Will bite under some data."""
    ERROR = 3
    """Wrong results, a crash, or no learning."""

    def __str__(self) -> str:
        return self.name.lower()


class Applicability(enum.Enum):
    """Who may apply a fix."""

    SAFE = "safe"
    """Applied by `--fix`."""
    UNSAFE = "unsafe"
    """Applied with `--unsafe-fixes`.

    It changes architecture, saved state, a float32 result, or switches half precision on.
    """
    DISPLAY = "display-only"
    """Shown, never applied."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, order=True)
class Span:
    """A half-open range of character offsets in `SourceFile.text` (decoded, newlines untouched)."""

    start: int
    end: int


@dataclass(frozen=True, order=True)
class Edit:
    """Replace `span` of the file `path` by `content`; an empty span inserts."""

    path: Path
    span: Span
    content: str


@dataclass(frozen=True)
class Fix:
    """Edits that mend one finding; all of them are applied or none."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Finding:
    """One fault at one place.

    `statement` spans the whole logical statement around `span`: a suppression on any of its lines counts.
    `policy` names the dtype policy of the world in which the fault was seen, `keras` the generation ("2", "3", or None
    where it is both), and `trace` is the way that brings the policy here, one readable step an entry: `file:row`, what
    is done there (calls, sets, imports), and the unknown condition under which it is. `condition` says where the policy
    is set and under which such condition, where there is one. `steps` are the places of `trace`.
    `fingerprint` stays the same while the file around the fault changes.
    """

    code: str
    name: str
    severity: Severity
    message: str
    path: Path
    span: Span
    statement: Span
    fix: Fix | None = None
    policy: str | None = None
    keras: str | None = None
    trace: tuple[str, ...] = ()
    condition: str | None = None
    steps: tuple[tuple[Path, Span], ...] = ()
    fingerprint: str = ""
