"""Which policies a program may run under, where conditions decide that nobody knows."""

from __future__ import annotations

import pytest

from tests.interpreter.programs import ROOT, plain, worlds

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
    assert {world.policy.name for world in found} == expected


def test_a_condition_that_is_asked_twice_has_one_outcome() -> None:
    source = (
        "try:\n    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()\nexcept ValueError:\n    tpu = None\n"
        "if tpu:\n    keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
        "dtype = 'bfloat16' if tpu else 'float32'\n"
    )
    program, found = worlds("2", main=_HEAD + source)
    frame = program.module_frame(ROOT / "main.py")
    together = {(world.policy.name, plain(world, dict(world.bindings(frame))["dtype"])) for world in found}
    assert together == {("mixed_bfloat16", "bfloat16"), ("float32", "float32")}
