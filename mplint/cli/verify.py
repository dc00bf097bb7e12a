"""`mplint verify`: run a program, and prove what it does under mixed precision."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mplint.cli.options import Choice, shown_as
from mplint.cli.project import project_of
from mplint.cli.terminal import Progress, colors, emit
from mplint.errors import MplintError
from mplint.settings import KERAS, POLICIES, Settings

if TYPE_CHECKING:
    from mplint.project.modules import Project
    from mplint.project.naming import Naming
    from mplint.verify.prove import Audited, Proof
    from mplint.verify.target import Target


@click.command(short_help="Run a program, and prove what it does under mixed precision.")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--python", metavar="PYTHON", help="The interpreter with TensorFlow.  [default: the active environment's]"
)
@click.option(
    "--against",
    type=click.Path(exists=True, path_type=Path),
    help="The original: a file, or a copy of the project or of a folder that the file lies in.",
)
@click.option("--audit", is_flag=True, help="Show where mplint's own predictions differ from what ran.")
@click.option("--policy", type=Choice((*POLICIES, "float32")), help="Run under this policy in place of the program's.")
@click.option("--keras", type=Choice(KERAS), help="The generation.  [default: what is configured, else the code's own]")
@click.option(
    "--steps",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Steps that each model trains (more while the loss scale is still too large).",
)
@click.option("--rows", type=click.IntRange(1, 4096), default=8, show_default=True, help="Rows of each batch.")
@click.option("--timeout", type=click.FloatRange(min=1), default=300, show_default=True, help="Seconds for all runs.")
@shown_as("the proof")
@click.option("--show-output", is_flag=True, help="Show what the program prints, on standard error.")
@click.pass_context
def verify(ctx: click.Context, /, target: str, arguments: tuple[str, ...], **options: Any) -> None:
    """Run TARGET for a few steps and prove that its outputs are float32 and that it trains.

    TARGET is FILE, which runs as a script with its training cut down to a few steps; or FILE:factory or
    package.module:factory, a function that makes a model. What follows `--` is given to the script. With --against, the
    original is run beside it, and both must train to the same bits in float32.

    With --audit nothing is judged but mplint itself: the dtypes of all layers, outputs and variables that the program's
    own code makes are held against what mplint says of them without running it; --policy is then set before the
    program starts, which may set its own. A difference refutes; what mplint does not say is listed, and is no fault.

    The program really runs, with your rights, in a child process with a time limit but WITHOUT A SANDBOX. Only what
    Keras itself saves is kept away from your files; what the program writes on its own (logs, tables) it writes.

    Exit status: 0 verified; 1 refuted; 2 usage, or no TensorFlow in --python; 3 inconclusive: the program fails, has no
    model, takes too long, or needs a kernel that this machine does not have.
    """
    from mplint.verify.prove import Audited
    from mplint.verify.table import as_json, audit_as_json, render, render_audit

    if options["audit"] and options["against"] is not None:
        raise click.UsageError("--audit is of one program: it takes no --against")
    with Progress(f"running {target}", wanted=not options["show_output"]):
        proof, naming = _prove(target, arguments, **options)
    if options["output_format"] == "json":
        data = audit_as_json(proof) if isinstance(proof, Audited) else as_json(proof)
        emit(json.dumps(data, indent=2, ensure_ascii=False) + "\n", sys.stdout)
    else:
        paper: dict[str, Any] = {
            "color": colors(sys.stdout),
            "width": shutil.get_terminal_size((100, 24)).columns,
            "naming": naming,
        }
        text = render_audit(proof, **paper) if isinstance(proof, Audited) else render(proof, **paper)
        emit(text, sys.stdout)
        if proof.evidence.output and not proof.evidence.runs and not options["show_output"]:
            emit(f"what it printed last:\n{proof.evidence.output}\n", sys.stderr)
    ctx.exit(proof.outcome.exit_status)


def _prove(text: str, arguments: tuple[str, ...], **options: Any) -> tuple[Proof | Audited, Naming]:
    """The proof, and how it calls files."""
    from mplint.project.root import find_root
    from mplint.verify import prove
    from mplint.verify.against import changed_texts
    from mplint.verify.process import source_roots
    from mplint.verify.target import Target

    folder = Path.cwd()
    target = Target.parse(text, folder)
    root = find_root([target.file or folder])
    roots = (*source_roots(root), folder)
    settings = Settings.load(root, overrides={} if options["keras"] is None else {"keras": options["keras"]})
    files = [target.file] if target.file is not None else []
    project = project_of(settings, files, for_program=options["output_format"] == "json")
    naming = project.naming
    keras, likely = _generation(target, settings, project, roots)
    chosen = prove.Options(
        python=options["python"],
        keras=keras,
        steps=options["steps"],
        rows=options["rows"],
        timeout=options["timeout"],
        policy=options["policy"],
        arguments=arguments,
        echo=sys.stderr if options["show_output"] else None,
        likely=likely,
    )
    if options["audit"]:
        return prove.audit_predictions(target, chosen, project=project, folder=folder), naming
    if options["against"] is None:
        return prove.verify(target, chosen, root=root, folder=folder, naming=naming), naming
    texts = changed_texts(target, options["against"], root=root, roots=roots)
    return prove.compare(target, texts, chosen, root=root, folder=folder, naming=naming), naming


def _generation(target: Target, settings: Settings, project: Project, roots: Sequence[Path]) -> tuple[str, str | None]:
    """The generation of Keras that is demanded, and the one that is likely."""
    from mplint.per_file import PerFile
    from mplint.verify.against import file_of

    try:
        return PerFile(project, settings).to_run_in(file_of(target, roots))
    except MplintError:  # a module of another place
        return settings.keras, None
