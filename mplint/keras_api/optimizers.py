"""What optimizers can do in each generation of Keras: the methods that have to do with the scale of a loss.

Read from tf-keras 2.21 and Keras 3.15; `tests/loops/test_training.py` holds it against the installed packages.
"""

from __future__ import annotations

from typing import Final

LOSS_SCALE: Final = "keras.optimizers.LossScaleOptimizer"
"""The optimizer that scales losses, wherever it was imported from."""
EXPERIMENTAL_LOSS_SCALE: Final = "keras.mixed_precision.experimental.LossScaleOptimizer"
"""That of TensorFlow 2.1 to 2.3."""
WRAPPER_PARAMETERS: Final = ("inner_optimizer", "dynamic", "initial_scale", "dynamic_growth_steps")
"""What that of Keras 2 takes: its class does not say so, since calling it makes objects of other classes."""
BY_NAME: Final = {
    name.lower(): f"keras.optimizers.{name}"
    for name in ("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "Muon",
                 "Nadam", "RMSprop", "SGD")
}  # fmt: skip
"""The optimizers that `compile` and `optimizers.get` know by name."""

_EVERY: Final = {
    "2": frozenset({"apply_gradients", "minimize", "compute_gradients"}),
    "3": frozenset({"apply_gradients", "apply", "stateless_apply", "scale_loss"}),
}
"""What every optimizer has."""
_SCALING: Final = {
    "2": frozenset(
        {"get_scaled_loss", "get_unscaled_gradients", "loss_scale", "dynamic", "dynamic_counter", "initial_scale",
         "dynamic_growth_steps", "inner_optimizer"}
    ),
    "3": frozenset({"initial_scale", "dynamic_growth_steps", "inner_optimizer"}),
}  # fmt: skip
"""What a LossScaleOptimizer has beside that; in Keras 3 also `dynamic_scale` and `step_counter` once it is built."""
_BUILT: Final = frozenset({"dynamic_scale", "step_counter"})
SPOKEN_OF: Final = frozenset().union(*_EVERY.values(), *_SCALING.values(), _BUILT)
"""All that this table speaks of."""
SCALE_METHODS: Final = {"2": "get_scaled_loss", "3": "scale_loss"}
"""The method that scales a loss, in each generation."""
UNSCALE_METHOD: Final = "get_unscaled_gradients"
"""The one that takes the scale out of gradients, in Keras 2; in Keras 3 that is done when they are applied."""
SCALE_ATTRIBUTES: Final = frozenset({"loss_scale", "dynamic_scale"})
"""The attributes that hold the present scale of the loss."""
INNER: Final = "inner_optimizer"
"""What a LossScaleOptimizer is put around: its parameter, and its attribute."""

_WRAPPERS: Final = ("Optimizer", "SWA", "Lookahead", "MovingAverage", "GradientAccumulator")
"""How libraries beside Keras call what they put around an optimizer."""
_OWN: Final = ("keras.", "tensorflow.", "builtins.")
_ELSEWHERE: Final = {
    "tensorflow_addons.optimizers.": frozenset(
        {"AdaBelief", "AdamW", "COCOB", "ConditionalGradient", "LAMB", "LazyAdam", "NovoGrad", "ProximalAdagrad",
         "RectifiedAdam", "SGDW", "Yogi"}
    ),
    "official.": frozenset({"AdamWeightDecay", "LAMB", "LARS"}),
    "transformers.": frozenset({"AdamWeightDecay"}),
}  # fmt: skip
"""Optimizers of Keras 2 in other libraries: they derive from its own, and scale nothing."""
_AROUND: Final = {
    "tensorflow_addons.optimizers.": frozenset({"Lookahead", "MovingAverage", "SWA"}),
    "horovod.": frozenset({"DistributedOptimizer"}),
    "official.modeling.optimization.": frozenset({"ExponentialMovingAverage"}),
}
"""Those that are put around another one, and give it the gradients as they are."""
FACTORIES: Final = {"official.nlp.optimization.create_optimizer": "official.nlp.optimization.AdamWeightDecay"}
"""Functions that make such an optimizer."""
DECISIVE: Final = frozenset(
    {"apply_gradients", "apply", "stateless_apply", "minimize", "compute_gradients", "_compute_gradients",
     "get_gradients", "scale_loss", "get_scaled_loss", "get_unscaled_gradients", "loss_scale", "loss_scale_factor",
     "__getattr__", "__getattribute__"}
)  # fmt: skip
"""What a class that derives from an optimizer must leave as it is, to be sure that it scales nothing."""


def is_foreign_wrapper(path: str) -> bool:
    """Whether a function or class of another library than Keras, as its name tells, is put around optimizers."""
    return not path.startswith(_OWN) and path.endswith(_WRAPPERS)


def is_of_another_library(path: str) -> bool:
    """Whether the class at `path`, of another library, is known to be an optimizer of Keras 2 that scales nothing."""
    return _is_listed(path, _ELSEWHERE) or hands_on(path)


def hands_on(path: str) -> bool:
    """Whether what is put around an optimizer is known to give it the gradients as they are."""
    return _is_listed(path, _AROUND)


def _is_listed(path: str, table: dict[str, frozenset[str]]) -> bool:
    last = path.rpartition(".")[2]
    return any(path.startswith(package) and last in names for package, names in table.items())


def scales_losses(path: str) -> bool:
    """Whether the class of optimizers at `path` is a LossScaleOptimizer."""
    return path in (LOSS_SCALE, EXPERIMENTAL_LOSS_SCALE)


def has_member(path: str, name: str, generation: str) -> bool | None:
    """Whether an optimizer of the class at `path` has a method or attribute; None of what is not in the table."""
    if name not in SPOKEN_OF:
        return None
    if name in _EVERY[generation]:
        return True
    if not scales_losses(path):
        return False
    return None if generation == "3" and name in _BUILT else name in _SCALING[generation]
