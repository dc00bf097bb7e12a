"""`mplint rule`: the documentation of the rules."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from mplint.cli.options import shown_as
from mplint.cli.terminal import emit
from mplint.errors import MplintError
from mplint.settings import did_you_mean

if TYPE_CHECKING:
    from mplint.analysis import RuleInfo


@click.command(short_help="Explain a rule.")
@click.argument("code", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain every rule.")
@shown_as("it")
def rule(code: str | None, everything: bool, output_format: str) -> None:
    """Explain the rule CODE (or its name); without one, or with the beginning of codes (MP5), list rules."""
    from mplint.analysis import rules

    if code and everything:
        raise click.UsageError("name a CODE or say --all, not both")
    known = rules()
    family = [each for each in known if code and each.code.startswith(code.upper()) and each.code != code.upper()]
    chosen = family or ([_find(code, known)] if code else list(known))
    is_one = bool(code) and not family
    if output_format == "json":
        objects = [_as_object(each) for each in chosen]
        text = json.dumps(objects[0] if is_one else objects, indent=2) + "\n"
    elif is_one or everything:
        text = "\n".join(_page(each) for each in chosen)
    else:
        text = "".join(f"{each.code}  {each.severity!s:7}  {each.name}: {each.summary}\n" for each in chosen)
    emit(text, sys.stdout)


def _find(code: str, known: tuple[RuleInfo, ...]) -> RuleInfo:
    for each in known:
        if code.upper() == each.code or code == each.name:
            return each
    near = did_you_mean(code, [word for each in known for word in (each.code, each.name)])
    raise MplintError(f"there is no rule `{code}`{near or '; `mplint rule` lists them'}")


def _page(each: RuleInfo) -> str:
    return f"# {each.name} ({each.code})\n\n{each.documentation.strip()}\n"


def _as_object(each: RuleInfo) -> dict[str, object]:
    return {
        "code": each.code,
        "name": each.name,
        "severity": str(each.severity),
        "summary": each.summary,
        "documentation": each.documentation,
    }
