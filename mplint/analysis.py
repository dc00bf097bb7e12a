"""The pipeline: a project and settings in, findings out."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import symtable
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from mplint import rules as rule_package
from mplint.api import CommentRule, Fault, FileRule, Rule
from mplint.codemods.comments import without_unused
from mplint.codemods.rewrite import Evidence
from mplint.findings import Applicability, Finding, Fix, Severity, Span
from mplint.interpreter.exploration import explore
from mplint.interpreter.program import Program
from mplint.interpreter.trace import Known
from mplint.interpreter.values import Place, Policy
from mplint.interpreter.world import World
from mplint.project.generation import generation_of
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import ParseFault, SourceError, SourceFile, Syntax
from mplint.source.silence import Silence
from mplint.source.stack import on_deep_stack

KERAS = (b"keras", b"tensorflow")
_COMMENTS = (b"noqa", b"NOQA", b"mplint")


@dataclass(frozen=True)
class Failure:
    """mplint's own failure while it looked at `path`; the rest was still checked."""

    path: Path
    text: str


@dataclass(frozen=True)
class Share:
    """Of so many places in the source, how many were known; one that was known half the times counts a half."""

    known: float = 0.0
    places: int = 0

    @classmethod
    def of(cls, counts: Iterable[Known]) -> Share:
        """The share over several runs."""
        places: dict[Place, tuple[int, int]] = {}
        for count in counts:
            for place, (known, unknown) in count.places.items():
                before = places.get(place, (0, 0))
                places[place] = (before[0] + known, before[1] + unknown)
        return cls(sum(known / (known + unknown) for known, unknown in places.values()), len(places))


@dataclass
class Timing:
    """Where the time went (CPU seconds by phase) and how much of the reached code was known."""

    phases: dict[str, float] = field(default_factory=dict)
    layers: Share = Share()
    """Constructions of layers, by whether the dtype policy is known."""
    tensors: Share = Share()
    """Operations and calls of layers, by whether the dtype of the result is known."""

    @property
    def known(self) -> float | None:
        """The share of layers and tensors in reached code whose dtype is known; None when there are none."""
        places = self.layers.places + self.tensors.places
        return (self.layers.known + self.tensors.known) / places if places else None


@dataclass(frozen=True)
class Report:
    """What a run found in the files it was asked about."""

    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    timing: Timing = field(default_factory=Timing)
    files: int = 0
    hidden: int = 0
    """Findings in these files that suppressions or the selection of rules keep out."""


@dataclass(frozen=True)
class RuleInfo:
    """A rule as documentation and configuration see it."""

    code: str
    name: str
    severity: Severity
    summary: str
    documentation: str
    fixes: tuple[Applicability, ...]


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[Rule, str], ...]:
    """Every rule in the package `mplint.rules`, with the docstring of its module."""
    found: list[tuple[Rule, str]] = []
    for module_info in pkgutil.iter_modules(rule_package.__path__):
        module = importlib.import_module(f"{rule_package.__name__}.{module_info.name}")
        found.extend(
            (value(), module.__doc__ or "")
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__
        )
    return tuple(sorted(found, key=lambda pair: pair[0].code))


def rules() -> tuple[RuleInfo, ...]:
    """All rules, by code."""
    return tuple(
        RuleInfo(rule.code, rule.name, rule.severity, page.strip().partition("\n")[0].rstrip("."), page, rule.fixes)
        for rule, page in _rules()
    )


def analyze(project: Project, targets: Sequence[Path], settings: Settings) -> Report:
    """Check the files `targets` with the facts of the whole project.

    Deep programs need a deep stack: everything runs on one of its own.
    """
    with _without_collector():
        return on_deep_stack(lambda: _Analysis(project, targets, settings).run())


@contextmanager
def _without_collector() -> Iterator[None]:
    """Nearly all that a run makes lives until its end: looking for garbage in between costs a quarter of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Analysis:
    """One run."""

    def __init__(self, project: Project, targets: Sequence[Path], settings: Settings) -> None:
        self._project = project
        self._targets = tuple(dict.fromkeys(targets))
        self._wanted = frozenset(targets)
        self._settings = settings
        self._timing = Timing()
        self._failures: list[Failure] = []
        self._generations: dict[Path, str | None] = {}
        self._silences: dict[Path, Silence] = {}

    def run(self) -> Report:
        """Read, interpret, ask the rules, and keep what was asked for."""
        program = Program(self._project)
        started = time.process_time()
        found = explore(program, self._wanted, self._generations_of, self._settings.assume_policy)
        self._timing.phases["interpret"] = time.process_time() - started
        self._failures += [_failure(failure.path, failure.error) for failure in found.failures]
        findings = list(self._unreadable())
        started = time.process_time()
        findings += self._check(found.worlds)
        self._timing.phases["rules"] = time.process_time() - started
        self._timing.layers = Share.of(world.trace.layers for world in found.worlds)
        self._timing.tensors = Share.of(world.trace.tensors for world in found.worlds)
        wanted = [finding for finding in findings if self._is_wanted(finding)]
        hidden = len(findings) - len(wanted)
        if not any(world.trace.cut for world in found.worlds):
            wanted += self._unused()
        kept = sorted(wanted, key=lambda finding: (finding.path, finding.span, finding.code))
        notes = tuple(self._notes(found.worlds))
        return Report(tuple(kept), tuple(self._failures), notes, self._timing, len(self._targets), hidden)

    # -- files that are no Python

    def _unreadable(self) -> Iterator[Finding]:
        rule = next(rule for rule, _ in _rules() if isinstance(rule, FileRule))
        started = time.process_time()
        for path in self._targets:
            try:
                source = self._project.source(path)
                yield from (_syntax_error(rule, source, syntax) for syntax in source.faults)
                if source.is_parsed is None:
                    _parse(source)
                elif not source.is_parsed:
                    source.module  # noqa: B018 - raises the fault
            except ParseFault as fault:
                yield _syntax_error(rule, source, fault.syntax)
            except SourceError as error:
                span = Span(0, 0)
                yield Finding(rule.code, rule.name, rule.severity, error.problem, path, span, span)
        self._timing.phases["parse"] = time.process_time() - started

    # -- the generation

    def _generations_of(self, path: Path) -> tuple[str, ...]:
        """The generations that a program starting at `path` may run in."""
        found = self._generation(path)
        return (found,) if found is not None else ("2", "3")

    def _generation(self, path: Path) -> str | None:
        if path not in self._generations:
            evidence = generation_of(self._project, path, self._settings.keras)
            self._generations[path] = evidence.generation
        return self._generations[path]

    # -- rules

    def _check(self, worlds: Sequence[World]) -> Iterator[Finding]:
        evidence = Evidence(worlds, self._settings.output_fix, self._mentioned, self._name)
        seen: dict[tuple[str, Place], list[tuple[World, Fault, Rule]]] = {}
        for rule, _ in _rules():
            if not self._settings.selects(rule.code):
                continue
            for world in worlds:
                try:
                    faults = list(rule.check(world))
                except Exception as error:  # noqa: BLE001  (a rule's own defect must not hide what the others find)
                    self._failures.append(_failure(world.path, error))
                    continue
                for fault in faults:
                    seen.setdefault((rule.code, fault.at), []).append((world, fault, rule))
        held = {key for key, reports in seen.items() if self._holds(key[1], reports)}
        declined = _declined(held)
        for (code, place), reports in seen.items():
            if place.source.path not in self._wanted:
                continue
            # a place that several runs see differently has one fault all the same
            finer = any((other, place) in held for other in reports[0][2].gives_way_to)
            if (code, place) in held and not finer:
                yield self._finding(place, reports, evidence, declined.get(code, ()))
            else:  # where the generation is told, it is a finding: a comment that silences it has its use
                self._is_silenced(place.source, code, place.source.statement(place.node))

    def _holds(self, place: Place, reports: list[tuple[World, Fault, Rule]]) -> bool:
        """A fault in one generation only is none where the generation is not known."""
        if self._generation(place.source.path) is not None:
            return True
        return {world.generation for world, _, _ in reports} == {"2", "3"} or any(
            self._generation(world.path) is not None for world, _, _ in reports
        )

    def _finding(
        self,
        place: Place,
        reports: list[tuple[World, Fault, Rule]],
        evidence: Evidence,
        declined: Sequence[tuple[Path, Span]],
    ) -> Finding:
        world, fault, rule = min(reports, key=lambda report: (-report[1].severity, _length(report[0], report[1])))
        generations = {world.generation for world, _, _ in reports}
        severity = fault.severity
        if len(generations) > 1:  # what is true in both, at the lower severity
            severity = min(
                max(report[1].severity for report in reports if report[0].generation == generation)
                for generation in generations
            )
        source = place.source
        fix = self._fix(reports, evidence, declined)
        policy = fault.policy
        return Finding(
            rule.code,
            rule.name,
            severity,
            fault.says + self._origin(policy, evidence),
            source.path,
            source.span(place.node),
            source.statement(place.node),
            fix,
            policy.name if policy is not None else None,
            generations.pop() if len(generations) == 1 else None,
            tuple(_steps(world, policy, evidence)),
        )

    def _fix(
        self,
        reports: list[tuple[World, Fault, Rule]],
        evidence: Evidence,
        declined: Sequence[tuple[Path, Span]],
    ) -> Fix | None:
        """The rewrite that all worlds agree on; shown only where they do not, or it changes what is `declined`."""
        plans: list[Fix | None] = []
        for _, fault, _ in reports:
            if fault.rewrite is not None:
                plan = fault.rewrite.plan(evidence)
                if plan not in plans:
                    plans.append(plan)
        if not plans or plans[0] is None:
            return None
        first = plans[0]
        touched = any(
            edit.path == path and statement.start <= edit.span.start <= statement.end
            for edit in first.edits
            for path, statement in declined
        )
        return replace(first, applicability=Applicability.DISPLAY) if len(plans) > 1 or touched else first

    def _origin(self, policy: Policy | None, evidence: Evidence) -> str:
        """Where the policy comes from, for the end of a message."""
        if policy is None:
            return ""
        if policy.set_by:
            place = policy.set_by[0]
            return f" ({policy.name} is set at {evidence.row_of(place)})"
        if policy.name == self._settings.assume_policy:
            return f" ({policy.name} is assumed)"
        return f" ({policy.name})"

    def _name(self, path: Path) -> str:
        try:
            return str(path.relative_to(self._project.root))
        except ValueError:
            return str(path)

    def _mentioned(self, path: Path, words: re.Pattern[bytes]) -> Iterator[tuple[Path, int]]:
        """The files, among `path` and those that are bound to it by imports, and the rows, that hold such words."""
        for other in sorted({path, *self._project.importers(path), *self._project.closure(path)}):
            data = self._project.code(other)
            for match in words.finditer(data):
                yield other, data.count(b"\n", 0, match.start()) + 1

    # -- what is kept, what is said

    def _is_wanted(self, finding: Finding) -> bool:
        if not self._settings.reports(finding.code, finding.path):
            return False
        try:
            source = self._project.source(finding.path)
        except SourceError:
            return True
        return not self._is_silenced(source, finding.code, finding.statement)

    def _is_silenced(self, source: SourceFile, code: str, statement: Span) -> bool:
        return self._silence(source).silences(code, *_rows(source, statement))

    def _silence(self, source: SourceFile) -> Silence:
        if source.path not in self._silences:
            self._silences[source.path] = Silence(source.suppressions)
        return self._silences[source.path]

    def _unused(self) -> Iterator[Finding]:
        """The comments that have silenced nothing, in files that were looked at to the end."""
        rule = next(rule for rule, _ in _rules() if isinstance(rule, CommentRule))
        known = {other.code for other, _ in _rules()}
        failed = {failure.path for failure in self._failures}
        for path in self._targets:
            if (
                path in failed
                or not self._settings.reports(rule.code, path)
                or not self._project.mentions(path, *_COMMENTS)
            ):
                continue
            try:
                source = self._project.source(path)
            except SourceError:
                continue
            if source.is_parsed is False:
                continue
            selected = {code for code in known if self._settings.reports(code, path)}
            for unused in self._silence(source).unused(rule.code, selected, known):
                span = unused.comment.span
                edit = without_unused(source, unused)
                fix = Fix("Remove what is unused", Applicability.SAFE, (edit,))
                message = rule.check_unused(unused)
                yield Finding(rule.code, rule.name, rule.severity, message, path, span, span, fix)

    def _notes(self, worlds: Sequence[World]) -> Iterator[str]:
        if (
            self._settings.assume_policy is None
            and not any(world.has_policy for world in worlds)
            and any(self._project.mentions(path, *KERAS) for path in self._targets)
        ):
            yield (
                "Keras code was seen, but no mixed precision policy: "
                "--assume-policy mixed_float16 checks it as if one were set"
            )
        cut = sorted({world.path for world in worlds if world.trace.cut})
        if cut:
            more = f" and {len(cut) - 1} more" if len(cut) > 1 else ""
            yield f"{self._name(cut[0])}{more} does more than can be followed: not everything in it was checked"
        unclear = sorted({world.path for world in worlds if self._generation(world.path) is None})
        if unclear:
            yield (
                f"the generation of Keras is not clear for {self._name(unclear[0])}"
                f"{f' and {len(unclear) - 1} more' if len(unclear) > 1 else ''}: "
                "only what is wrong in both is reported; "
                "--keras 2 or --keras 3 tells it"
            )


def _declined(held: Collection[tuple[str, Place]]) -> Mapping[str, list[tuple[Path, Span]]]:
    """The statements in which a comment silences what a rule has found there, by rule."""
    found: dict[str, list[tuple[Path, Span]]] = defaultdict(list)
    for code, place in held:
        statement = place.source.statement(place.node)
        if place.source.suppressions.silencing(code, *_rows(place.source, statement)):
            found[code].append((place.source.path, statement))
    return found


def _rows(source: SourceFile, span: Span) -> tuple[int, int]:
    """The first and the last row of a span."""
    return source.position(span.start)[0], source.position(max(span.start, span.end - 1))[0]


def _failure(path: Path, error: Exception) -> Failure:
    return Failure(path, "".join(traceback.format_exception(error, limit=-8)))


def _syntax_error(rule: FileRule, source: SourceFile, syntax: Syntax) -> Finding:
    at = source.offset(syntax.row, syntax.column)
    span = Span(at, min(at + 1, len(source.text)))
    return Finding(rule.code, rule.name, rule.severity, rule.check_unreadable(syntax), source.path, span, span)


def _parse(source: SourceFile) -> None:
    """Raise ParseFault where the text is no Python of any version that LibCST reads.

    Python's own parser is asked first, which is quicker: for no more than the names of the text, since making the nodes
    of a tree takes longer than to parse it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(source.text, source.path.name, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        source.module  # noqa: B018 - parsing is what matters


def _length(world: World, fault: Fault) -> int:
    """The calls that lead to where the policy is set."""
    return len(world.path_to(fault.policy)) if fault.policy is not None else 0


def _steps(world: World, policy: Policy | None, evidence: Evidence) -> Iterator[str]:
    """The call path that sets the policy, outermost first."""
    if policy is None or not policy.set_by:
        return
    yield from map(evidence.row_of, (*world.path_to(policy), policy.set_by[0]))
