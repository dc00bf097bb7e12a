"""The proofs themselves: of a program as it is, beside its original, beside what was predicted; of a set of fixes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from mplint.errors import MplintError
from mplint.interpreter.predict import Start, predict
from mplint.project.modules import Project
from mplint.project.naming import Naming
from mplint.source.notebook import SUFFIX as NOTEBOOK
from mplint.verify import audit
from mplint.verify.against import file_of
from mplint.verify.judge import (
    NOT_HALF,
    Judgement,
    Outcome,
    judge_audit,
    judge_program,
    judge_rewrite,
    rows_in_words,
)
from mplint.verify.process import Job, Setup, execute, interpreter, source_roots
from mplint.verify.programs import targets_for
from mplint.verify.results import AFTER, AFTER_FLOAT32, BEFORE, BEFORE_FLOAT32, Evidence
from mplint.verify.target import Target

STEPS: Final = 3
ROWS: Final = 8
TIMEOUT: Final = 300.0


@dataclass(frozen=True)
class Options:
    """How programs are run, whatever the proof.

    The generation `keras` is demanded, but for "auto"; `likely` is the one that the project speaks for. `policy` is set
    before the program starts and takes the place of every half-precision policy that it sets itself.
    """

    python: str | None = None
    keras: str = "auto"
    steps: int = STEPS
    rows: int = ROWS
    timeout: float = TIMEOUT
    policy: str | None = None
    arguments: tuple[str, ...] = ()
    echo: IO[str] | None = None
    fork: bool = sys.platform == "linux"
    likely: str | None = None


@dataclass(frozen=True)
class Proof:
    """One program, what was measured, and what it means. `rewrite`: an original was run beside it."""

    target: Target
    rewrite: bool
    evidence: Evidence
    judgement: Judgement

    @property
    def outcome(self) -> Outcome:
        """Verified, refuted or inconclusive."""
        return self.judgement.outcome


@dataclass(frozen=True)
class Audited:
    """One program, what it made when it ran, and how that compares with what was predicted."""

    target: Target
    evidence: Evidence
    tally: audit.Tally
    judgement: Judgement

    @property
    def outcome(self) -> Outcome:
        """Refuted where a prediction was wrong."""
        return self.judgement.outcome


@dataclass(frozen=True)
class FileVerdict:
    """What was proved of the fixes in one file, and why."""

    outcome: Outcome
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What was proved of a set of fixes: file by file, and by running which programs."""

    files: Mapping[Path, FileVerdict]
    proofs: tuple[Proof, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of the files'."""
        outcomes = {verdict.outcome for verdict in self.files.values()}
        for outcome in (Outcome.REFUTED, Outcome.INCONCLUSIVE):
            if outcome in outcomes:
                return outcome
        return Outcome.VERIFIED


def verify(target: Target, options: Options, *, root: Path, folder: Path, naming: Naming) -> Proof:
    """Run a program as it is, in `folder`; the modules of the project `root` can be imported."""
    replaced = options.policy
    runs = (Setup(AFTER, {}, {}, policy=replaced, replacement=replaced),)
    evidence = _execute(_job(target, runs, options, _roots(root, folder)), options, folder)
    return Proof(target, False, evidence, judge_program(evidence, naming))


def compare(
    target: Target,
    texts: Mapping[Path, tuple[str, str]],
    options: Options,
    *,
    root: Path,
    folder: Path,
    naming: Naming,
    assumed: str | None = None,
    leaves_half: bool = False,
    exact: bool = True,
) -> Proof:
    """Run a program with the original and with the rewritten text of some files, neither read from disk.

    `assumed` is a policy that is set before the program starts, which may then set its own.
    """
    before = {path: pair[0] for path, pair in texts.items()}
    after = {path: pair[1] for path, pair in texts.items()}
    policy = options.policy or assumed
    runs = (
        Setup(AFTER, after, before, policy=policy, replacement=options.policy),
        Setup(BEFORE, before, {}, policy=policy, replacement=options.policy),
        Setup(BEFORE_FLOAT32, before, {}, replacement="float32", keep_weights=True),
        Setup(AFTER_FLOAT32, after, {}, replacement="float32", keep_weights=True),
    )
    job = replace(_job(target, runs, options, _roots(root, folder)), compare=(BEFORE_FLOAT32, AFTER_FLOAT32))
    evidence = _execute(job, options, folder)
    judgement = judge_rewrite(evidence, naming, leaves_half=leaves_half, exact=exact)
    return Proof(target, True, evidence, judgement)


def audit_predictions(target: Target, options: Options, *, project: Project, folder: Path) -> Audited:
    """Run a program in `folder`, and hold what it makes against what the interpreter says of it.

    A policy in `options` is set before the program starts, which may then set its own.
    """
    roots = _roots(project.root, folder)
    start = Start(file_of(target, roots), target.factory)
    job = replace(_job(target, (Setup(AFTER, {}, {}, policy=options.policy),), options, roots), audit=True)
    evidence = _execute(job, options, folder)
    run, versions = evidence.runs.get(AFTER), evidence.versions
    tally = audit.Tally()
    if run is not None and versions is not None:
        prediction = predict(project, start, versions.generation, options.policy)
        tally = audit.compare(prediction, run.made, run.named, start.path)
    return Audited(target, evidence, tally, judge_audit(evidence, tally, project.naming))


def check_fixes(
    project_root: Path,
    fixes: Mapping[Path, tuple[str, str]],
    *,
    naming: Naming,
    python: str | None = None,
    keras: Callable[[Path], tuple[str, str | None]] = lambda path: ("auto", None),
    timeout: float = TIMEOUT,
    importers: Callable[[Path], Iterable[Path]] = lambda path: (),
    policies: Mapping[Path, str] | None = None,
    leaves_half: bool = False,
    exact: bool = True,
    steps: int = STEPS,
    conditions: Mapping[Path, str] | None = None,
) -> Verdict:
    """Prove fixes, given as the original and the rewritten text of each file, before they are written.

    Programs of the project that reach the rewritten lines are run in `project_root`: a file itself where it is one,
    else one that imports it (`importers`, as `Project.importers`), else the functions of the file that make a model,
    under the policy that its findings were seen under (`policies`); `conditions` says where a policy is set that is not
    always, and `keras` which generation is demanded and which is likely, as `PerFile.to_run_in`. `timeout` is for each
    program. All fixes are in place in each run; where a program is refuted, so are the fixes of every file that it
    reached. Notebooks are not run.
    """
    options = Options(python=python, timeout=timeout, steps=steps)
    course = _Course(naming, fixes, conditions or {})
    texts = {path: pair for path, pair in fixes.items() if path.suffix != NOTEBOOK}
    for path in fixes:
        for target in targets_for(path, importers):
            if course.is_settled(path):
                break
            if course.has_run(target):
                continue
            proof = compare(
                target,
                texts,
                _in_generation(options, keras(target.file or path), keras(path)),
                root=project_root,
                folder=project_root,
                naming=naming,
                assumed=(policies or {}).get(path) if target.imported else None,
                leaves_half=leaves_half,
                exact=exact,
            )
            course.take(path, proof)
    return course.verdict()


def _in_generation(options: Options, program: tuple[str, str | None], file: tuple[str, str | None]) -> Options:
    """With the generation of a program, else that of the file for whose sake it is run."""
    keras = program[0] if program[0] != "auto" else file[0]
    return replace(options, keras=keras, likely=program[1] or file[1])


@dataclass(frozen=True)
class _Doubt:
    """Why a program proves nothing of a file, though it ran some of its rewritten places."""

    target: Target
    reasons: tuple[str, ...]
    ran: frozenset[tuple[int, int]]


class _Course:
    """What the proofs so far say of each file."""

    def __init__(self, naming: Naming, paths: Iterable[Path], conditions: Mapping[Path, str]) -> None:
        self._naming = naming
        self._conditions = conditions
        self._proofs: dict[str, Proof] = {}
        self._open: dict[Path, set[tuple[int, int]] | None] = dict.fromkeys(paths)
        self._faults: dict[Path, tuple[str, ...]] = {}
        self._doubts: dict[Path, _Doubt] = {}

    def has_run(self, target: Target) -> bool:
        return str(target) in self._proofs and not target.imported

    def is_settled(self, path: Path) -> bool:
        return path in self._faults or self._open[path] == set()

    def take(self, asked: Path, proof: Proof) -> None:
        """Add a proof, run for the sake of one file; others may have been reached on the way."""
        # Another program loads what this one does not.
        self._proofs[str(proof.target)] = replace(proof, judgement=replace(proof.judgement, unused=()))
        run = proof.evidence.runs.get(AFTER)
        for path in self._open:
            reached = None if run is None else run.reach.get(path.resolve())
            ran = frozenset(reached.places) - set(reached.unreached) if reached is not None else frozenset()
            touched = reached is not None and reached.loaded and (bool(ran) or not reached.places)
            failed = path == asked and run is not None and run.trouble is not None
            if proof.judgement.faults and (touched or failed):
                self._faults[path] = proof.judgement.faults
            elif proof.judgement.faults or proof.judgement.doubts:
                before = self._open[path]
                if (touched or path == asked) and (before is None or before & ran):
                    reasons = proof.judgement.doubts or proof.judgement.faults
                    self._doubts.setdefault(path, _Doubt(proof.target, reasons, ran))
            elif reached is not None:
                left, before = set(reached.unreached), self._open[path]
                self._open[path] = left if before is None else left & before

    def verdict(self) -> Verdict:
        return Verdict({path: self._file(path) for path in self._open}, tuple(self._proofs.values()))

    def _file(self, path: Path) -> FileVerdict:
        if path in self._faults:
            return FileVerdict(Outcome.REFUTED, self._faults[path])
        left, doubt = self._open[path], self._doubts.get(path)
        if left == set():
            return FileVerdict(Outcome.VERIFIED, ())
        reasons: list[str] = []
        if doubt is not None:
            reasons += doubt.reasons
            if NOT_HALF in doubt.reasons and path in self._conditions:
                reasons.append(self._advice(doubt.target, self._conditions[path]))
        never = (left or set()) - (doubt.ran if doubt is not None else set())
        if never:
            reasons.append(f"the rewritten {rows_in_words(tuple(sorted(never)))} did not run")
        nothing = "notebooks are not run" if path.suffix == NOTEBOOK else "no program of the project runs it"
        return FileVerdict(Outcome.INCONCLUSIVE, tuple(reasons) or (nothing,))

    def _advice(self, target: Target, condition: str) -> str:
        """How to prove what is half precision under a condition alone."""
        if target.file is None or target.imported:
            return condition
        file = self._naming.file(target.file)
        return f"{condition}: `mplint verify {file} --against ORIGINAL -- ARGUMENTS` proves it with arguments"


def _roots(root: Path, folder: Path) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((*source_roots(root.resolve()), folder.resolve())))


def _job(target: Target, runs: tuple[Setup, ...], options: Options, roots: tuple[Path, ...]) -> Job:
    return Job(
        target=target,
        roots=roots,
        runs=runs,
        arguments=options.arguments,
        keras=options.keras,
        likely=options.likely,
        steps=options.steps,
        rows=options.rows,
    )


def _execute(job: Job, options: Options, folder: Path) -> Evidence:
    evidence = execute(
        job,
        python=interpreter(options.python),
        folder=folder,
        timeout=options.timeout,
        echo=options.echo,
        fork=options.fork,
    )
    for run in evidence.runs.values():
        if run.trouble is not None and run.trouble.kind == "target":
            raise MplintError(f"{job.target}: {run.trouble.text}")
    return evidence
