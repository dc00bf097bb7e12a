"""Command lines: absl, click, Typer, Fire, and parsers that fill dataclasses."""

from __future__ import annotations

import pytest

from tests.interpreter.programs import SETTER, half, policies, policies_with

SET = "set_policy(x)"
SWITCH = "set_policy('mixed_float16' if x else 'float32')"

ABSL = """
import enum
from absl import app, flags
{setter}
FLAGS = flags.FLAGS


class Precision(enum.Enum):
    FULL = "float32"
    HALF = "mixed_float16"


{definition}


def main(argv):
    {use}


if __name__ == "__main__":
    app.run(main)
"""


@pytest.mark.parametrize(
    ("definition", "use", "expected"),
    [
        ("flags.DEFINE_string('x', 'mixed_float16', '')", "set_policy(FLAGS.x)", True),
        ("flags.DEFINE_string('x', 'float32', '')", "set_policy(FLAGS.x)", False),
        ("flags.DEFINE_string('x', None, '')", "set_policy(FLAGS.x)", False),
        ("flags.DEFINE_string('x', 'float16', '')", "set_policy('mixed_' + FLAGS.x)", True),
        ("flags.DEFINE_enum('x', 'float32', ['float32', 'mixed_float16'], '')", "set_policy(FLAGS.x)", True),
        ("flags.DEFINE_enum('x', 'float32', ['float32', 'float64'], '')", "set_policy(FLAGS.x)", False),
        (
            "flags.DEFINE_enum('x', 'a', ['a', 'b'], '')",
            "set_policy('mixed_float16' if FLAGS.x == 'c' else 'float32')",
            False,
        ),
        ("flags.DEFINE_enum_class('x', Precision.FULL, Precision, '')", "set_policy(FLAGS.x.value)", True),
        ("flags.DEFINE_bool('x', False, '')", "set_policy('mixed_float16' if FLAGS.x else 'float32')", True),
        ("X = flags.DEFINE_enum('x', 'float32', ['float32', 'mixed_float16'], '')", "set_policy(X.value)", True),
        ("X = flags.DEFINE_string('x', 'float32', '')", "set_policy(X.value)", False),
        ("flags.DEFINE_string('x', 'mixed_float16', '')", "set_policy(FLAGS['x'].value)", True),
        ("flags.DEFINE_string('x', 'mixed_float16', '')", "set_policy(FLAGS.flag_values_dict()['x'])", True),
        ("flags.DEFINE_string('x', 'mixed_float16', '')", "set_policy(getattr(FLAGS, 'x'))", True),
        (
            "flags.DEFINE_string('x', 'float32', '')\nFLAGS.set_default('x', 'mixed_float16')",
            "set_policy(FLAGS.x)",
            True,
        ),
        (
            "V = flags.FlagValues()\nflags.DEFINE_string('x', 'mixed_float16', '', flag_values=V)",
            "set_policy(V.x)",
            True,
        ),
        (
            "flags.DEFINE_bool('x', True, '')\nFLAGS.x = False",
            "set_policy('mixed_float16' if FLAGS.x else 'float32')",
            False,
        ),
        (
            "flags.DEFINE_enum('x', None, ['a'], '')",
            "set_policy('mixed_float16' if FLAGS.x is None else 'float32')",
            True,
        ),
        (
            "import os\nif os.environ.get('A'):\n    flags.DEFINE_bool('x', True, '')",
            "set_policy('mixed_float16' if FLAGS.x else 'float32')",
            True,
        ),
        ("", "FLAGS.x == 'mixed_float16' and print('half')\n    set_policy(FLAGS.x)", True),
    ],
)
def test_flags_of_absl(definition: str, use: str, expected: bool) -> None:
    assert half(ABSL.format(setter=SETTER, definition=definition, use=use)) is expected


def test_flags_that_another_file_defines_and_a_third_reads() -> None:
    main = "from absl import app\nimport defined, used\napp.run(lambda argv: used.use())\n"
    defined = "from absl import flags\nflags.DEFINE_string('x', 'mixed_float16', '')\n"
    used = f"from absl import flags\n{SETTER}\ndef use():\n    set_policy(flags.FLAGS.x)\n"
    assert half(main, defined=defined, used=used)


def test_flags_of_tensorflow_are_those_of_absl() -> None:
    program = f"""{SETTER}
import tensorflow as tf
from absl import flags
tf.compat.v1.flags.DEFINE_string("x", "mixed_float16", "")
set_policy(flags.FLAGS.x)
"""
    assert half(program)


CLICK = """
import click
{setter}

@click.command()
{options}
def main({parameters}):
    {use}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("options", "parameters", "use", "expected"),
    [
        ("@click.option('--x', default='mixed_float16')", "x", SET, True),
        ("@click.option('--x', default='float32')", "x", SET, False),
        (
            "@click.option('-p', '--policy-name', default='mixed_float16')",
            "policy_name",
            "set_policy(policy_name)",
            True,
        ),
        ("@click.option('--long', 'x', default='mixed_float16')", "x", SET, True),
        ("@click.option('--x', type=click.Choice(['float32', 'mixed_float16']))", "x", SET, True),
        ("@click.option('--x', type=click.Choice(['float32', 'float64']))", "x", SET, False),
        (
            "@click.option('--x', type=click.Choice(['a', 'b']), default='a')",
            "x",
            "set_policy('mixed_float16' if x == 'c' else 'float32')",
            False,
        ),
        (
            "@click.option('--x', type=click.Choice(['a']))",
            "x",
            "set_policy('mixed_float16' if x is None else 'float32')",
            True,
        ),
        (
            "@click.option('--x/--no-x', default=False)",
            "x",
            "set_policy('mixed_float16' if x == 'c' else 'float32')",
            False,
        ),
        ("@click.option('--x', is_flag=True)", "x", SWITCH, True),
        ("@click.option('--x/--no-x', default=False)", "x", SWITCH, True),
        (
            "@click.option('--half', 'x', flag_value='mixed_float16')\n@click.option('--full', 'x', flag_value='float32')",
            "x",
            SET,
            True,
        ),
        ("@click.argument('x', type=click.Choice(['float32', 'mixed_float16']))", "x", SET, True),
        ("@click.option('--x', default='mixed_float16')", "**options", "set_policy(options['x'])", True),
        ("@click.option('--x', default=lambda: 'mixed_float16')", "x", SET, True),
        ("@click.option('--x', multiple=True)", "x", SET, False),
    ],
)
def test_options_of_click(options: str, parameters: str, use: str, expected: bool) -> None:
    assert half(CLICK.format(setter=SETTER, options=options, parameters=parameters, use=use)) is expected


GROUP = f"""
import types
import click
{SETTER}

@click.group()
@click.option("--x", type=click.Choice(["float32", "mixed_float16"]), default="float32")
@click.pass_context
def cli(ctx, x):
    ctx.ensure_object(dict)
    ctx.obj["policy"] = x


@cli.command()
@click.option("--epochs", default=3)
@click.pass_context
def train(ctx, epochs):
    set_policy(ctx.obj["policy"])
"""


@pytest.mark.parametrize("start", ["cli()", "cli(obj={})", "cli.main()"])
def test_a_group_hands_an_object_to_its_commands(start: str) -> None:
    assert half(GROUP + start)


def test_an_object_that_a_command_is_passed() -> None:
    program = GROUP.replace("@click.pass_context\ndef train(ctx", "@click.pass_obj\ndef train(obj").replace(
        'ctx.obj["policy"])\n', 'obj["policy"])\n'
    )
    assert half(program + "cli()")


def test_commands_that_are_added() -> None:
    program = GROUP.replace("@cli.command()", "@click.command()") + "cli.add_command(train)\ncli()"
    assert half(program)


TYPER = """
import functools
from enum import Enum
from typing import Annotated, Literal, Optional
import typer
{setter}

class Precision(str, Enum):
    full = "float32"
    half = "mixed_float16"


app = typer.Typer()


@app.command()
def train({parameter}, epochs: int = 3):
    {use}


{start}
"""


@pytest.mark.parametrize(
    ("parameter", "use", "expected"),
    [
        ("x: str = typer.Option('mixed_float16', '--x')", SET, True),
        ("x: str = typer.Option('float32')", SET, False),
        ("x: str = typer.Option(..., help='x')", SET, False),
        ("x: Annotated[str, typer.Option()] = 'mixed_float16'", SET, True),
        ("x: Precision = Precision.full", "set_policy(x.value)", True),
        ("x: 'Precision' = Precision.full", "set_policy(x.value)", True),
        ("x: Optional[Precision] = None", "set_policy(x.value)", True),
        ("x: Annotated[Precision, typer.Option()] = Precision.full", "set_policy(x.value)", True),
        ("x: Literal['float32', 'mixed_float16'] = 'float32'", SET, True),
        ("x: Literal['float32', 'float64'] = 'float32'", SET, False),
        ("x: bool = False", SWITCH, True),
        ("x: bool | None = None", SWITCH, True),
        ("x=functools.partial(set_policy, 'mixed_float16')", "x()", True),
    ],
)
def test_parameters_of_typer(parameter: str, use: str, expected: bool) -> None:
    program = TYPER.format(setter=SETTER, parameter=parameter, use=use, start="app()")
    assert half(program) is expected


def test_what_typer_runs_at_once() -> None:
    assert half(
        f"import typer\n{SETTER}\ndef train(x: str = 'mixed_float16'):\n    set_policy(x)\n\n\ntyper.run(train)\n"
    )


def test_a_callback_runs_before_each_command() -> None:
    program = f"""
import typer
{SETTER}
app = typer.Typer()


@app.callback()
def common(half: bool = False):
    set_policy("mixed_float16" if half else "float32")


@app.command()
def train():
    pass


app()
"""
    assert half(program)


@pytest.mark.parametrize(
    "component",
    ["train", "{'train': train}", "[train]", "Runner", "Runner()", "Runner(x='mixed_float16').train", ""],
)
def test_components_of_fire(component: str) -> None:
    program = f"""
import fire
{SETTER}

class Runner:
    def __init__(self, x="mixed_float16"):
        self.x = x

    def train(self, epochs=3):
        set_policy(self.x)


def train(x="mixed_float16"):
    set_policy(x)


fire.Fire({component})
"""
    assert half(program)


FILLED = """
from dataclasses import dataclass, field
from typing import Literal
{setter}

@dataclass
class Precision:
    policy: str = {default}
    half: bool = False
    kind: Literal["float32", "mixed_float16"] = "float32"


@dataclass
class Config:
    epochs: int = 3
    precision: Precision = field(default_factory=Precision)


{parse}
"""


@pytest.mark.parametrize(
    "parse",
    [
        "import tyro\nconfig = tyro.cli(Config)",
        "import simple_parsing\nconfig = simple_parsing.parse(Config)",
        "import draccus\nconfig = draccus.parse(config_class=Config)",
        "from transformers import HfArgumentParser\nconfig, = HfArgumentParser(Config).parse_args_into_dataclasses()",
        "from transformers import HfArgumentParser\nother, config = HfArgumentParser((Precision, Config))."
        "parse_args_into_dataclasses()",
        "from simple_parsing import ArgumentParser\nparser = ArgumentParser()\n"
        "parser.add_arguments(Config, dest='made')\nconfig = parser.parse_args().made",
    ],
)
@pytest.mark.parametrize(
    ("default", "use", "expected"),
    [
        ("'mixed_float16'", "config.precision.policy", True),
        ("'float32'", "config.precision.policy", False),
        ("'float32'", "'mixed_float16' if config.precision.half else 'float32'", True),
        ("'float32'", "config.precision.kind", True),
    ],
)
def test_dataclasses_that_a_command_line_fills(parse: str, default: str, use: str, expected: bool) -> None:
    program = FILLED.format(setter=SETTER, default=default, parse=f"{parse}\nset_policy({use})")
    assert half(program) is expected


def test_a_parameter_that_is_parsed() -> None:
    main = "import draccus\n\n@draccus.wrap()\ndef main(config: Config):\n    set_policy(config.precision.policy)\n\nmain()"
    assert half(FILLED.format(setter=SETTER, default="'mixed_float16'", parse=main))


def test_whoever_passes_an_argument_goes_first() -> None:
    program = CLICK.format(
        setter=SETTER, options="@click.option('--x', default='mixed_float16')", parameters="x", use=SET
    ).replace("    main()\n", "    main(x='float32')\n")
    assert policies(program) == {"float32"}


def test_subcommands_of_argparse() -> None:
    program = f"""
import argparse
{SETTER}

def train(args):
    set_policy(args.x)


parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
training = commands.add_parser("train")
training.add_argument("--x", choices=["float32", "mixed_float16"], default="float32")
training.set_defaults(run=train)
commands.add_parser("score").set_defaults(run=print)
args = parser.parse_args()
never = 1 if args.command == "export" else 2
args.run(args)
"""
    found = policies_with("never", program)
    assert {policy for policy, _ in found} == {"float32", "mixed_float16"}, "each command has a world of its own"
    assert {never for _, never in found} == {2}


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("parser.set_defaults(x='mixed_float16')\nparser.add_argument('--x')", True),
        ("parser.set_defaults(x='mixed_float16')\nparser.add_argument('--x', default='float32')", False),
        ("parser.add_argument('--x', default='float32')\nparser.set_defaults(x='mixed_float16')", True),
        (
            "parser.add_argument('--half', dest='x', action='store_const', const='mixed_float16', default='float32')\n"
            "parser.add_argument('--full', dest='x', action='store_const', const='float32', default='float32')",
            True,
        ),
    ],
)
def test_several_statements_about_one_option(statements: str, expected: bool) -> None:
    program = (
        f"import argparse\n{SETTER}parser = argparse.ArgumentParser()\n{statements}\nx = parser.parse_args().x\n{SET}"
    )
    assert half(program) is expected


@pytest.mark.parametrize(("call", "expected"), [("add_options(parser)", True), ("add_options()", False)])
def test_what_a_parser_is_given_to_may_add_options(call: str, expected: bool) -> None:
    program = (
        f"import argparse\nfrom options import add_options\n{SETTER}parser = argparse.ArgumentParser()\n{call}\n"
        f"x = getattr(parser.parse_args(), 'x', False)\n{SWITCH}"
    )
    assert half(program) is expected


@pytest.mark.parametrize(
    ("namespace", "expected"), [("x='mixed_float16'", True), ("x='float32'", False), ("**{'x': 'mixed_float16'}", True)]
)
def test_a_namespace_that_the_program_makes(namespace: str, expected: bool) -> None:
    program = f"import argparse\n{SETTER}args = argparse.Namespace({namespace})\nset_policy(args.x)"
    assert half(program) is expected


def test_options_of_a_parent() -> None:
    program = f"""
import argparse
{SETTER}
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--x", choices=["float32", "mixed_float16"], default="float32")
args = argparse.ArgumentParser(parents=[common]).parse_args()
set_policy(vars(args).get("x", "float32"))
"""
    assert half(program)
