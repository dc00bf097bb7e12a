"""Losses that are computed in half precision: what real Keras makes of them, and of what `--fix` writes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.fixture_programs import ROOT

_KL = """
for layer in ({layers},):
    layer.bias.assign(tf.fill(layer.bias.shape, 12.0))
found = model.train_step((tf.constant(x[:8]), None))["kl"]
"""
"""The KL term of a VAE where the logarithms of all variances are 12."""
_MADE = """
model, x = main(), np.zeros((8, 64), "float32")
"""
"""For a program that keeps its model to itself."""
_HEAD = """
model.compile(optimizer=keras.optimizers.SGD(1.0))
model.optimizer.build(model.trainable_variables)
head = model.domain
head.kernel.assign(tf.zeros_like(head.kernel))
head.bias.assign(tf.constant([0.0, -18.0, 0.0, 0.0]))
model.train_step((tf.constant(x[:8]), (tf.constant(y[:8]), tf.fill((8,), 1))))
found = abs(head.bias.numpy()[1] + 18.0)
"""
"""How far the bias of the true class moves in one step, where its logit is 18 below the others."""
_SUM = """
found = model.dice(tf.ones((1, 512, 512, 1)), tf.ones((1, 512, 512, 1), tf.float16))
"""
"""What is lost where two masks of 512 x 512 pixels are the same."""


def _is_zero(number: float) -> bool:
    return abs(number) < 1e-4


def _has_moved(number: float) -> bool:
    return 0.1 < number < 2


@dataclass(frozen=True)
class Probe:
    """A fixture, what is measured behind it, and what is wrong and right there."""

    generation: str
    fixture: str
    probe: str
    wrong: Callable[[float], bool]
    right: Callable[[float], bool]


_PROBES = (
    Probe("2", "MP103/bad/k2-vae-kl", _KL.format(layers="model.moments"), math.isinf, math.isfinite),
    Probe("2", "MP103/bad/k2-dice-object", _SUM, math.isnan, _is_zero),
    Probe("2", "MP104/bad/k2-cast-before-the-loss", _HEAD, _is_zero, _has_moved),
    Probe("3", "MP103/bad/k3-vae-kl-in-half", _MADE + _KL.format(layers="model.to_log_var"), math.isinf, math.isfinite),
    Probe("3", "MP104/bad/k3-softmax-in-train-step", _HEAD, _is_zero, _has_moved),
    Probe("3", "MP104/bad/k3-cast-before-the-function", _HEAD, _is_zero, _has_moved),
)


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("generation", ["2", "3"])
def test_the_fault_shows_and_the_fix_mends_it(generation: str) -> None:
    probes = [probe for probe in _PROBES if probe.generation == generation]
    sources = [
        next((ROOT / probe.fixture / folder).glob("*.py")).read_text(encoding="utf-8")
        for probe in probes
        for folder in ("program", "fixed")
    ]
    jobs = [{"source": source, "probe": probes[index // 2].probe} for index, source in enumerate(sources)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.loops.half_losses", generation],
        input=json.dumps(jobs), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    for index, probe in enumerate(probes):
        before, after = found[2 * index : 2 * index + 2]
        assert probe.wrong(before), (probe.fixture, before)
        assert probe.right(after), (probe.fixture, after)
