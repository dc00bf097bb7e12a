"""The worlds of a program: one for each way in which what matters may be, and no more."""

from __future__ import annotations

import textwrap

import pytest

from mplint.interpreter.trace import ScopeEntered, ScopeLeft
from tests.interpreter.programs import ROOT, half, plain, policies, policies_with, worlds

_HEAD = "import os, sys, tensorflow as tf\nfrom tensorflow import keras\n"
_TAIL = "\nkeras.mixed_precision.set_global_policy(policy)\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("policy = os.environ.get('P') or 'mixed_float16'", {None, "mixed_float16"}),
        ("policy = os.environ.get('A') == '1' and 'mixed_float16' or 'float32'", {"mixed_float16", "float32"}),
        ("policy = sys.argv[1] if len(sys.argv) > 1 else 'mixed_float16'", {None, "mixed_float16"}),
        (
            "def name(given=None):\n    return given or 'mixed_float16'\n"
            "policy = name(sys.argv[1] if len(sys.argv) > 1 else None)",
            {None, "mixed_float16"},
        ),
        (
            "def found():\n    if os.environ.get('X'):\n        return os.environ['X']\n    return None\n"
            "there = found()\npolicy = 'mixed_bfloat16' if there else 'mixed_float16'",
            {"mixed_bfloat16", "mixed_float16"},
        ),
        (
            "try:\n    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()\nexcept ValueError:\n    tpu = None\n"
            "policy = 'mixed_bfloat16' if tpu else 'mixed_float16'",
            {"mixed_bfloat16", "mixed_float16"},
        ),
    ],
)
def test_policies(source: str, expected: set[str | None]) -> None:
    _, found = worlds("2", main=_HEAD + source + _TAIL)
    assert {policy.name for world in found for policy in world.policies} == expected


def test_a_condition_that_is_asked_twice_has_one_outcome() -> None:
    source = (
        "try:\n    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()\nexcept ValueError:\n    tpu = None\n"
        "if tpu:\n    keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
        "dtype = 'bfloat16' if tpu else 'float32'\n"
    )
    program, found = worlds("2", main=_HEAD + source)
    frame = program.module_frame(ROOT / "main.py")
    together = {(world.policies[0].name, plain(world, dict(world.bindings(frame))["dtype"])) for world in found}
    assert together == {("mixed_bfloat16", "bfloat16"), ("float32", "float32")}


PRELUDE = """
import sys
import keras
from keras import layers, mixed_precision
amp = "--amp" in sys.argv
"""
SETTING = """
if amp:
    mixed_precision.set_global_policy("mixed_float16")
"""


def possible(source: str, **files: str) -> list[set[str | None]]:
    """The global policies that are possible at the end of each world of a program."""
    _, found = worlds(main=PRELUDE + textwrap.dedent(source), **files)
    return [{policy.name for policy in world.policies} for world in found]


def test_a_policy_that_nothing_depends_on_makes_no_worlds() -> None:
    """Not even where other things go on behind it, or another condition stands around it."""
    both = [{"float32", "mixed_float16"}]
    assert possible(SETTING) == both
    assert possible(f"{SETTING}\nrows = [int(word) for word in sys.argv]\nif rows:\n    print(rows)") == both
    around = f"if len(sys.argv) > 3:\n{textwrap.indent(SETTING, '    ')}"
    assert possible(around) == both
    assert possible(f"def set_up():{textwrap.indent(SETTING, '    ')}\nset_up()") == both


@pytest.mark.parametrize(
    "dependent",
    [
        "layers.Dense(1)",
        "print(mixed_precision.global_policy().name)",
        "if amp:\n    print('half')",
        "keras.backend.clear_session()",
        "import helper",
    ],
)
def test_what_depends_on_the_policy_makes_a_world_for_each(dependent: str) -> None:
    """A layer, a question, the condition that decided on it, or a module that asks."""
    found = possible(f"{SETTING}\n{dependent}", helper="from keras import layers\nlayers.Dense(1)")
    assert len(found) == 2
    assert all(len(ending) == 1 for ending in found)


def test_what_goes_with_the_policy_stays_with_it() -> None:
    """Branches that do more than to set it, or give something else, are not joined."""
    assert (
        len(possible("scale = 1\nif amp:\n    mixed_precision.set_global_policy('mixed_float16')\n    scale = 2")) == 2
    )
    chosen = """
    def choose():
        if amp:
            mixed_precision.set_global_policy("mixed_float16")
            return 1
        return 2
    scale = choose()
    """
    assert len(possible(chosen)) == 2


def test_a_policy_that_is_set_now_and_then() -> None:
    """In a loop that may not be run, too, what is made behind it is made in a world for each outcome."""
    loop = "for word in sys.argv:\n    if amp:\n        mixed_precision.set_global_policy('mixed_float16')\n"
    assert len(possible(f"{loop}layers.Dense(1)")) == 2


KINDS = """
class Exact:
    policy = "float32"
    def asked(self): return self.policy
    def set_up(self): pass
    def made(self): return "a plain head"

class Fast(Exact):
    policy = "mixed_float16"
    def set_up(self): mixed_precision.set_global_policy("mixed_float16")
    def made(self): return "a head in float32"

def made_for(name):
    if name == "fast":
        return Fast()
    return Exact()
"""


@pytest.mark.parametrize(
    "chosen",
    [
        "(Fast if amp else Exact)()",
        "Fast() if amp else Exact()",
        "(Exact(), Fast())[amp]",
        "{True: Fast, False: Exact}[amp]()",
        "{'exact': Exact, 'fast': Fast}[sys.argv[1]]()",
        "{'exact': Exact(), 'fast': Fast()}[sys.argv[1]]",
        "made_for(sys.argv[1])",
    ],
)
@pytest.mark.parametrize(
    "setting",
    [
        "mixed_precision.set_global_policy(kind.policy)",
        "mixed_precision.set_global_policy(kind.asked())",
        "kind.set_up()",
    ],
)
def test_one_of_several_objects_is_the_same_for_its_policy_and_for_what_it_makes(chosen: str, setting: str) -> None:
    source = f"{PRELUDE}{KINDS}kind = {chosen}\n{setting}\nmade = kind.made()\n"
    assert policies_with("made", source) == {("float32", "a plain head"), ("mixed_float16", "a head in float32")}


def test_the_module_that_is_imported_is_the_same_for_its_policy_and_for_what_it_makes() -> None:
    source = (
        f"{PRELUDE}import importlib\nkind = importlib.import_module('as_' + sys.argv[1])\n"
        "mixed_precision.set_global_policy(kind.POLICY)\nmade = kind.made()\n"
    )
    files = {
        "as_exact": "POLICY = 'float32'\ndef made(): return 'a plain head'\n",
        "as_fast": "POLICY = 'mixed_float16'\ndef made(): return 'a head in float32'\n",
    }
    expected = {("float32", "a plain head"), ("mixed_float16", "a head in float32")}
    assert policies_with("made", source, **files) == expected


@pytest.mark.parametrize(
    "chosen",
    [
        "kind = Fast() if amp else Exact()",
        "kind = Exact() if not amp else Fast()",
        "if amp:\n    kind = Fast()\nelse:\n    kind = Exact()",
        "kind = made_for_option()",
    ],
)
@pytest.mark.parametrize(
    "setting", ["mixed_precision.set_global_policy(kind.policy)", "mixed_precision.set_global_policy(kind.asked())"]
)
def test_one_of_two_objects_goes_with_the_condition_that_chose_it(chosen: str, setting: str) -> None:
    function = "def made_for_option():\n    if amp:\n        return Fast()\n    return Exact()\n"
    source = f"{PRELUDE}{KINDS}{function}{chosen}\n{setting}\nmade = 'cast' if amp else 'plain'\n"
    assert policies_with("made", source) == {("float32", "plain"), ("mixed_float16", "cast")}


def test_objects_that_two_conditions_choose_go_with_neither() -> None:
    source = (
        f"{PRELUDE}{KINDS}fast, exact, other = Fast(), Exact(), '--other' in sys.argv\n"
        "kind = fast if amp else exact\nsecond = fast if other else exact\n"
        "mixed_precision.set_global_policy(kind.policy)\nmade = 'cast' if other else 'plain'\n"
    )
    program, found = worlds("3", main=source)
    frame = program.module_frame(ROOT / "main.py")
    half = [world for world in found if world.policies[0].name == "mixed_float16"]
    made = [str(plain(world, dict(world.bindings(frame))["made"])) for world in half]
    assert any("plain" in each for each in made)
    assert any("cast" in each for each in made)


@pytest.mark.parametrize(
    "table", ["(plain, cast)[amp]", "[plain, cast][amp]", "{False: plain, True: cast}[amp]", "(cast, plain)[not amp]"]
)
def test_what_a_condition_takes_out_of_a_table_stays_with_it(table: str) -> None:
    functions = "def plain(): return 'a plain head'\ndef cast(): return 'a head in float32'\n"
    source = f"{PRELUDE}{functions}{SETTING}layers.Dense(1)\nmade = {table}()\n"
    assert policies_with("made", source) == {("float32", "a plain head"), ("mixed_float16", "a head in float32")}


@pytest.mark.parametrize("put", ["stack.callback(mixed_precision.set_global_policy, 'float32')", "stack.push(back)"])
def test_what_is_put_on_a_stack_of_exits_may_put_the_policy_back(put: str) -> None:
    within = f"    {put}\n    mixed_precision.set_global_policy('mixed_float16')\n"
    source = f"{PRELUDE}import contextlib\nwith contextlib.ExitStack() as stack:\n{within}"
    assert "mixed_float16" not in {policy.name for world in worlds("3", main=source)[1] for policy in world.policies}


@pytest.mark.parametrize(
    "guard",
    [
        "if amp and plain:\n    raise SystemExit('a float32 head, please')",
        "if amp and plain:\n    sys.exit(2)\nelse:\n    pass",
        "if not amp or not plain:\n    pass\nelse:\n    raise ValueError",
        "assert not (amp and plain), 'a float32 head, please'",
    ],
)
def test_options_that_exclude_each_other(guard: str) -> None:
    """Behind a branch that leaves, and behind an assertion, the condition is known."""
    source = (
        f"{PRELUDE}plain = '--plain' in sys.argv\n{guard}\nhead = 'float32'\n"
        "if amp:\n    mixed_precision.set_global_policy('mixed_float16')\n    if plain:\n        head = 'plain'\n"
    )
    assert {head for _, head in policies_with("head", source)} == {"float32"}
    assert policies(source) == {"mixed_float16", "float32"}


def test_behind_a_case_that_leaves_its_question_is_answered() -> None:
    source = (
        f"{PRELUDE}mode = sys.argv[1]\nmatch mode:\n    case 'half':\n        raise SystemExit\nhead = 'float32'\n"
        "if mode == 'half':\n    head = 'half'\n"
    )
    assert policies_with("head", source) == {("float32", "float32")}


def disagree(first: str, again: str) -> bool:
    """Whether a world has half precision, by the first question, and the other answer to the second."""
    source = (
        f"{PRELUDE}import glob, os\ntry:\n    import apex\nexcept ImportError:\n    apex = None\n"
        "found = glob.glob('*')\ncount = len(found)\nnumber = int(os.environ['N'])\nhead = 'fine'\n"
        f"if {first}:\n    mixed_precision.set_global_policy('mixed_float16')\nif not ({again}):\n    head = 'unlike'\n"
        "layers.Dense(1)\n"
    )
    program, found = worlds("3", main=source)
    frame = program.module_frame(ROOT / "main.py")
    half = [world for world in found if "mixed_float16" in {policy.name for policy in world.policies}]
    assert half
    return any("unlike" in str(plain(world, dict(world.bindings(frame))["head"])) for world in half)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("found", "len(found) > 0"),
        ("found", "0 != len(found)"),
        ("len(found)", "bool(found)"),
        ("count", "1 <= count"),
        ("not len(found) == 0", "found"),
        ("len(found) > 1", "len(found) > 1 and found"),
        ("found and len(found) >= 2", "2 <= len(found)"),
        ("amp and found", "all([amp, found])"),
        ("any((amp, found))", "amp or found"),
        ("count >= 2", "not count < 2"),
        ("2 > count", "not 1 < count"),
        ("number > 1", "number"),
        ("number <= 1", "not (number > 1)"),
        ("amp is True", "amp"),
        ("not amp", "amp is False"),
        ("found", "found is not None"),
        ("os.environ.get('X')", "'X' in os.environ"),
        ("os.environ.get('X') == '1'", "not 'X' not in os.environ"),
        ("os.environ.get('X') == '1'", "os.environ.get('X') is not None"),
        ("apex", "apex is not None"),
        ("not (number is None or found)", "number is not None"),
        ("amp and os.environ.get('X') is None", "not os.environ.get('X')"),
        ("any(word in sys.argv for word in ('--amp', '--half'))", "'--amp' in sys.argv or '--half' in sys.argv"),
    ],
)
def test_a_question_that_is_asked_in_two_ways_has_one_answer(first: str, again: str) -> None:
    assert not disagree(first, again)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("found", "len(found) > 1"),
        ("len(found) > 1", "len(found) > 2"),
        ("any([amp, found])", "all([amp, found])"),
        ("found is not None", "found"),
        ("len(found) < 2", "not found"),
    ],
)
def test_questions_that_are_like_each_other_have_answers_of_their_own(first: str, again: str) -> None:
    assert disagree(first, again)


OPTIONS = """
import argparse, sys
import keras
from keras import mixed_precision
parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--raw", action="store_true")
parser.add_argument("--name", default="float32")
"""
FOLLOWS = """
if args.amp:
    mixed_precision.set_global_policy("mixed_float16")
head = "half" if args.raw and keras.mixed_precision.global_policy().name == "mixed_float16" else "fine"
"""


@pytest.mark.parametrize(
    "settled",
    [
        "args = parser.parse_args()\nif args.raw:\n    args.amp = False",
        "args = parser.parse_args()\nargs.amp = args.amp and not args.raw",
        "args = parser.parse_args()\nargs.amp = False if args.raw else args.amp",
        "def settle(a):\n    if a.raw:\n        return False\n    return a.amp\n\n"
        "args = parser.parse_args()\nargs.amp = settle(args)",
        "def check(a):\n    if a.raw and a.amp:\n        sys.exit('either')\n\nargs = parser.parse_args()\ncheck(args)",
        "def check(a):\n    if a.raw:\n        if a.amp:\n            parser.error('one of them')\n\n"
        "args = parser.parse_args()\nassert not (args.raw and args.amp)\ncheck(args)",
        "def parse():\n    args = parser.parse_args()\n    if args.raw and args.amp:\n        raise ValueError\n"
        "    return args\n\nargs = parse()",
        "def parse():\n    return parser.parse_args()\n\ngroup = parser.add_mutually_exclusive_group()\n"
        "group.add_argument('--amp', action='store_true')\ngroup.add_argument('--raw', action='store_true')\n"
        "args = parse()",
    ],
)
def test_an_option_that_another_switches_off(settled: str) -> None:
    made = {head for _, head in policies_with("head", f"{OPTIONS}{settled}\n{FOLLOWS}")}
    assert made == {"fine"}
    assert half(f"{OPTIONS}{settled}\n{FOLLOWS}")


@pytest.mark.parametrize(
    "loose",
    [
        "args = parser.parse_args()",
        "def check(a):\n    if a.raw and a.amp:\n        print('both')\n\nargs = parser.parse_args()\ncheck(args)",
        "def check(a):\n    if a.raw and a.amp:\n        sys.exit()\n\nargs = parser.parse_args()\n"
        "if args.name:\n    check(args)",
        "def check(a):\n    if a.raw and a.amp:\n        sys.exit()\n    return True\n\nargs = parser.parse_args()\n"
        "args.name == 'x' and check(args)",
        "def check(a):\n    if a.raw and a.amp:\n        sys.exit()\n\nargs = parser.parse_args()\n"
        "try:\n    check(args)\nexcept SystemExit:\n    pass",
        "group = parser.add_argument_group()\ngroup.add_argument('--amp', action='store_true')\n"
        "group.add_argument('--raw', action='store_true')\nargs = parser.parse_args()",
        "group = parser.add_mutually_exclusive_group()\ngroup.add_argument('--raw', action='store_true')\n"
        "group.add_argument('--amp', action='store_true', default=True)\nargs = parser.parse_args()",
        "group = parser.add_mutually_exclusive_group()\ngroup.add_argument('--raw', action='store_true')\n"
        "group.add_argument('--amp', action='store_true')\nparser.set_defaults(amp=True)\nargs = parser.parse_args()",
    ],
)
def test_options_that_may_be_given_together(loose: str) -> None:
    program, found = worlds(main=f"{OPTIONS}{loose}\n{FOLLOWS}")
    frame = program.module_frame(ROOT / "main.py")
    assert any("half" in str(plain(world, dict(world.bindings(frame))["head"])) for world in found)


@pytest.mark.parametrize(
    "wants",
    [
        "return any(word in name for word in ('half', '16'))",
        "try:\n        return int(name) == 16\n    except ValueError:\n        return False",
        "if name in ('half', 'fp16'):\n        return True\n    return False",
        "if name is None:\n        return False\n    return name.endswith('16')",
    ],
)
def test_a_question_that_is_asked_in_a_function_has_one_answer(wants: str) -> None:
    source = (
        f"{OPTIONS}\ndef wants(name):\n    {wants}\n\nargs = parser.parse_args()\nhead = 'half'\n"
        "if wants(args.name):\n    mixed_precision.set_global_policy('mixed_float16')\n"
        "if wants(args.name):\n    head = 'float32'\n"
        "met = (keras.mixed_precision.global_policy().name, head)\n"
    )
    assert {met for _, met in policies_with("met", source)} == {("mixed_float16", "float32"), ("float32", "half")}


@pytest.mark.parametrize(
    ("options", "is_sure"),
    [
        ({"amp": "", "raw": ""}, True),
        ({"amp": "", "raw": "", "full": ""}, True),
        ({"amp": "", "raw": "", **dict.fromkeys("abcdef", "")}, False),
        ({"amp": "", "raw": ", default=True"}, False),
    ],
)
def test_one_option_of_a_group_is_given_where_all_are_known(options: dict[str, str], is_sure: bool) -> None:
    added = "".join(f"group.add_argument('--{name}', action='store_true'{more})\n" for name, more in options.items())
    source = (
        f"{OPTIONS}group = parser.add_mutually_exclusive_group(required=True)\n{added}args = parser.parse_args()\n"
        f"if not ({' or '.join(f'args.{name}' for name in list(options)[:6])}):\n"
        "    mixed_precision.set_global_policy('mixed_float16')\n"
    )
    assert half(source) is not is_sure


MANAGER = """
import contextlib
@contextlib.contextmanager
def precision(name):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)

class Precision:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        self.before = keras.config.dtype_policy()
        keras.config.set_dtype_policy(self.name)
    def __exit__(self, *error):
        keras.config.set_dtype_policy(self.before)
"""


@pytest.mark.parametrize(
    ("entered", "expected"),
    [
        ("stack.enter_context(precision('mixed_float16'))", "float32"),
        ("stack.enter_context(Precision('mixed_float16'))", "float32"),
        (
            "stack.callback(keras.config.set_dtype_policy, 'float32')\n    Precision('mixed_float16').__enter__()",
            "float32",
        ),
    ],
)
def test_what_is_entered_on_a_stack_holds_until_it_is_left(entered: str, expected: str) -> None:
    source = (
        f"{PRELUDE}{MANAGER}with contextlib.ExitStack() as stack:\n    {entered}\n"
        "    inside = keras.config.dtype_policy().name\noutside = keras.config.dtype_policy().name\n"
    )
    (held,) = {inside for _, inside in policies_with("inside", source)}
    (left,) = {outside for _, outside in policies_with("outside", source)}
    assert (held, left) == ("mixed_float16", expected)


def test_a_stack_is_closed_by_hand() -> None:
    source = (
        f"{PRELUDE}{MANAGER}stack = contextlib.ExitStack()\nstack.enter_context(precision('mixed_float16'))\n"
        "inside = keras.config.dtype_policy().name\nstack.close()\n"
    )
    assert policies_with("inside", source) == {("float32", "mixed_float16")}


@pytest.mark.parametrize(
    "left",
    [
        "def job():\n    with Precision('mixed_float16'):\n        return 1\n\njob()",
        "for _ in range(2):\n    with Precision('mixed_float16'):\n        break",
        "for _ in range(2):\n    with Precision('mixed_float16'):\n        continue",
        "try:\n    with contextlib.ExitStack() as stack:\n        stack.enter_context(Precision('mixed_float16'))\n"
        "        raise ValueError\nexcept ValueError:\n    pass",
        "def job():\n    with contextlib.ExitStack() as stack:\n"
        "        stack.enter_context(Precision('mixed_float16'))\n        return 1\n\njob()",
        "with contextlib.ExitStack() as outer:\n    inner = outer.enter_context(contextlib.ExitStack())\n"
        "    inner.enter_context(Precision('mixed_float16'))",
        "stack = contextlib.ExitStack()\nstack.enter_context(Precision('mixed_float16'))\nstack.pop_all().close()",
    ],
)
def test_whatever_way_a_context_is_left_it_ends(left: str) -> None:
    source = f"{PRELUDE}{MANAGER}{left}\noutside = keras.config.dtype_policy().name\n"
    assert policies_with("outside", source) == {("float32", "float32")}


HALF = "keras.config.set_dtype_policy('mixed_float16')"


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (f"with stack:\n    stack.push(lambda *error: {HALF})", "mixed_float16"),
        (f"with stack:\n    stack.enter_context(nothing())\n    {HALF}", "mixed_float16"),
        (f"with stack:\n    stack.enter_context(unseen)\n    {HALF}", "mixed_float16"),
        ("with stack:\n    stack.push(unseen)", "float32"),
        ("stack.push(unseen)\nstack.pop_all().close()", "float32"),
        (f"stack.enter_context(full)\nstack.close()\n{HALF}\nstack.close()", "mixed_float16"),
        (f"stack.enter_context(full)\n{HALF}\nstack.pop_all()\nstack.close()", "mixed_float16"),
    ],
)
def test_what_a_stack_does_when_it_is_left(done: str, expected: str) -> None:
    source = (
        f"{PRELUDE}{MANAGER}@contextlib.contextmanager\ndef nothing():\n    yield\n\n"
        f"full, unseen = Precision('float32'), sys.modules['other'].given\n"
        f"stack = contextlib.ExitStack()\n{done}\noutside = keras.config.dtype_policy().name\n"
    )
    assert (expected, expected) in policies_with("outside", source)
    assert {name for name, _ in policies_with("outside", source)} <= {expected, "float32"}


def test_a_stack_puts_back_what_a_condition_decides() -> None:
    source = (
        f"{PRELUDE}{MANAGER}@contextlib.contextmanager\ndef half():\n    {HALF}\n    yield\n    if amp:\n"
        "        mixed_precision.set_global_policy('float64')\n"
        "    else:\n        mixed_precision.set_global_policy('float32')\n\n"
        "stack = contextlib.ExitStack()\nstack.enter_context(half())\nstack.close()\n"
        "outside = keras.config.dtype_policy().name\n"
    )
    assert policies_with("outside", source) == {("float32", "float32"), ("float64", "float64")}


@pytest.mark.parametrize(
    "entered",
    [
        "with scope:\n    pass",
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(scope)",
    ],
)
def test_the_scope_of_a_strategy_ends(entered: str) -> None:
    source = f"{PRELUDE}{MANAGER}import tensorflow as tf\nscope = tf.distribute.TPUStrategy().scope()\n{entered}\n"
    kinds = [[type(event) for event in world.trace.events] for world in worlds("3", main=source)[1]]
    assert [ScopeEntered, ScopeLeft] in kinds


def test_a_context_manager_that_an_option_chooses() -> None:
    source = (
        f"{PRELUDE}{MANAGER}with precision('mixed_float16') if amp else contextlib.nullcontext():\n"
        "    inside = keras.config.dtype_policy().name\n"
    )
    assert {inside for _, inside in policies_with("inside", source)} == {"mixed_float16", "float32"}


@pytest.mark.parametrize(
    "given",
    [
        "net('float32' if amp else None)",
        "net(**given)",
        "net(chosen(amp))",
    ],
)
def test_a_dtype_that_is_named_or_not(given: str) -> None:
    source = (
        f"{PRELUDE}\ndef chosen(flag):\n    if flag:\n        return 'float32'\n\n"
        "def net(dtype=None):\n    return layers.Dense(1, dtype=dtype).compute_dtype\n\n"
        "mixed_precision.set_global_policy('mixed_float16')\n"
        f"given = {{}}\nif amp:\n    given['dtype'] = 'float32'\nmade = {given}\n"
    )
    assert {made for _, made in policies_with("made", source)} == {"float32", "float16"}
