"""What a project had when it began to use mplint: known, and left for later."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mplint.analysis import Report
from mplint.errors import MplintError
from mplint.findings import Finding
from mplint.fingerprints import relative
from mplint.project.modules import Project
from mplint.settings import UNREADABLE
from mplint.source.write import write_new

_VERSION: Final = 1


@dataclass(frozen=True)
class Baseline:
    """The findings that a file holds: for each fingerprint the file that it is of, from the root."""

    file: Path
    known: Mapping[str, str]

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """The baseline in `file`, as `write` wrote it. Raises MplintError where it is none."""
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise MplintError(f"{file}: there is no such baseline; --write-baseline {file} makes one") from None
        except (OSError, UnicodeDecodeError) as error:
            raise MplintError(f"{file}: the baseline cannot be read ({error})") from None
        try:
            content = json.loads(text)
            if content["version"] != _VERSION:
                raise MplintError(
                    f"{file}: is a baseline of version {content['version']}; this mplint reads {_VERSION}"
                )
            return cls(file, {entry["fingerprint"]: entry["path"] for entry in content["findings"]})
        except (ValueError, TypeError, KeyError, RecursionError):
            raise MplintError(f"{file}: is no baseline; --write-baseline {file} writes one") from None

    def leave_out(self, report: Report, project: Project, targets: Collection[Path]) -> Report:
        """The report without what is known, and a note on what of the baseline is gone from the files `targets`."""
        new = tuple(one for one in report.findings if one.fingerprint not in self.known or _is_told(one))
        left_out = len(report.findings) - len(new)
        looked_at = {relative(path, project.root) for path in targets}
        found = {finding.fingerprint for finding in report.findings}
        gone = sum(path in looked_at for mark, path in self.known.items() if mark not in found)
        notes = list(report.notes)
        if left_out:
            notes.append(f"{_counted(left_out, 'finding')} of the baseline {self.file.name} left out")
        if gone:
            are_gone = "is gone" if gone == 1 else "are gone"
            notes.append(f"{_counted(gone, 'finding')} of the baseline {are_gone}: --write-baseline writes it anew")
        return replace(report, findings=new, notes=tuple(notes), hidden=report.hidden + left_out)


def write(file: Path, report: Report, project: Project) -> int:
    """Make `file` the baseline that holds all findings of the report; how many these are."""
    found = _entries(report, project)
    write_new(file, _as_text(found).encode())
    return len(found)


def text(report: Report, project: Project) -> str | None:
    """What a baseline of the report holds; None where there is nothing to put in it."""
    found = _entries(report, project)
    return _as_text(found) if found else None


def _entries(report: Report, project: Project) -> list[dict[str, str]]:
    """In the order of paths and rules, so that changes of it read well in a review."""
    entries = sorted(
        (relative(finding.path, project.root), finding.code, finding.fingerprint, finding.message)
        for finding in report.findings
        if not _is_told(finding)
    )
    return [
        {"path": path, "code": code, "fingerprint": mark, "message": message} for path, code, mark, message in entries
    ]


def _as_text(found: list[dict[str, str]]) -> str:
    return json.dumps({"version": _VERSION, "findings": found}, indent=2) + "\n"


def _is_told(finding: Finding) -> bool:
    """Whether it is told whatever is known: a file that cannot be read must never pass in silence."""
    return finding.code == UNREADABLE


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
