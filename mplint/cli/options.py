"""Kinds of options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mplint.settings import did_you_mean

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


if TYPE_CHECKING:
    _Words = click.Choice[str]
else:  # the class takes a parameter only since click 8.2
    _Words = click.Choice


class Choice(_Words):
    """One of some words; who writes another one is told the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word, or a usage error."""
        if value not in self.choices:
            self.fail(f"cannot be '{value}'{did_you_mean(str(value), self.choices)}", param, ctx)
        return str(value)


def shown_as(what: str) -> Callable[[Decorated], Decorated]:
    """`--output-format` of a command that shows `what` as text or as JSON."""
    return click.option(
        "--output-format", type=Choice(("text", "json")), default="text", show_default=True, help=f"How to show {what}."
    )


def configuration(command: Decorated) -> Decorated:
    """`--config` and `--isolated`."""
    command = click.option("--isolated", is_flag=True, help="Read no configuration file.")(command)
    return click.option(
        "--config",
        multiple=True,
        metavar="FILE|'KEY = VALUE'",
        help="A configuration file in place of the one found, or one setting as TOML.",
    )(command)
