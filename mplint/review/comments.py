"""Findings as comments: what is wrong, why it matters, and what to write instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from mplint.analysis import RuleInfo, rules
from mplint.findings import Applicability, Finding, Severity
from mplint.output.changes import changes
from mplint.review.checking import Side
from mplint.review.diff import Diff
from mplint.review.markdown import code, escaped, fenced, flat, folded
from mplint.review.selection import Anchor, Kept, worst_first
from mplint.review.suggestions import Suggestion
from mplint.settings import UNREADABLE

_MOST_LINES: Final = 40
_MOST_LISTED: Final = 20
_LONGEST: Final = 2000
_LONGEST_LISTED: Final = 400
"""Characters of one text: a comment stays below the 65,536 that a forge takes."""


@dataclass(frozen=True)
class Comment:
    """What is said on the rows `first` to `last` of a file, as it is after the change.

    `was` is the file's path before, `last_was` the last row before, each None where it is new. `body` is Markdown,
    without the suggestion; `brief` says the same on one line.
    """

    code: str
    fingerprint: str
    severity: Severity
    path: str
    was: str | None
    first: int
    last: int
    last_was: int | None
    body: str
    brief: str
    suggestion: Suggestion | None = None


class Writer:
    """Makes the comments of one review; `docs` is the address below which the rules' pages are."""

    def __init__(self, head: Side, diff: Diff, offered: Mapping[str, Suggestion], docs: str | None) -> None:
        self._head, self._diff, self._offered, self._docs = head, diff, offered, docs
        self._told: set[str] = set()

    def comments(self, kept: Sequence[Kept]) -> Iterator[Comment]:
        """A comment for each finding that lies in the diff, and for each change that causes others; worst first."""
        caused: dict[Anchor, list[Kept]] = defaultdict(list)
        made: list[Comment] = []
        for one in worst_first(kept):
            if one.anchor is None:
                continue
            if one.anchor.is_cause:
                caused[one.anchor].append(one)
            else:
                made.append(self._of_finding(one, one.anchor))
        in_order = sorted(caused, key=lambda anchor: (anchor.path, anchor.first))  # which their marks depend on
        made += [self._of_cause(anchor, caused[anchor]) for anchor in in_order]
        yield from sorted(made, key=_rank)

    def _of_finding(self, one: Kept, anchor: Anchor) -> Comment:
        finding = one.finding
        offered = self._offered.get(finding.fingerprint)
        is_here = offered is not None and offered.fingerprints[0] == finding.fingerprint
        body = "\n\n".join(self._about(one, offered, is_here=is_here))
        suggestion = offered if is_here else None
        spread = anchor if suggestion is None else Anchor(anchor.path, suggestion.first, suggestion.last)
        brief = next(listed([one], self._docs))
        return self._placed(
            finding.code, finding.fingerprint, finding.severity, spread, body=body, brief=brief, suggestion=suggestion
        )

    def _of_cause(self, anchor: Anchor, group: Sequence[Kept]) -> Comment:
        """One comment for all that a changed line makes wrong where nobody has changed anything."""
        what = "1 finding" if len(group) == 1 else f"{len(group)} findings"
        brief = f"{code(f'{anchor.path}:{anchor.first}')} causes {what} in lines that the change does not touch"
        lines = [f"This change causes {what} in lines that it does not touch:", ""]
        lines += [f"- {line}" for line in listed(group[:_MOST_LISTED], self._docs)]
        if len(group) > _MOST_LISTED:
            lines.append(f"- and {len(group) - _MOST_LISTED} more")
        fixable = sum(
            one.finding.fix is not None and one.finding.fix.applicability is Applicability.SAFE for one in group
        )
        if fixable:
            lines += ["", f"`mplint --fix` mends {'it' if fixable == len(group) == 1 else f'{fixable} of them'}."]
        severity = max(one.finding.severity for one in group)
        mark = self._mark_of(anchor)
        return self._placed("cause", mark, severity, anchor, body="\n".join(lines), brief=brief, suggestion=None)

    def _placed(
        self,
        about: str,
        fingerprint: str,
        severity: Severity,
        at: Anchor,
        *,
        body: str,
        brief: str,
        suggestion: Suggestion | None,
    ) -> Comment:
        file = self._diff.files[at.path]
        hunk = file.hunk_at(at.last, at.last)
        last_was = hunk.rows[at.last] if hunk is not None else None
        return Comment(
            about, fingerprint, severity, at.path, file.was, at.first, at.last, last_was, body, brief, suggestion
        )

    def _mark_of(self, anchor: Anchor) -> str:
        """A fingerprint of the words of a line; of lines with the same words the second one gets another."""
        text = self._line(anchor)
        number = 0
        while True:
            mark = sha256("\0".join(("cause", anchor.path, text, str(number))).encode(errors="surrogatepass"))
            if (found := mark.hexdigest()[:32]) not in self._told:
                self._told.add(found)
                return found
            number += 1

    def _line(self, anchor: Anchor) -> str:
        try:
            lines = (self._head.top / anchor.path).read_bytes().decode(errors="replace").split("\n")
        except OSError:
            return ""
        return " ".join(lines[anchor.first - 1].split()) if anchor.first <= len(lines) else ""

    def _about(self, one: Kept, offered: Suggestion | None, *, is_here: bool) -> Iterator[str]:
        finding = one.finding
        rows = self._head.rows(finding.path, finding.span)
        is_wide = is_here and offered is not None and rows is not None and (offered.first, offered.last) != rows
        yield f"{titled(finding, self._docs)} · {finding.severity}" + (f" · line {rows[0]}" if rows and is_wide else "")
        yield escaped(finding.message[:_LONGEST])
        if not one.is_new:
            yield "It was there before; this change touches its lines."
        if why := _why(finding.code):
            yield f"**Why it matters:** {why}"
        if finding.trace:
            steps = [f"1. {escaped(step[:_LONGEST_LISTED])}" for step in finding.trace[:_MOST_LISTED]]
            yield folded("How the policy gets here", steps)
        if finding.code != UNREADABLE:
            yield f"<sub>To keep it as it is: {code(f'# mplint: ignore[{finding.code}]')}</sub>"
        if finding.fix is not None:
            yield from self._about_fix(finding, offered, is_here=is_here)

    def _about_fix(self, finding: Finding, offered: Suggestion | None, *, is_here: bool) -> Iterator[str]:
        assert finding.fix is not None
        what = escaped(finding.fix.message[:_LONGEST])
        if offered is not None:
            yield f"**Fix:** {what}" if is_here else f"**Fix:** {what}, with the suggestion at line {offered.first}"
            return
        yield f"**Fix:** {what}. {_HOW[finding.fix.applicability]}"
        lines = list(self._change(finding))
        if len(lines) <= _MOST_LINES:
            yield fenced("\n".join(lines), "diff")

    def _change(self, finding: Finding) -> Iterator[str]:
        """The lines that the fix changes, file by file."""
        assert finding.fix is not None
        for path in sorted({edit.path for edit in finding.fix.edits}):
            source = self._head.project.source(path)
            yield f"--- {flat(self._head.path(path))}"
            edits = sorted(edit for edit in finding.fix.edits if edit.path == path)
            yield from (f"{change.sign}{change.text}" for change in changes(source, edits))


_HOW: Final = {
    Applicability.SAFE: "`mplint --fix` does it:",
    Applicability.UNSAFE: "It changes more than the fault, so `mplint --fix --unsafe-fixes` does it when asked to:",
    Applicability.DISPLAY: "mplint does not do it by itself:",
}


def titled(finding: Finding, docs: str | None) -> str:
    """The rule, as a link to its page where that is known."""
    rule = f"[{finding.code}]({docs}/{finding.code}.md)" if docs else finding.code
    return f"**{rule}** {finding.name}"


def listed(group: Sequence[Kept], docs: str | None) -> Iterator[str]:
    """A line for each finding: where it lies, and what it is."""
    for one in group:
        yield f"{code(one.place)} {titled(one.finding, docs)}: {escaped(one.finding.message[:_LONGEST_LISTED])}"


def _rank(comment: Comment) -> tuple[int, bool, str, int, str, str]:
    """The worst first; of these what causes others, then by place."""
    cause = comment.code == "cause"
    return -comment.severity, not cause, comment.path, comment.first, comment.code, comment.fingerprint


@lru_cache(maxsize=256)
def _why(rule: str) -> str:
    """The first paragraph of the rule's page on why it matters, on one line: a forge keeps line breaks."""
    page = next((info.documentation for info in _known() if info.code == rule), "")
    section = page.partition("\nWhy it matters\n")[2].partition("\n")[2]
    return " ".join(section.strip().partition("\n\n")[0].split())


@lru_cache(maxsize=1)
def _known() -> tuple[RuleInfo, ...]:
    return rules()
