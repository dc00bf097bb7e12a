"""`mplint config`: the settings that hold, and where each comes from; of a file also what is known of it, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mplint.cli.options import configuration, shown_as
from mplint.cli.project import files_of, project_of
from mplint.cli.terminal import Progress, emit
from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.settings import Settings

if TYPE_CHECKING:
    from mplint.explanation import Explanation, Reached


@click.command(short_help="Show the settings, and of a file which Keras and which policies reach it, and why.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@configuration
@shown_as("it")
def config(file: Path | None, config: tuple[str, ...], isolated: bool, output_format: str) -> None:
    """Show the settings that hold for FILE (without one: for the current folder), and where each comes from.

    Of a FILE also which generation of Keras it is for, which policies reach it, and why; of a folder that is named, the
    same in a line for each file that has to do with Keras.
    """
    from mplint.analysis import rules
    from mplint.project.root import find_root

    root = find_root([file or Path.cwd()])
    settings = Settings.load(root, config, isolated)
    settings.require_known({rule.code for rule in rules()})
    known = _explained(file, settings, for_program=output_format == "json") if file is not None else []
    whole = file is None or file.is_dir()
    if output_format == "json":
        held = {key: {"value": _value(key, value), "source": origin} for key, value, origin in settings.items()}
        files = [_object(each) for each in known]
        more = {} if file is None else {"files": files} if whole else files[0]
        text = json.dumps({"root": str(root), **more, "settings": held}, indent=2) + "\n"
    else:
        lines = [_line(key, _value(key, value), origin) for key, value, origin in settings.items()]
        about = _table(known) if whole else [line for each in known for line in _lines(each)]
        text = "\n".join((f"# root: {root}", *(f"# {line}" for line in about), *lines)) + "\n"
    emit(text, sys.stdout)


def _explained(file: Path, settings: Settings, *, for_program: bool) -> list[Explanation]:
    """What is known of a file, or of the files in a folder."""
    from mplint.explanation import explain
    from mplint.project.discovery import SUFFIXES

    if file.is_file() and file.suffix not in ("", *SUFFIXES):
        raise MplintError(f"{file}: is no Python: name a file ({', '.join(SUFFIXES)}) or a folder")
    targets = files_of(settings, file)
    with Progress(f"mplint: reading {len(targets)} files"):
        return explain(project_of(settings, targets, for_program=for_program), targets, settings)


def _lines(known: Explanation) -> Iterator[str]:
    """What is known of one file, at length."""
    yield f"file: {known.name}"
    if known.problem:
        yield f"cannot be read: {known.problem}"
    if not known.uses_keras:
        yield "keras: not used, neither in it nor in what it imports"
        return
    yield f"keras: {_generation(known)} ({known.keras.why})"
    for reached in known.policies:
        yield f"policy: {reached.policy} in the program {reached.program}"
        yield from (f"  {step}" for step in reached.trace)
    if known.assumed is not None:
        yield f"policy: {known.assumed} is assumed ({known.assumed_why})"
    elif known.assumed_why:
        yield f"policy: none is assumed ({known.assumed_why})"
    without = [program for program in known.programs if program not in {each.program for each in known.policies}]
    others = [program for program in without if program != known.name]
    if known.policies:
        yield from (f"policy: none in the program {program}" for program in without)
    for place in known.unknown:
        yield f"policy: not known, set at {place}"
    if not known.policies and not known.unknown and known.assumed is None:
        looked = f"nor does any program that imports it ({_some(others)})" if others else "and no program imports it"
        hint = "" if known.assumed_why else "; --assume-policy checks it as if one were set"
        yield f"policy: none: it sets none, {looked}{hint}"


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _table(known: list[Explanation]) -> Iterator[str]:
    """A line a file that has to do with Keras."""
    rows = [(each.name, _generation(each), _summary(each)) for each in known if each.uses_keras]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    for name, generation, policies in rows:
        yield f"{name:{widths[0]}}  keras {generation:{widths[1]}}  {policies}"


def _summary(known: Explanation) -> str:
    told = [f"{each.policy} ({_origin(each)})" for each in known.policies]
    if known.assumed is not None:
        told.append(f"{known.assumed} (assumed)")
    told += [f"not known ({place})" for place in known.unknown]
    return ", ".join(told) or "no policy"


def _origin(reached: Reached) -> str:
    return f"{reached.set_at} {reached.condition}" if reached.condition else reached.set_at


def _generation(known: Explanation) -> str:
    return known.keras.generation or "2 or 3"


def _object(known: Explanation) -> dict[str, object]:
    return {
        "file": known.name,
        "problem": known.problem or None,
        "uses_keras": known.uses_keras,
        "keras": {"generation": known.keras.generation, "why": known.keras.why},
        "policies": [
            {
                "policy": each.policy,
                "program": each.program,
                "set_at": each.set_at,
                "condition": each.condition,
                "trace": list(each.trace),
            }
            for each in known.policies
        ],
        "unknown": list(known.unknown),
        "assumed": {"policy": known.assumed, "why": known.assumed_why} if known.assumed_why else None,
        "programs": list(known.programs),
    }


def _line(key: str, value: object, origin: str) -> str:
    """A setting as a line of TOML; there is no value that means none."""
    return f"#{key} =  # {origin}: not set" if value is None else f"{key} = {_toml(value)}  # {origin}"


def _toml(value: object) -> str:
    """A value of a setting as TOML, on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(held)}' for key, held in value.items())} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(key: str, value: object) -> object:
    """The value of a setting as configuration would spell it."""
    if value == () and key.startswith("per-file-"):
        return {}
    if isinstance(value, (Severity, Path)):
        return str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {pattern: list(held) if isinstance(held, tuple) else held for pattern, held in value}
    return value
