"""Which of the comments that silence findings silence any."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mplint.source.suppressions import Suppression, Suppressions

_OURS = re.compile(r"MP[0-9]+")


@dataclass(frozen=True)
class Unused:
    """A comment that silences nothing, or some of whose codes do not."""

    comment: Suppression
    codes: tuple[str, ...]
    """Those, as they are written; none where the comment names none."""
    unknown: tuple[str, ...]
    """Those among them that are no rule's."""


class Silence:
    """The suppressing comments of a file, and what each of them has silenced."""

    def __init__(self, suppressions: Suppressions) -> None:
        self._suppressions = suppressions
        self._silenced: dict[Suppression, set[str]] = defaultdict(set)

    def silences(self, code: str, first_row: int, last_row: int) -> bool:
        """Whether a finding with this code, on these rows (1-based, inclusive), is silenced; each comment is noted."""
        found = self._suppressions.silencing(code, first_row, last_row)
        for comment in found:
            self._silenced[comment].add(code)
        return bool(found)

    def unused(self, code: str, selected: Collection[str], known: Collection[str]) -> Iterator[Unused]:
        """What has silenced nothing, as the rule `code` reports it, where only the rules `selected` of all `known` ran.

        A code is left alone where a rule that it stands for did not run; so are `noqa` and `ignore-file` without codes,
        the codes of other linters behind `noqa`, and what silences this very report.
        """
        comments = self._suppressions.comments
        for comment in sorted((*comments, *self._suppressions.for_file), key=lambda one: one.span):
            others = [one for one in self._suppressions.silencing(code, comment.row, comment.row) if one is not comment]
            if others or (comment.codes is not None and comment.names(code)):
                continue
            if comment.codes is None:
                if comment.own and comment in comments and not self._silenced[comment] and set(known) <= set(selected):
                    yield Unused(comment, (), ())
                continue
            gone = [
                named
                for named in dict.fromkeys(comment.codes)
                if (comment.own or _OURS.fullmatch(named))
                and all(rule in selected for rule in known if rule.startswith(named))
                and not any(silenced.startswith(named) for silenced in self._silenced[comment])
            ]
            if gone:
                unknown = (named for named in gone if not any(rule.startswith(named) for rule in known))
                yield Unused(comment, tuple(gone), tuple(unknown))
