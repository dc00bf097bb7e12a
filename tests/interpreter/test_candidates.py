"""What an unknown is likely to be, and that all that hangs on it stays together."""

from __future__ import annotations

import pytest

from tests.interpreter.programs import SETTER, half, policies, policies_with, variables

PARSER = """
import argparse
import enum
import os
from tensorflow import keras

NAMES = {"fp16": "mixed_float16", "fp32": "float32"}


class Precision(enum.Enum):
    FULL = "float32"
    HALF = "mixed_float16"


class Size(enum.Enum):
    FULL = enum.auto()
    HALF = enum.auto()


parser = argparse.ArgumentParser()
"""


@pytest.mark.parametrize(
    ("option", "policy"),
    [
        ("choices=['float32', 'mixed_float16'], default='float32'", "args.x"),
        ("default='float16'", "'mixed_' + args.x"),
        ("default='float16'", "f'mixed_{args.x}'"),
        ("default='float16'", "'mixed_{}'.format(args.x)"),
        ("default='float16'", "'mixed_%s' % args.x"),
        ("default='FLOAT16'", "f'mixed_{args.x.lower()}'"),
        ("default='fp16'", "NAMES[args.x]"),
        ("default='fp32'", "NAMES[args.x]"),
        ("", "NAMES.get(args.x, 'float32')"),
        ("type=int, default=32", "{16: 'mixed_float16', 32: 'float32'}[args.x]"),
        ("action='store_true'", "{True: 'mixed_float16', False: 'float32'}[args.x]"),
        ("action='store_true'", "('float32', 'mixed_float16')[args.x]"),
        ("action='store_const', const='mixed_float16', default='float32'", "args.x"),
        ("nargs='?', const='mixed_float16', default='float32'", "args.x"),
        ("type=Precision, default=Precision.FULL", "args.x.value"),
        ("type=Precision, choices=list(Precision)", "args.x.value"),
        ("type=Size, default=Size.FULL", "'mixed_float16' if args.x is Size.HALF else 'float32'"),
        ("choices=[one.value for one in Precision], default='float32'", "args.x"),
        ("default='FULL'", "Precision[args.x].value"),
        ("", "args.x or 'mixed_float16'"),
        ("", "keras.mixed_precision.Policy(args.x or 'mixed_float16')"),
        ("choices=['float32', 'mixed_float16']", "keras.mixed_precision.Policy(args.x)"),
        ("default=NAMES['fp16']", "args.x"),
        ("choices=['float32', os.environ['X']]", "'mixed_float16' if args.x == 'half' else 'float32'"),
    ],
)
def test_policies_that_an_option_names(option: str, policy: str) -> None:
    program = f"""{PARSER}
parser.add_argument("--x", {option})
args = parser.parse_args()
keras.mixed_precision.set_global_policy({policy})
"""
    assert "mixed_float16" in policies(program)


@pytest.mark.parametrize(
    ("option", "statement"),
    [
        ("choices=['float32', 'float64']", "set_policy(args.x)"),
        ("choices=['fp32', 'fp64']", "set_policy('mixed_float16' if args.x == 'fp16' else 'float32')"),
        ("choices=['fp32', 'fp64']", "set_policy('mixed_float16' if args.x in ('fp16', 'half') else 'float32')"),
        ("choices=['fp32', 'fp64']", "set_policy('mixed_float16' if args.x.startswith('half') else 'float32')"),
        ("choices=['full', 'double']", "set_policy('mixed_float16' if args.x.upper() == 'HALF' else 'float32')"),
        ("type=Precision, choices=[Precision.FULL]", "set_policy(args.x.value)"),
        ("choices=['fp32'], required=True", "set_policy(NAMES.get(args.x, 'mixed_float16'))"),
        ("default='float32'", "set_policy(args.x)"),
        ("", "set_policy(args.x)"),
        ("", "set_policy(args.x or 'float32')"),
        ("default='fp32'", "set_policy('float32' if args.x == 'fp16' else 'float64')"),
    ],
)
def test_options_that_name_no_half_precision(option: str, statement: str) -> None:
    program = f"""{PARSER}
parser.add_argument("--x", {option})
args = parser.parse_args()
set_policy = keras.mixed_precision.set_global_policy
{statement}
"""
    assert not half(program)


@pytest.mark.parametrize(
    "comparison",
    [
        "if args.x == 'mixed_float16': print('half')",
        "if args.x != 'mixed_float16': print('full')",
        "if args.x not in ('mixed_float16', 'float32'): print('full')",
        "assert args.x in ALLOWED",
        "match args.x:\n    case 'mixed_float16' | 'mixed_bfloat16':\n        print('half')",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_policies_that_comparisons_name(comparison: str, first: bool) -> None:
    setter = "keras.mixed_precision.set_global_policy(args.x)"
    statements = "\n".join([comparison, setter] if first else [setter, comparison])
    program = f"""{PARSER}
ALLOWED = {{"float32": 4, "mixed_float16": 2}}
parser.add_argument("--x")
args = parser.parse_args()
{statements}
"""
    assert "mixed_float16" in policies(program)


def test_a_part_of_a_name_that_a_comparison_gives() -> None:
    program = f"""{PARSER}
parser.add_argument("--x")
args = parser.parse_args()
keras.mixed_precision.set_global_policy(f"mixed_{{args.x}}")
rate = 0.1 if args.x == "float16" else 0.2
"""
    assert "mixed_float16" in policies(program)


@pytest.mark.parametrize(
    ("option", "setter", "condition"),
    [
        ("choices=['float32', 'mixed_float16'], required=True", "args.x", "args.x == 'mixed_float16'"),
        ("choices=['float32', 'mixed_float16'], required=True", "args.x", "args.x.startswith('mixed')"),
        ("choices=['float32', 'mixed_float16'], required=True", "args.x", "not (args.x == 'float32')"),
        ("choices=['float32', 'mixed_float16'], required=True", "args.x", "args.x != 'float32'"),
        ("choices=['float32', 'mixed_float16'], required=True", "args.x", "'float16' in args.x"),
        ("choices=['fp32', 'fp16'], required=True", "NAMES[args.x]", "args.x == 'fp16'"),
        ("choices=['fp32', 'fp16'], required=True", "NAMES[args.x]", "args.x in ('fp16', 'half')"),
        ("choices=['fp32', 'fp16'], required=True", "NAMES[args.x]", "NAMES[args.x] == 'mixed_float16'"),
        ("choices=['fp32', 'fp16'], required=True", "NAMES[args.x]", "args.x.upper() == 'FP16'"),
        ("default='fp32'", "NAMES[args.x]", "args.x == 'fp16'"),
        ("type=int", "{16: 'mixed_float16', 32: 'float32'}[args.x]", "args.x == 16"),
        ("action='store_true'", "{True: 'mixed_float16', False: 'float32'}[args.x]", "args.x"),
        ("action='store_true'", "'mixed_float16' if args.x else 'float32'", "bool(args.x)"),
        ("type=bool", "{True: 'mixed_float16', False: 'float32'}[args.x]", "args.x"),
        ("type=Precision, choices=list(Precision), required=True", "args.x.value", "args.x is Precision.HALF"),
        ("type=Precision, choices=list(Precision), required=True", "args.x.value", "args.x == Precision.HALF"),
        ("type=Precision, choices=list(Precision), required=True", "args.x.value", "args.x.name == 'HALF'"),
        ("type=Precision, choices=list(Precision), required=True", "args.x.value", "args.x is not Precision.FULL"),
    ],
)
def test_what_hangs_on_one_option_stays_together(option: str, setter: str, condition: str) -> None:
    program = f"""{PARSER}
parser.add_argument("--x", {option})
args = parser.parse_args()
policy = {setter}
keras.mixed_precision.set_global_policy(policy)
seen = "half" if {condition} else "full"
"""
    found = policies_with("seen", program)
    assert {pair for pair in found if pair[0] in ("mixed_float16", "float32")} == {
        ("mixed_float16", "half"),
        ("float32", "full"),
    }


def test_each_case_is_tried_where_those_before_did_not_match() -> None:
    program = f"""{PARSER}
parser.add_argument("--x")
args = parser.parse_args()
match args.x:
    case "fp16":
        name = "mixed_float16"
    case "bf16":
        name = "mixed_bfloat16"
    case _:
        name = "float32"
keras.mixed_precision.set_global_policy(name)
seen = 1 if args.x == "bf16" else 0
"""
    assert policies_with("seen", program) == {
        ("mixed_float16", 0),
        ("mixed_bfloat16", 1),
        ("float32", 0),
    }


def test_a_known_subject_takes_one_case() -> None:
    program = """
    kind = "b"
    match kind:
        case "a":
            found = 1
        case "b" | "c":
            found = 2
        case _:
            found = 3
    """
    assert variables(program)["found"] == 2


def test_a_registry_of_more_functions_than_alternatives_is_followed() -> None:
    functions = "".join(f"def f{i}(x):\n    return x\n" for i in range(8))
    registry = f"R = {{{', '.join(f'{i}: f{i}' for i in range(8))}}}\n"
    assert variables(f"import sys\n{functions}{registry}x = R[len(sys.argv)](1)\n")["x"] == 1


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("trial.suggest_categorical('policy', ['float32', 'mixed_float16'])", {"float32", "mixed_float16"}),
        (
            "trial.suggest_categorical(name='policy', choices=('float32', 'mixed_bfloat16'))",
            {"float32", "mixed_bfloat16"},
        ),
        ("trial.Choice('policy', values=['float32', 'mixed_float16'])", {"float32", "mixed_float16"}),
        ("'mixed_float16' if trial.Boolean('amp') else 'float32'", {"float32", "mixed_float16"}),
        (
            "'mixed_float16' if trial.suggest_categorical('amp', [True, False]) else 'float32'",
            {"float32", "mixed_float16"},
        ),
        ("trial.suggest_categorical(given, ['float32', 'mixed_float16'])", {None}),
        ("trial.suggest_categorical('policy', given)", {None}),
    ],
)
def test_what_a_tuner_is_told_to_choose_from(chosen: str, expected: set[str | None]) -> None:
    source = f"import optuna\n{SETTER}trial = optuna.trial()\nset_policy({chosen})"
    assert policies(source) == expected


def test_what_was_chosen_is_so_again() -> None:
    source = (
        "import optuna\nfrom tensorflow import keras\ntrial = optuna.trial()\n"
        "keras.mixed_precision.set_global_policy(trial.suggest_categorical('p', ['float32', 'mixed_float16']))\n"
        "head = 'plain' if trial.suggest_categorical('p', ['float32', 'mixed_float16']) == 'float32' else 'exact'\n"
    )
    assert policies_with("head", source) == {("float32", "plain"), ("mixed_float16", "exact")}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("os.environ.get('P') or args.name", "mixed_float16"),
        ("args.name or os.environ.get('P')", "mixed_float16"),
        ("args.name and os.environ.get('P')", None),
    ],
)
def test_one_or_another(policy: str, expected: str | None) -> None:
    source = (
        "import argparse, os\nfrom tensorflow import keras\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--name', default='mixed_float16')\nargs = parser.parse_args()\n"
        f"keras.mixed_precision.set_global_policy({policy})"
    )
    assert expected in policies(source)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("args.net", {2, 3}),
        ("args.some", {2}),
        ("sys.argv[1]", {2, 3, 4}),
        ("'build_' + sys.argv[1]", {4}),
    ],
)
def test_a_function_that_is_looked_up_in_a_module(name: str, known: set[int]) -> None:
    source = (
        "import argparse, sys\nimport zoo\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--net', choices=['small', 'big'])\nparser.add_argument('--some', default='small')\n"
        f"args = parser.parse_args()\nmade = getattr(zoo, {name})()\nsame = vars(zoo)[{name}]()\n"
    )
    zoo = "import os\ndef small(): return 2\ndef big(): return 3\ndef build_it(): return 4\ndef _own(): return 5\n"
    for variable in ("made", "same"):
        found = variables(source, zoo=zoo)[variable]
        assert found == (next(iter(known)) if len(known) == 1 else {"one of": sorted(known)})


def test_what_a_module_that_sets_policies_holds_is_not_tried() -> None:
    zoo = "from tensorflow import keras\ndef on():\n    keras.mixed_precision.set_global_policy('mixed_float16')\n"
    assert policies("import sys, zoo\ngetattr(zoo, sys.argv[1])()", zoo=zoo) == {"float32"}
