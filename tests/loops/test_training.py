"""Training loops that are wrong in one way: what real Keras makes of them, and of what `--fix` makes of them."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from contextlib import closing

import pytest

from mplint.keras_api.optimizers import LOSS_SCALE, SPOKEN_OF, has_member
from tests.loops.judge import Keras, Trained, codes, disagreements, fix_text
from tests.loops.variants import OPTIMIZERS, VARIANTS, Failure, Variant, right
from tests.loops.writing import FAULTS, write

GENERATIONS = ("2", "3")
NOISE = 0.03
"""Accuracy that two right runs may differ in."""


@pytest.mark.parametrize("generation", GENERATIONS)
def test_loops_are_python_and_what_is_wrong_is_another_program(generation: str) -> None:
    for seed in range(40):
        for fault in FAULTS[generation]:
            loop = write(generation, seed, fault)
            ast.parse(loop.source)
            assert loop.source != loop.right, loop.id


@pytest.mark.parametrize("generation", GENERATIONS)
def test_mplint_says_what_is_wrong_with_each_and_nothing_of_right_ones(generation: str) -> None:
    wrong = []
    for seed in range(24):
        for fault in (None, *FAULTS[generation]):
            loop = write(generation, seed, fault)
            said = set(codes(loop.generation, loop.source))
            if said != ({fault} if fault else set()):
                wrong.append(f"{loop.id}: {sorted(said)}")
    assert not wrong


def shows(kind: Failure | None, found: Trained, right: Trained) -> bool:
    """Whether a fault shows in the way that was measured."""
    if kind == "raises" or found.error is not None:
        return kind == "raises" and found.error is not None
    way = found.way / right.way
    match kind:
        case "stalls":
            return way < 0.01
        case "diverges":
            return not math.isfinite(way) or way > 10
        case "reports":
            return not found.reports_as(right)
        case "slows":
            return way < 0.97 or (found.score or 0.0) < (right.score or 0.0) - 0.1
        case None:
            return found.distance(right) < 0.5


@pytest.fixture(scope="module", params=GENERATIONS)
def keras(request: pytest.FixtureRequest) -> Iterator[tuple[str, Keras]]:
    with closing(Keras(request.param)) as process:
        yield request.param, process


def _rewritten(variant: Variant, kind: str, keras: Keras, base: Trained) -> Iterator[str]:
    text = fix_text(variant.generation, variant.source(kind))
    healed = keras.train(text)
    where = f"{variant.generation} {variant.name} {kind}"
    if healed.error is not None or healed.score is None or base.score is None:
        yield f"{where}: the rewritten one raises {healed.error}\n{text}"
    elif healed.score < base.score - NOISE:
        yield f"{where}: the rewritten one reaches {healed.score}, the right one {base.score}\n{text}"
    elif variant.shows[kind] == "reports" and not healed.reports_as(base):
        yield f"{where}: the rewritten one still reports {healed.history[0]}"
    if left := codes(variant.generation, text):
        yield f"{where}: {left} is left\n{text}"


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.xdist_group("loops")
def test_each_fault_shows_as_measured_and_its_rewrite_trains_as_float32(keras: tuple[str, Keras]) -> None:
    generation, process = keras
    base = {kind: process.train(right(generation, kind), "float32") for kind in OPTIMIZERS}
    wrong = []
    for kind, one in base.items():
        mixed = process.train(right(generation, kind))
        if mixed.error is not None or mixed.distance(one) > 0.05:
            wrong.append(f"{generation} {kind}: the right one does not train as in float32: {mixed.error}")
    for variant in VARIANTS:
        for kind in variant.shows if variant.generation == generation else ():
            source = variant.source(kind)
            if set(codes(generation, source)) != {variant.code}:
                wrong.append(f"{generation} {variant.name} {kind}: {codes(generation, source)} is said")
            if not shows(variant.shows[kind], process.train(source), base[kind]):
                wrong.append(f"{generation} {variant.name} {kind}: does not show")
            wrong += _rewritten(variant, kind, process, base[kind])
    assert not wrong, "\n".join(wrong)


HAS = """
import types
from tensorflow import keras

plain = keras.optimizers.SGD(0.1)
wrapper = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
history = [float(hasattr(one, name)) for one in (plain, wrapper) for name in NAMES]
start, model = [], types.SimpleNamespace(trainable_variables=[])
"""
LOSSES = """
import types
import tensorflow as tf
from tensorflow import keras

given = tf.zeros((2, 1)), tf.zeros((2, 1), "float16")
loss = keras.losses.MeanSquaredError()(*given)
history = [float(tf.as_dtype(loss.dtype) == tf.float32)]
start, model = [], types.SimpleNamespace(trainable_variables=[])
"""


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.xdist_group("loops")
def test_optimizers_have_what_the_table_says(keras: tuple[str, Keras]) -> None:
    generation, process = keras
    names = sorted(SPOKEN_OF)
    found = process.train(HAS.replace("NAMES", repr(names)))
    assert found.error is None
    there = iter(found.history)
    for path in ("keras.optimizers.SGD", LOSS_SCALE):
        for name in names:
            expected = has_member(path, name, generation)
            assert expected in (None, bool(next(there))), (path, name)


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.xdist_group("loops")
def test_a_loss_is_float32_in_keras_3_and_as_the_predictions_in_keras_2(keras: tuple[str, Keras]) -> None:
    generation, process = keras
    found = process.train(LOSSES)
    assert found.error is None
    assert found.history == [float(generation == "3")]


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.xdist_group("loops")
def test_keras_agrees_on_random_loops(keras: tuple[str, Keras]) -> None:
    generation, process = keras
    wrong = []
    for seed, fault in enumerate((None, None, *FAULTS[generation])):
        loop = write(generation, 500 + seed, fault)
        wrong += [f"{loop.id}: {text}" for text in disagreements(loop, process)]
    assert not wrong, "\n".join(wrong)
