"""The last words of a run: how much was found, how much of it can be mended and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mplint.analysis import Report
from mplint.findings import Applicability, Finding, Severity
from mplint.output.context import Context


def found(report: Report, context: Context, fixed: int = 0, *, complete: bool = True) -> str:
    """Say `Found 5 (3 fixable with --fix, 1 more with --unsafe-fixes).`."""
    total = len(report.findings) + fixed
    if not total:
        return "All checks passed." if complete else "Nothing found, but not everything could be checked."
    parts = [f"{fixed} fixed, {len(report.findings)} left"] if fixed else []
    advice = sum(finding.severity is Severity.ADVICE for finding in report.findings)
    if advice:
        parts.append("advice" if advice == total else f"{advice} of them advice")
    levels = Counter(finding.fix.applicability for finding in report.findings if finding.fix)
    safe, unsafe = levels[Applicability.SAFE], levels[Applicability.UNSAFE]
    if context.unsafe and unsafe:
        parts.append(f"{safe + unsafe} fixable with --fix --unsafe-fixes")
    else:
        if safe:
            parts.append(f"{safe} fixable with --fix")
        if unsafe:
            parts.append(f"{unsafe} {'more ' if safe else 'fixable '}with --unsafe-fixes")
    return f"Found {total} ({', '.join(parts)})." if parts else f"Found {total}."


def mended(count: int, *, only_shown: bool = False) -> str:
    """The same for a run that says nothing of what is left."""
    if not count:
        return "Nothing to fix."
    return f"Would fix {count}." if only_shown else f"Fixed {count}."


def fixes(applied: Sequence[Finding], context: Context) -> str:
    """What was mended, by file and rule."""
    lines = [f"Fixed {len(applied)}:"]
    for path in sorted({finding.path for finding in applied}):
        lines.append(f"- {context.name(path)}:")
        lines += _rules(finding for finding in applied if finding.path == path)
    return "\n".join(lines) + "\n"


def _rules(applied: Iterable[Finding]) -> list[str]:
    counts = Counter((finding.code, finding.name) for finding in applied)
    return [f"    {count} x {code} ({name})" for (code, name), count in sorted(counts.items())]
