"""The command `mplint`: a group whose default command is `check`."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import traceback
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from mplint import __version__
from mplint.cli.commands import COMMANDS, DEFAULT
from mplint.cli.terminal import emit, on_one_line
from mplint.errors import MplintError


class DefaultGroup(click.Group):
    """A group that reads what does not start with one of its commands or options as arguments of the default one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front where none is named."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        named = bool(args) and (args[0] in COMMANDS or args[0] in own)
        if not named and not (ctx.resilient_parsing and not args):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command's module."""
        if name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"mplint.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, and what could follow the default one: its options, or a path."""
        default = self.get_command(ctx, DEFAULT)
        assert default is not None
        within = click.Context(default, parent=ctx, info_name=DEFAULT, resilient_parsing=True)
        if incomplete.startswith("-"):
            own = super().shell_complete(ctx, incomplete)
            names = {item.value for item in own}
            return own + [item for item in default.shell_complete(within, incomplete) if item.value not in names]
        return [CompletionItem(incomplete, type="file"), *super().shell_complete(ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever stands in its way ends with status 2 and never looks like a finding."""
        try:
            return super().invoke(ctx)
        except MplintError as error:
            emit(f"error: {on_one_line(str(error))}\n", sys.stderr)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            return ctx.exit(130)
        except Exception:  # noqa: BLE001  (a defect of ours must not look like a finding)
            emit(traceback.format_exc(), sys.stderr)
            emit("error: this is mplint's own fault: please report it with the lines above\n", sys.stderr)
        return ctx.exit(2)


@click.group(cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="mplint", message="%(prog)s %(version)s")
def main() -> None:
    """Find, rewrite and prove faults of Keras code under mixed precision.

    Without a command: `check`, so that `mplint --fix src/` works; `mplint check --help` lists its options. (A folder
    called like a command is `./rule`.)
    """


def run() -> NoReturn:
    """The program: leave as soon as everything is written.

    Python would first take apart, object by object, the hundreds of MiB that a run on a large project has made.
    """
    gc.disable()  # for the same reason: nothing is worth looking for in what is dropped as a whole
    status: object = 0
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed when Python started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    try:
        main(prog_name="mplint")
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001  (Python's own end of a program that failed)
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody listens any more
            status = status or 1
    os._exit(status if isinstance(status, int) else 1 if status else 0)
