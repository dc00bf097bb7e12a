"""The pipeline: a project and settings in, findings out."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import symtable
import time
import traceback
import warnings
from collections import Counter, defaultdict
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
from mplint.fingerprints import with_fingerprints
from mplint.interpreter.exploration import explore
from mplint.interpreter.program import Program
from mplint.interpreter.reasons import Reason, Reasons, unknown_settings
from mplint.interpreter.trace import Known
from mplint.interpreter.values import Place, Policy
from mplint.interpreter.world import World
from mplint.per_file import PerFile
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import ParseFault, SourceError, SourceFile, Syntax
from mplint.source.silence import Silence
from mplint.source.stack import on_deep_stack
from mplint.wording import Wording

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
    asides: tuple[str, ...] = ()
    """What was not checked, and is of interest to those who ask."""


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
    with without_collector():
        return on_deep_stack(lambda: _Analysis(project, targets, settings).run())


@contextmanager
def without_collector() -> Iterator[None]:
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
        self._program = Program(project)
        self._targets = tuple(dict.fromkeys(targets))
        self._wanted = frozenset(targets)
        self._settings = settings
        self._timing = Timing()
        self._failures: list[Failure] = []
        self._per_file = PerFile(project, settings)
        self._silences: dict[Path, Silence] = {}
        self._reasons = Reasons((), project)
        self._wording = Wording(project.naming)
        self._for_both: dict[tuple[Path, Path], bool] = {}
        self._foreign: dict[Path, str] = {}
        self._elsewhere: Counter[Path] = Counter()
        """How many faults the files cause in others, which are not reported."""

    def run(self) -> Report:
        """Read, interpret, ask the rules, and keep what was asked for."""
        program = self._program
        started = time.process_time()
        found = explore(program, self._wanted, self._per_file.generations, self._per_file.assumed)
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
        kept = with_fingerprints(wanted, self._project)
        notes, asides = tuple(self._notes(found.worlds)), tuple(self._asides(found.worlds))
        return Report(kept, tuple(self._failures), notes, self._timing, len(self._targets), hidden, asides)

    # -- files that are no Python

    def _unreadable(self) -> Iterator[Finding]:
        rule = next(rule for rule, _ in _rules() if isinstance(rule, FileRule))
        started = time.process_time()
        for path in self._targets:
            try:
                source = self._project.source(path)
                yield from (_syntax_error(rule, source, syntax) for syntax in source.faults)
                if source.language is not None:
                    self._foreign[path] = source.language
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

    # -- rules

    def _check(self, worlds: Sequence[World]) -> Iterator[Finding]:
        self._reasons = Reasons(worlds, self._project)
        evidence = Evidence(worlds, self._project, self._settings.output_fix)
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
                    if world.is_test and not self._project.is_test(fault.at.source.path):
                        continue  # a test's policy is its own
                    seen.setdefault((rule.code, fault.at), []).append((world, fault, rule))
        held = {key for key, reports in seen.items() if self._holds(key[1], reports)}
        declined = _declined(held)
        for (code, place), reports in seen.items():
            # a place that several runs see differently has one fault all the same
            finer = any((other, place) in held for other in reports[0][2].gives_way_to)
            counts = (code, place) in held and not finer
            if place.source.path not in self._wanted:
                if counts and self._is_caused(reports) and self._is_reported(code, place):
                    self._elsewhere[place.source.path] += 1
            elif counts:
                yield self._finding(place, reports, evidence, declined.get(code, ()))
            else:  # where the generation is told, it is a finding: a comment that silences it has its use
                self._is_silenced(place.source, code, place.source.statement(place.node))

    def _holds(self, place: Place, reports: list[tuple[World, Fault, Rule]]) -> bool:
        """A fault in one generation only is none where the generation is not known, unless the code asks for it."""
        if self._per_file.generation(place.source.path) is not None:
            return True
        return {world.generation for world, _, _ in reports} == {"2", "3"} or any(
            self._per_file.generation(world.path) is not None or self._is_for_both(place.source.path, world.path)
            for world, _, _ in reports
        )

    def _is_caused(self, reports: list[tuple[World, Fault, Rule]]) -> bool:
        """Whether a fault shows in a program that one of the files starts, or under a policy that one sets."""
        return any(
            world.path in self._wanted
            or (fault.policy is not None and any(place.source.path in self._wanted for place in fault.policy.set_by))
            for world, fault, _ in reports
        )

    def _is_reported(self, code: str, place: Place) -> bool:
        """Whether it would be a finding if its file were named."""
        source = place.source
        if not self._settings.reports(code, source.path):
            return False
        return not self._is_silenced(source, code, source.statement(place.node))

    def _is_for_both(self, path: Path, entry: Path) -> bool:
        """Whether the file, or the program that starts at `entry`, has branches for each generation."""
        key = path, entry
        if key not in self._for_both:
            files = {path, entry, *self._project.closure(path), *self._project.closure(entry)}
            self._for_both[key] = any(map(self._program.is_for_both, files)) and not files & self._program.guesses
        return self._for_both[key]

    def _finding(
        self,
        place: Place,
        reports: list[tuple[World, Fault, Rule]],
        evidence: Evidence,
        declined: Sequence[tuple[Path, Span]],
    ) -> Finding:
        def rank(report: tuple[World, Fault, Rule]) -> tuple[int, bool, int]:
            """The worst first, a policy that is really set before one that is only assumed, the nearest first."""
            world, fault, _ = report
            if fault.policy is None:
                return -fault.severity, False, 0
            return -fault.severity, not fault.policy.set_by, self._reasons.distance(world, fault.policy, place)

        world, fault, rule = min(reports, key=rank)
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
        reason = self._reasons.reason(world, policy, place) if policy is not None else None
        return Finding(
            rule.code,
            rule.name,
            severity,
            fault.says + self._origin(world, policy, reason, source.path, generations),
            source.path,
            source.span(place.node),
            source.statement(place.node),
            fix,
            policy.name if policy is not None else None,
            generations.pop() if len(generations) == 1 else None,
            tuple(self._wording.steps(reason)) if reason is not None else (),
            self._wording.setting(reason) if reason is not None and reason.condition is not None else None,
            tuple((step.place.source.path, step.place.source.span(step.place.node)) for step in reason.steps)
            if reason is not None
            else (),
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

    def _origin(
        self, world: World, policy: Policy | None, reason: Reason | None, at: Path, generations: Collection[str]
    ) -> str:
        """Where the policy comes from, for the end of a message."""
        parts: list[str] = []
        if len(generations) == 1 and all(self._per_file.generation(path) is None for path in (at, world.path)):
            parts.append(f"in Keras {world.generation}")
        if reason is not None:
            parts.append(self._wording.origin(reason))
        elif policy is not None:
            is_assumed = policy.name in self._settings.assumed_policies
            parts.append(f"{policy.name} is assumed" if is_assumed else str(policy.name))
        return f" ({', '.join(parts)})" if parts else ""

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
            not self._settings.assumed_policies
            and not any(world.has_policy for world in worlds)
            and any(self._project.mentions(path, *KERAS) for path in self._targets)
        ):
            unknown = self._unknown(worlds)
            seen = f"the policy that is set at {unknown[0]} is not known" if unknown else "no mixed precision policy"
            yield f"Keras code was seen, but {seen}: --assume-policy mixed_float16 checks it as if one were set"
        if self._elsewhere:
            more = "1 more finding" if self._elsewhere.total() == 1 else f"{self._elsewhere.total()} more findings"
            where = "a file that was" if len(self._elsewhere) == 1 else "files that were"
            yield f"{more} in {where} not named: {self._project.naming.files(sorted(self._elsewhere))}"
        cut = sorted({world.path for world in worlds if world.trace.cut})
        if cut:
            more = f" and {len(cut) - 1} more" if len(cut) > 1 else ""
            yield f"{self._name(cut[0])}{more} does more than can be followed: not everything in it was checked"
        unclear = sorted(
            {
                world.path
                for world in worlds
                if self._per_file.generation(world.path) is None and not self._is_for_both(world.path, world.path)
            }
        )
        if unclear:
            yield (
                f"the generation of Keras is not clear for {self._name(unclear[0])}"
                f"{f' and {len(unclear) - 1} more' if len(unclear) > 1 else ''}: "
                "only what is wrong in both is reported; "
                "--keras 2 or --keras 3 tells it"
            )

    def _asides(self, worlds: Sequence[World]) -> Iterator[str]:
        for path, language in self._foreign.items():
            yield f"{self._name(path)} is a notebook for {language}: nothing in it was checked"
        for place in self._unknown(worlds):
            yield f"the policy that is set at {place} is not known: what depends on it was not checked"

    def _unknown(self, worlds: Sequence[World]) -> list[str]:
        """Where policies are set that nobody knows."""
        return self._wording.rows_of(unknown_settings(worlds))

    def _name(self, path: Path) -> str:
        return self._project.naming.file(path)


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
