"""What the fixtures of MP501, MP502 and MP505 compute for data on which their faults show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shown = Literal["not finite", "zeros"]
"""How a fault shows in what the program computes: nan and inf, or nothing but zeros."""


@dataclass(frozen=True)
class Case:
    """A fixture, and the call that shows its fault."""

    slug: str
    generations: tuple[str, ...]
    call: str
    shown: Shown = "not finite"

    def source(self, program: str) -> str:
        """The program with the call at its end, from one seed, in the form in which a worker runs it."""
        return "\n".join([BEFORE, program, BEHIND.replace("CALL", self.call)])


BEFORE = """
import keras as _keras
import numpy as _np
import tensorflow as _tf

_tf.keras.utils.set_random_seed(7)
"""
BEHIND = """
import types as _types

_found = _tf.cast(CALL, "float32")
history = [float(each) for each in _np.reshape(_found.numpy(), (-1,))]
start, model = [], _types.SimpleNamespace(trainable_variables=[])
"""
_BOTH = ("2", "3")
_ZEROS = "model(_np.zeros((2, {}), 'float32'))"
_LARGE = "model(_np.array([[1e4] * 4, [-1e4] * 4, [1e4, -1e4] * 2], 'float32'))"
CASES = (
    Case("MP501/bad/additive-mask-times-constant", _BOTH, "model(_np.eye(6, 8)[None].astype('float32'))"),
    Case("MP501/bad/float32-mask-of-a-helper", _BOTH, _ZEROS.format("5, 4")),
    Case("MP501/bad/constants-of-the-dtype", _BOTH, _ZEROS.format("5, 4")),
    Case(
        "MP501/bad/ops-where-module-constant",
        ("3",),
        "pointer(*(_np.ones((1, 2, 4), 'float32') for _ in range(2)), _np.zeros((1, 2), bool))",
    ),
    Case(
        "MP501/bad/lowest-float32-in-bfloat16",
        _BOTH,
        "model([_np.zeros((1, 5, 4), 'float32'), _np.eye(5, 4, dtype='int32')[None]])",
    ),
    Case(
        "MP501/bad/chosen-by-what-is-no-number",
        _BOTH,
        "model([_np.zeros((1, 5, 4), 'float32'), _np.zeros((1, 5, 4), bool)])",
    ),
    Case("MP502/bad/one-minus-epsilon-in-bfloat16", _BOTH, _LARGE),
    Case("MP502/bad/log-of-a-default-argument", _BOTH, _LARGE),
    Case("MP502/bad/divided-by-a-norm", _BOTH, _ZEROS.format("4")),
    Case("MP502/bad/normalize-by-default", ("3",), "model([_np.zeros((2, 4), 'float32')] * 2)"),
    Case("MP502/bad/one-minus-epsilon", _BOTH, _LARGE),
    Case("MP502/bad/rmsnorm-tiny-eps", _BOTH, _ZEROS.format("16, 64")),
    Case(
        "MP505/bad/instance-norm-variance-half",
        _BOTH,
        "norm(300.0 * _np.sign(_np.sin(_np.arange(32.0))).reshape((1, 4, 4, 2)))",
        "zeros",
    ),
    Case("MP505/bad/running-position", _BOTH, "model(_np.full((1, 5, 4), 300.0, 'float32'))"),
    Case("MP505/bad/softmax-by-hand", _BOTH, "model(_np.stack([_np.full((5, 4), 20.0), _np.full((5, 4), -20.0)]))"),
    Case("MP505/bad/spread-with-ops", ("3",), "model(_np.tile([300.0, -300.0], (1, 5, 2)))", "zeros"),
)  # fmt: skip
