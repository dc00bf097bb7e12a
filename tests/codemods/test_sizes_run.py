"""Programs whose sizes were rounded up are really built, and trained for a step."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixture_programs import Fixture, load_all

FACTORIES = {
    "filters-list-not-multiple-of-8": "encoder",
    "lstm-units-from-config-arithmetic": "tagger",
    "tpu-dims": "build_on_tpu",
    "vocab-not-padded": "seq2seq_decoder",
}
"""The functions that build the models, of programs that only define them."""
REWRITTEN = [
    fixture
    for fixture in load_all()
    if fixture.rule in ("MP601", "MP602", "MP603", "MP604") and fixture.is_bad and fixture.fixed_folder("3") is not None
]

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def policy_of_before() -> Iterator[None]:
    import keras

    yield
    keras.config.set_dtype_policy("float32")


def aligned(layer: Any, step: int) -> bool:
    """Whether the sizes of a hidden layer are multiples of `step`; one that is computed may be small."""
    sizes = [getattr(layer, name, 0) for name in ("units", "filters", "output_dim", "key_dim")]
    return all(not isinstance(size, int) or size < max(step, 16) or size % step == 0 for size in sizes)


@pytest.mark.usefixtures("policy_of_before")
@pytest.mark.parametrize("fixture", [pytest.param(fixture, id=fixture.name) for fixture in REWRITTEN])
def test_rewritten_models_train(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    import keras
    import numpy as np
    import tensorflow as tf

    monkeypatch.setattr("sys.argv", ["train.py"])
    folder = fixture.fixed_folder("3")
    assert folder is not None
    program = runpy.run_path(str(folder / "train.py"))
    if fixture.rule == "MP602" and "model" not in program:
        runpy.run_path(str(folder / "train.py"), run_name="__main__")  # which trains it
        return
    factory = FACTORIES.get(fixture.folder.name)
    arguments = [tf.distribute.get_strategy()] if factory == "build_on_tpu" else []
    model = program[factory](*arguments) if factory is not None else program["model"]
    step = 128 if fixture.rule == "MP603" else 8
    if fixture.rule != "MP602":
        assert all(aligned(layer, step) for layer in model.layers[:-2])
    if factory is not None:  # it does not train by itself
        given: list[Any] = [
            np.ones([2, *(size or 4 for size in x.shape[1:])], "int32" if "int" in str(x.dtype) else "float32")
            for x in model.inputs
        ]
        before = [weight.numpy() for weight in model.trainable_weights]
        model.compile(keras.optimizers.SGD(0.1), loss="mse")
        targets = np.zeros(model(given).shape, "float32")
        history = model.fit(given, targets, verbose=0)
        assert np.isfinite(history.history["loss"][0])
        assert any((one != other.numpy()).any() for one, other in zip(before, model.trainable_weights, strict=True))
