"""`mplint check`: find faults, show them, mend them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mplint.cli.commands import near
from mplint.cli.options import Choice, configuration
from mplint.cli.project import exclusions_of, files_of, project_of
from mplint.cli.terminal import Progress, colors, emit, on_one_line
from mplint.errors import MplintError
from mplint.settings import DEVICES, KERAS, OUTPUT_FORMATS, POLICIES, SEVERITIES, UNREADABLE, Settings

if TYPE_CHECKING:
    from mplint.analysis import Report
    from mplint.findings import Finding
    from mplint.fixer import Filter, Outcome
    from mplint.output.context import Context
    from mplint.project.modules import Project

_CLEAN: Final = 0
_FOUND: Final = 1
_ERROR: Final = 2
_INCONCLUSIVE: Final = 3


def _split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for value in values for part in value.split(",") if part)


def _words(*names: str, **attributes: Any) -> Callable[[Any], Any]:
    return click.option(*names, multiple=True, **attributes)


def _switch(name: str, meaning: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}/--no-{name}", default=None, help=meaning)


def _forms(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, Path | None], ...]:
    """Each `FORMAT` or `FORMAT=FILE` as the format and the file."""
    forms: list[tuple[str, Path | None]] = []
    for value in values:
        form, equals, file = value.partition("=")
        if equals and not file:
            raise click.BadParameter(f"'{value}' names no file behind the `=`", ctx, param)
        forms.append((Choice(OUTPUT_FORMATS).convert(form, param, ctx), Path(file) if file else None))
    return tuple(forms)


class _Command(click.Command):
    """A command with an option that takes a value only behind `=`, so that it never swallows a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual."""
        end = args.index("--") if "--" in args else len(args)
        options = [f"{arg}=" if arg == "--add-ignore" else arg for arg in args[:end]]
        return super().parse_args(ctx, [*options, *args[end:]])


@click.command(cls=_Command, short_help="Find faults in files and folders, and mend them.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_switch("fix", "Mend what can be mended safely.")
@_switch(
    "unsafe-fixes",
    "Count in fixes that switch half precision on, or change layers, saved state or float32 results.",
)
@_switch("show-fixes", "List the fixes made.")
@click.option("--fix-only", is_flag=True, help="Mend, and say nothing of what is left.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, change nothing.")
@click.option(
    "--verify", is_flag=True, help="With --fix: run the original and the fixed program; what is refuted is not written."
)
@click.option("--python", metavar="PYTHON", help="The interpreter with TensorFlow that --verify runs programs with.")
@_words("--select", metavar="CODES", help="Rules to turn on: codes, prefixes (MP1), ALL.")
@_words("--ignore", metavar="CODES", help="Rules to turn off.")
@_words("--extend-select", metavar="CODES", help="Rules to turn on beside the selected ones.")
@_words("--per-file-ignores", metavar="PATTERN:CODE", help="Rules to turn off in some files.")
@click.option("--keras", type=Choice(KERAS), help="The generation of Keras, whatever the code says.  [default: auto]")
@click.option("--device", type=Choice(DEVICES), help="What the code runs on.  [default: auto]")
@click.option("--assume-policy", type=Choice(POLICIES), help="Check as if this policy were set.")
@click.option(
    "--fail-on", type=Choice(SEVERITIES), help="The least severity that makes the exit status 1.  [default: warning]"
)
@click.option(
    "--output-format",
    multiple=True,
    metavar="FORMAT[=FILE]",
    callback=_forms,
    shell_complete=lambda ctx, param, start: [form for form in OUTPUT_FORMATS if form.startswith(start)],
    help=f"How to show findings: {', '.join(OUTPUT_FORMATS)}; FORMAT=FILE writes them there, too.  [default: full]",
)
@click.option("-o", "--output-file", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the report.")
@click.option(
    "--baseline", metavar="FILE", help="Leave out what this file holds: what was there before mplint was used."
)
@click.option(
    "--write-baseline", type=click.Path(dir_okay=False, path_type=Path), help="Write all that is found into this file."
)
@click.option(
    "--diff-base",
    metavar="REVISION",
    help="Leave out what has nothing to do with the changes since the work was branched off this git revision.",
)
@click.option(
    "--add-ignore",
    metavar="[=REASON]",
    help="Silence all that is found with comments in the code, which say why.",
)
@click.option("--statistics", is_flag=True, help="Count findings by rule in place of showing them.")
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="The name of what comes from standard input.")
@configuration
@_words(
    "--exclude", metavar="PATTERNS", callback=_split, help="Files and folders to leave out, in place of the usual ones."
)
@_words("--extend-exclude", metavar="PATTERNS", callback=_split, help="More files and folders to leave out.")
@_switch("force-exclude", "Leave excluded files out even when they are named.")
@_switch("respect-gitignore", "Leave out what git ignores.  [default: on]")
@click.option("--exit-zero", is_flag=True, help="End with status 0 whatever is found.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="End with status 1 also when everything was mended.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use.  [no effect yet]")
@click.option("-n", "--no-cache", is_flag=True, help="Neither read nor write results of earlier runs.  [no effect yet]")
@click.option("--cache-dir", metavar="FOLDER", help="Where results are kept.  [no effect yet]")
@click.option(
    "--no-prefilter", is_flag=True, help="Read every file in full, even those that cannot matter.  [no effect yet]"
)
@click.option("--timing", is_flag=True, help="Show where the time went, and how much was known.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say also what is configured, and what is not known.")
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Find faults of mixed precision in Python files, notebooks and folders.

    Without PATHS in the current folder; `-` is standard input.

    Exit status: 0 nothing is left, 1 something is (or --diff would change something), 2 a wrong call, a path that
    cannot be read, or a fault of mplint's own; with --verify also 1 when a fix was refuted, and 3 when it could not be
    told. A file that is no Python is a finding.
    """
    forms = options.pop("output_format")
    options["reports"] = tuple((form, file) for form, file in forms if file is not None)
    options["output_format"] = next((form for form, file in reversed(forms) if file is None), None)
    modes = _Modes(**{each.name: options.pop(each.name) for each in fields(_Modes)})
    if options["baseline"] is not None:  # a flag counts from here, the configuration from the root
        options["baseline"] = str(Path(options["baseline"]).absolute())
    flags = {name: value for name, value in options.items() if value not in (None, ())}
    ctx.exit(_Check(modes, flags).run())


@dataclass(frozen=True)
class _Modes:
    """How to run: what no configuration holds."""

    paths: tuple[Path, ...]
    config: tuple[str, ...]
    isolated: bool
    fix_only: bool
    diff: bool
    verify: bool
    python: str | None
    output_file: Path | None
    reports: tuple[tuple[str, Path], ...]
    """The formats and files that findings are written in and to beside what is shown."""
    write_baseline: Path | None
    diff_base: str | None
    add_ignore: str | None
    statistics: bool
    stdin_filename: Path | None
    exit_zero: bool
    exit_non_zero_on_fix: bool
    jobs: int | None
    no_cache: bool
    no_prefilter: bool
    timing: bool
    quiet: bool
    verbose: bool

    @property
    def reads_stdin(self) -> bool:
        return Path("-") in self.paths

    @property
    def named(self) -> tuple[Path, ...]:
        """What is to be checked; standard input without a name is the file `-`."""
        if self.reads_stdin:
            return (self.stdin_filename or Path("-"),)
        return self.paths or (Path(),)


class _Check:
    """One run of the command."""

    def __init__(self, modes: _Modes, flags: Mapping[str, object]) -> None:
        from mplint.analysis import rules
        from mplint.project.root import find_root

        self._modes = modes
        self._root = find_root(modes.named)
        self._settings = Settings.load(self._root, modes.config, modes.isolated, flags)
        self._settings.require_known({rule.code for rule in rules()})
        self._fixing = self._settings.fix or modes.fix_only or modes.diff
        self._reject_contradictions()
        self._stdin = sys.stdin.buffer.read() if modes.reads_stdin else None
        self._filters: list[Filter] = []
        self._failed = False
        self._refuted = self._inconclusive = False

    def run(self) -> int:
        """Check, mend, tell; the result is the exit status."""
        from mplint.fixer import fix, look
        from mplint.output.context import Context

        targets = self._targets()
        if not targets and not self._failed:
            self._say("warning: no Python files were found under the given paths")
        project = self._project(targets)
        self._filters = list(self._filters_for(targets))
        with Progress(f"mplint: checking {len(targets)} files", wanted=not self._modes.quiet):
            if self._fixing:
                unsafe = self._settings.unsafe_fixes
                outcome = fix(project, targets, self._settings, unsafe=unsafe, filters=self._filters)
            else:
                outcome = look(project, targets, self._settings, self._filters)
        if self._modes.write_baseline is not None:
            return self._write_baseline(self._modes.write_baseline, outcome, project)
        if self._modes.add_ignore is not None:
            return self._silence(self._modes.add_ignore, outcome, project)
        if self._modes.verify:
            outcome = self._proven(outcome, project, targets)
        context = Context(outcome.project, Path.cwd(), unsafe=self._settings.unsafe_fixes)
        if self._modes.diff:
            self._show_diff(outcome, project, context)
        elif self._stdin is not None and self._fixing:
            self._emit_stdin(outcome, project, targets)
        else:
            outcome = self._write(outcome, project)
        self._report(outcome, context)
        return self._status(outcome)

    @property
    def _for_people(self) -> bool:
        """Whether people read what is shown; else a program does, and the words for people go beside it."""
        from mplint.output import FOR_PEOPLE

        return self._settings.output_format in FOR_PEOPLE

    def _reject_contradictions(self) -> None:
        from mplint.output import COUNTED

        modes, form = self._modes, self._settings.output_format
        if modes.statistics and form not in COUNTED:
            raise click.UsageError(f"--statistics has no output format {form}; it has {', '.join(COUNTED)}")
        if modes.reads_stdin and len(modes.paths) > 1:
            raise click.UsageError("`-` is standard input alone: name no other path beside it")
        if (modes.write_baseline or modes.add_ignore is not None) and (self._fixing or modes.reads_stdin):
            raise click.UsageError(
                "--write-baseline and --add-ignore keep what is found: use them without --fix, --diff and `-`"
            )
        if modes.diff and modes.statistics:
            raise click.UsageError("--diff shows changes, --statistics counts findings: choose one")
        if modes.verify and (not self._fixing or modes.diff or modes.reads_stdin):
            raise click.UsageError(
                "--verify proves what --fix writes to files: use it with --fix, without --diff and `-`"
            )

    def _targets(self) -> list[Path]:
        """The files to check, absolute; what cannot be found is told, and the rest is checked."""
        from mplint.source.file import SourceError, absolute

        settings = self._settings
        if self._stdin is not None:
            path = absolute(self._modes.named[0])
            excluded = settings.force_exclude and exclusions_of(settings).excludes_with_parents(path)
            return [] if excluded else [path]
        found: dict[Path, None] = {}
        for named in self._modes.named:
            try:
                files = files_of(settings, named, force_exclude=settings.force_exclude, on_unreadable=self._fail)
            except SourceError as error:
                self._fail(error)
                if command := near(str(named)):
                    self._say(f"Did you mean the command `{command}`? It comes first: mplint {command} ...")
            else:
                found |= dict.fromkeys(files)
        return list(found)

    def _filters_for(self, targets: Sequence[Path]) -> Iterator[Filter]:
        """What leaves findings out: a baseline, and what a branch has not touched."""
        if self._settings.baseline is not None and self._modes.write_baseline is None:
            from mplint.baseline import Baseline

            known = Baseline.read(self._root / self._settings.baseline)
            yield lambda report, project: known.leave_out(report, project, targets)
        if self._modes.diff_base is not None:
            from mplint.changed import Changes

            yield Changes.since(self._modes.diff_base, self._root).leave_out

    def _write_baseline(self, file: Path, outcome: Outcome, project: Project) -> int:
        from mplint import baseline
        from mplint.output.context import Context

        count = baseline.write(file, outcome.left, project)
        self._say_aside(outcome, Context(outcome.project, Path.cwd()))
        emit(f"Wrote {count} {'finding' if count == 1 else 'findings'} to {file}.\n", sys.stdout)
        return _ERROR if self._failed or outcome.left.failures else _CLEAN

    def _silence(self, reason: str, outcome: Outcome, project: Project) -> int:
        from mplint.fixer import ignore
        from mplint.output.context import Context

        texts, silenced = ignore(outcome.left, project, reason)
        self._write(replace(outcome, files=texts), project)
        self._say_aside(outcome, Context(outcome.project, Path.cwd()))
        emit(f"Silenced {len(silenced)} of {len(outcome.left.findings)}.\n", sys.stdout)
        if self._failed or outcome.left.failures:
            return _ERROR
        return _FOUND if len(silenced) < len(outcome.left.findings) and not self._modes.exit_zero else _CLEAN

    def _project(self, targets: Sequence[Path]) -> Project:
        overlay = None if self._stdin is None else dict.fromkeys(targets, self._stdin)
        return project_of(self._settings, targets, overlay, for_program=not self._for_people)

    def _proven(self, outcome: Outcome, project: Project, targets: Sequence[Path]) -> Outcome:
        """Run the programs before and after; what is refuted stays as it was, and the rest is proved without it."""
        from mplint.fixer import fix
        from mplint.per_file import PerFile
        from mplint.verify import judge, prove, table

        stream = sys.stdout if self._for_people else sys.stderr
        refuted: dict[Path, str] = {}
        while outcome.files:
            with Progress("mplint: running what it fixed", wanted=not self._modes.quiet):
                verdict = prove.check_fixes(
                    self._root,
                    {path: (project.source(path).text, text) for path, text in outcome.files.items()},
                    naming=project.naming,
                    python=self._modes.python,
                    keras=PerFile(project, self._settings).to_run_in,
                    importers=project.importers,
                    policies=_of_changed(outcome, lambda finding: finding.policy),
                    conditions=_of_changed(outcome, lambda finding: finding.condition),
                    leaves_half=outcome.left.hidden > 0
                    or any(finding.code != UNREADABLE for finding in outcome.left.findings),
                )
            emit(table.render_verdict(verdict, color=colors(stream), naming=project.naming) + "\n", stream)
            self._inconclusive = verdict.outcome is judge.Outcome.INCONCLUSIVE
            if verdict.outcome is not judge.Outcome.REFUTED:
                break
            self._refuted = True
            for path, of_file in verdict.files.items():
                if of_file.outcome is judge.Outcome.REFUTED:
                    refuted[path] = f"refuted by running it: {'; '.join(of_file.reasons)}"
            unsafe = self._settings.unsafe_fixes
            outcome = fix(project, targets, self._settings, unsafe=unsafe, untouched=refuted, filters=self._filters)
        return outcome

    def _show_diff(self, outcome: Outcome, project: Project, context: Context) -> None:
        from mplint.output import diff

        for path, text in sorted(outcome.files.items()):
            new = project.source(path).encode(text)
            emit(diff.render(context.name(path), project.data(path), new, color=colors(sys.stdout)), sys.stdout)

    def _emit_stdin(self, outcome: Outcome, project: Project, targets: Sequence[Path]) -> None:
        assert self._stdin is not None
        changed = [project.source(path).encode(outcome.files[path]) for path in targets if path in outcome.files]
        emit(changed[0] if changed else self._stdin, sys.stdout)

    def _write(self, outcome: Outcome, project: Project) -> Outcome:
        """Write what was mended; what could not be written counts as not mended."""
        from mplint.fixer import touching, write

        failures = write(outcome, project)
        for error in failures.values():
            self._fail(error)
        unwritten = [finding for path in failures for finding in touching(path, outcome.applied)]
        return replace(outcome, applied=tuple(finding for finding in outcome.applied if finding not in unwritten))

    def _report(self, outcome: Outcome, context: Context) -> None:
        """The findings, and the last words, where they belong."""
        from mplint.output import counts, findings

        modes, form = self._modes, self._settings.output_format
        stream = sys.stderr if modes.diff or (self._stdin is not None and self._fixing) else sys.stdout
        shown, plain = self._shown(outcome), context
        context = replace(context, color=modes.output_file is None and self._for_people and colors(stream))
        text = (counts if modes.statistics else findings)(form)(shown, context)
        closing = "" if modes.quiet else self._closing(outcome, context)
        for other, file in modes.reports:
            _write_report(file, findings(other)(shown, plain))
        if not self._for_people:  # a program reads it: the words are for the person beside it
            emit("".join(f"note: {note}\n" for note in outcome.left.notes if not modes.quiet), sys.stderr)
        else:
            text += closing
        if modes.output_file is None:
            emit(text, stream)
        else:
            _write_report(modes.output_file, text)
        self._say_aside(outcome, context)

    def _shown(self, outcome: Outcome) -> Report:
        """What is left, or of that only what must never pass in silence."""
        if not (self._modes.diff or self._modes.fix_only):
            return outcome.left
        return replace(outcome.left, findings=tuple(f for f in outcome.left.findings if f.code == UNREADABLE))

    def _closing(self, outcome: Outcome, context: Context) -> str:
        from mplint.output import summary

        fixed = len(outcome.applied)
        if self._modes.diff or self._modes.fix_only:
            last = summary.mended(fixed, only_shown=self._modes.diff)
        else:
            complete = not self._failed and not outcome.left.failures
            last = summary.found(outcome.left, context, fixed, complete=complete)
        fixes = summary.fixes(outcome.applied, context) if fixed and self._settings.show_fixes else ""
        return "\n".join((fixes + last, *(f"note: {note}" for note in outcome.left.notes))) + "\n"

    def _say_aside(self, outcome: Outcome, context: Context) -> None:
        """On standard error: where mplint itself fell short, and what was asked about the run."""
        from mplint.output import timing

        for finding, reason in outcome.withdrawn:
            self._say(f"warning: {context.place(finding)}: the fix of {finding.code} was withdrawn: {reason}")
        for failure in outcome.left.failures:
            self._say(
                f"error: {context.name(failure.path)}: mplint itself failed here, please report it: {failure.text}"
            )
        if self._modes.verbose:
            self._say(f"root: {self._root}")
            for aside in outcome.left.asides:
                self._say(aside)
            for key, value, origin in self._settings.items():
                if origin != "default":
                    self._say(f"{key} = {value} ({origin})")
        if self._modes.timing:
            emit(timing.render(outcome.left.timing), sys.stderr)

    def _status(self, outcome: Outcome) -> int:
        if self._failed or outcome.left.failures:
            return _ERROR
        left = [finding for finding in outcome.left.findings if finding.severity >= self._settings.fail_on]
        if self._modes.diff or self._modes.fix_only:
            left = [finding for finding in left if finding.code == UNREADABLE]
        changes = outcome.files if self._modes.diff else outcome.applied if self._modes.exit_non_zero_on_fix else ()
        if (left or changes or self._refuted) and not self._modes.exit_zero:
            return _FOUND
        return _INCONCLUSIVE if self._inconclusive else _CLEAN

    def _fail(self, error: Exception) -> None:
        self._failed = True
        self._say(on_one_line(f"error: {error}"))

    def _say(self, text: str) -> None:
        emit(f"{text}\n", sys.stderr)


def _of_changed(outcome: Outcome, of: Callable[[Finding], str | None]) -> dict[Path, str]:
    """What the faults say whose fixes changed each file: the policy under which they were seen, say."""
    return {
        edit.path: told
        for finding in outcome.applied
        if finding.fix and (told := of(finding))
        for edit in finding.fix.edits
    }


def _write_report(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise MplintError(f"{file}: the report cannot be written there: {error.strerror}") from None
