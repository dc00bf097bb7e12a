"""Looking into models: which layers they have, in which order, and what becomes of their ends."""

from __future__ import annotations

import textwrap

import pytest

from mplint.interpreter.predict import output_dtypes
from mplint.interpreter.values import Const, Instance, List
from mplint.interpreter.world import World
from tests.interpreter.programs import worlds

GENERATIONS = ("2", "3")
PRELUDE = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
i, j = keras.Input((4,)), keras.Input((4,))
a, b = layers.Dense(4, name="a")(i), layers.Dense(4, name="b")(i)
c = layers.Dense(4, name="c")(b)
"""


def run(body: str, generation: str = "3") -> World:
    _, (world,) = worlds(generation, main=PRELUDE + textwrap.dedent(body))
    return world


def names(world: World, variable: str) -> list[object]:
    """The names of the layers in a list; None of one without a name, "and more" where the list is not known."""
    held = dict(world.module_bindings(world.path))[variable]
    assert isinstance(held, List)
    items = world.machine.items(held)
    named = [world.machine.field(item.address, "name") if isinstance(item, Instance) else None for item in items.items]
    found: list[object] = [name.value if isinstance(name, Const) else None for name in named]
    return found if items.rest is None else [*found, "and more"]


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # as `[layer.name for layer in model.layers]` says in both generations
        ("keras.Model(i, [a, b])", [None, "a", "b"]),
        ("keras.Model(i, [b, a])", [None, "b", "a"]),
        ("keras.Model(i, layers.Add(name='s')([c, a]))", [None, "b", "c", "a", "s"]),
        ("keras.Model([i, j], a)", [None, None, "a"]),
        ("keras.Sequential([keras.Input((4,)), layers.Dense(3, name='d'), layers.Dense(3, name='e')])", ["d", "e"]),
    ],
)
def test_the_layers_of_a_model(model: str, expected: list[str | None], generation: str) -> None:
    assert names(run(f"found = {model}.layers", generation), "found") == expected


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_model_over_the_inside_of_another_has_no_layers_in_front_of_its_input(generation: str) -> None:
    world = run("found = keras.Model(b, layers.Dense(3, name='d')(c)).layers", generation)
    assert names(world, "found")[1:] == ["c", "d"]


def test_the_order_is_not_known_around_what_may_be_several_layers() -> None:
    world = run("found = keras.Model(i, layers.Add(name='s')([keras.activations.gelu(c), a])).layers", "2")
    assert names(world, "found") == ["and more"]


LOOKED_AT = "model = keras.Sequential([keras.Input((4,)), layers.Dense(3, name='d'), layers.Dense(3)])\n"


def test_looking_at_layers_does_not_use_the_model() -> None:
    world = run(f"{LOOKED_AT}for layer in model.layers:\n    layer.trainable = False\n")
    assert [end.dtype for end in world.model_ends()] == ["float16"]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_copy_is_judged_in_place_of_its_pattern(generation: str) -> None:
    world = run(f"{LOOKED_AT}copy = keras.models.clone_model(model)\n", generation)
    bindings = dict(world.module_bindings(world.path))
    assert [end.model.instance for end in world.model_ends()] == [bindings["copy"]]


def test_a_copy_by_a_function_of_the_program_is_not_known() -> None:
    copies = "copy = keras.models.clone_model(model, clone_function={})\n"
    known, unknown = (
        output_dtypes(PRELUDE + LOOKED_AT + copies.format(function), "3") for function in ("None", "changed")
    )
    assert known["copy"] == ["float16"]
    assert "copy" not in unknown
    assert not run(LOOKED_AT + copies.format("changed")).model_ends()


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(("layer", "expected"), [(-1, ["float32"]), (-2, ["float16", "float32"])])
def test_a_trained_model_that_another_goes_on_from(layer: int, expected: list[str], generation: str) -> None:
    """What it gives is no end any more where the other one takes just that."""
    world = run(
        f"""
        model = keras.Model(i, c)
        model.compile("sgd", "mse")
        longer = keras.Model(i, layers.Dense(3, dtype="float32")(model.layers[{layer}].output))
        """,
        generation,
    )
    assert [end.dtype for end in world.model_ends()] == expected
