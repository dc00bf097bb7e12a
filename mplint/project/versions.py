"""Version ranges, as far as one question goes: do they lie wholly below or wholly above a version?"""

from __future__ import annotations

import re
from dataclasses import dataclass

Release = tuple[int, ...]

_CLAUSE = re.compile(r"(~=|===?|!=|<=|>=|<|>|\^|~|=)?\s*v?(\d+(?:\.\d+)*)(\.\*)?[^\s,)]*")


@dataclass(frozen=True)
class Range:
    """Versions from `lower` (inclusive) to `upper`; None where it is open."""

    lower: Release | None = None
    upper: Release | None = None
    upper_included: bool = False

    def is_below(self, boundary: Release) -> bool:
        """Whether every version in the range is smaller than `boundary`."""
        if self.upper is None:
            return False
        return _padded(self.upper) < _padded(boundary) or (
            _padded(self.upper) == _padded(boundary) and not self.upper_included
        )

    def is_from(self, boundary: Release) -> bool:
        """Whether every version in the range is `boundary` or greater."""
        return self.lower is not None and _padded(self.lower) >= _padded(boundary)

    def __and__(self, other: Range) -> Range:
        lower = max((one for one in (self.lower, other.lower) if one is not None), key=_padded, default=None)
        uppers = [one for one in (self, other) if one.upper is not None]
        tightest = min(uppers, key=lambda one: (_padded(one.upper or ()), one.upper_included), default=None)
        if tightest is None:
            return Range(lower)
        return Range(lower, tightest.upper, tightest.upper_included)

    def __or__(self, other: Range) -> Range:
        lower = None
        if self.lower is not None and other.lower is not None:
            lower = min(self.lower, other.lower, key=_padded)
        if self.upper is None or other.upper is None:
            return Range(lower)
        widest = max(self, other, key=lambda one: (_padded(one.upper or ()), one.upper_included))
        return Range(lower, widest.upper, widest.upper_included)


def parse_range(specifier: str, *, bare: str = "==") -> Range:
    """The range of a specifier: PEP 440 (`>=2.13,<2.16`, `~=2.15`), Poetry (`^2.15`) or conda (`=2.15`, `2.15|2.16`).

    `bare` is the operator of a version without one. What is not understood leaves the range open.
    """
    found: Range | None = None
    for alternative in re.split(r"\|\|?", specifier):
        whole = Range()
        for operator, version, star in _CLAUSE.findall(alternative):
            whole &= _clause(operator or bare, tuple(int(part) for part in version.split(".")), bool(star))
        found = whole if found is None else found | whole
    return found or Range()


def _clause(operator: str, version: Release, star: bool) -> Range:
    if operator in ("==", "===") and not star:
        return Range(version, version, upper_included=True)
    if operator in ("==", "===", "="):
        return Range(version, _next(version, len(version)))
    if operator == "~=":
        return Range(version, _next(version, max(len(version) - 1, 1)))
    if operator == "~":
        return Range(version, _next(version, min(len(version), 2)))
    if operator == "^":
        significant = next((at for at, part in enumerate(version) if part), len(version) - 1)
        return Range(version, _next(version, significant + 1))
    if operator == "<":
        return Range(upper=version)
    if operator == "<=":
        return Range(upper=version, upper_included=True)
    if operator in (">=", ">"):
        return Range(lower=version)
    return Range()  # != leaves out single versions


def _next(version: Release, length: int) -> Release:
    """The first version that no longer begins with the first `length` parts."""
    return (*version[: length - 1], version[length - 1] + 1)


def _padded(version: Release) -> Release:
    return (*version, 0, 0, 0, 0, 0)[:6]
