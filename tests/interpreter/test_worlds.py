"""How many worlds a program has: one for each way in which what matters may be, and no more."""

from __future__ import annotations

import textwrap

import pytest

from tests.interpreter.programs import worlds

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


def policies(source: str, **files: str) -> list[set[str | None]]:
    """The global policies that are possible at the end of each world of a program."""
    _, found = worlds(main=PRELUDE + textwrap.dedent(source), **files)
    return [{policy.name for policy in world.policies} for world in found]


def test_a_policy_that_nothing_depends_on_makes_no_worlds() -> None:
    """Not even where other things go on behind it, or another condition stands around it."""
    both = [{"float32", "mixed_float16"}]
    assert policies(SETTING) == both
    assert policies(f"{SETTING}\nrows = [int(word) for word in sys.argv]\nif rows:\n    print(rows)") == both
    around = f"if len(sys.argv) > 3:\n{textwrap.indent(SETTING, '    ')}"
    assert policies(around) == both
    assert policies(f"def set_up():{textwrap.indent(SETTING, '    ')}\nset_up()") == both


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
    found = policies(f"{SETTING}\n{dependent}", helper="from keras import layers\nlayers.Dense(1)")
    assert len(found) == 2
    assert all(len(possible) == 1 for possible in found)


def test_what_goes_with_the_policy_stays_with_it() -> None:
    """Branches that do more than to set it, or give something else, are not joined."""
    assert (
        len(policies("scale = 1\nif amp:\n    mixed_precision.set_global_policy('mixed_float16')\n    scale = 2")) == 2
    )
    chosen = """
    def choose():
        if amp:
            mixed_precision.set_global_policy("mixed_float16")
            return 1
        return 2
    scale = choose()
    """
    assert len(policies(chosen)) == 2


def test_a_policy_that_is_set_now_and_then() -> None:
    """In a loop that may not be run, too, what is made behind it is made in a world for each outcome."""
    loop = "for word in sys.argv:\n    if amp:\n        mixed_precision.set_global_policy('mixed_float16')\n"
    assert len(policies(f"{loop}layers.Dense(1)")) == 2
