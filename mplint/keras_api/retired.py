"""What of the API for mixed precision went or got another name, and what only one generation has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mplint.keras_api.copies import copy_of
from mplint.keras_api.names import Kind, canonical, generations, kind, without_prefix
from mplint.keras_api.optimizers import EXPERIMENTAL_LOSS_SCALE, LOSS_SCALE

Release = tuple[int, int]

EXPERIMENTAL: Final = "keras.mixed_precision.experimental"
_STABLE: Final = "keras.mixed_precision"
_SETTER: Final = "set_global_policy"
STABLE_SINCE: Final[Release] = (2, 4)
"""The first TensorFlow that has the names of today."""
_NEVER: Final[Release] = (0, 0)
"""Of a name that was never there."""
GONE_SINCE: Final[Release] = (2, 9)
"""The first TensorFlow without those that they replaced."""
_RENAMED: Final = {"set_policy": _SETTER}
_KEPT: Final = frozenset({"Policy", "global_policy", "LossScaleOptimizer"})
LOSS_SCALES: Final = frozenset({"LossScale", "FixedLossScale", "DynamicLossScale"})
"""The classes that `loss_scale=` was given: what they say are arguments of LossScaleOptimizer now."""
POLICY_SCALE: Final = f"{EXPERIMENTAL}.Policy.loss_scale"
"""The attribute of a policy that said how the loss is to be scaled under it."""
_HOMES: Final = ("tensorflow.train.experimental", "tensorflow.mixed_precision.experimental", EXPERIMENTAL)
_REWRITE: Final = "enable_mixed_precision_graph_rewrite"
_LEGACY: Final = "keras.optimizers.legacy"
_POLICIES: Final = frozenset({Kind.POLICY, Kind.POLICY_SETTER, Kind.POLICY_GETTER})
OPTIONS: Final = "tensorflow.config.optimizer.set_experimental_options"
_CALLED: Final = frozenset(
    {LOSS_SCALE, EXPERIMENTAL_LOSS_SCALE, "keras.DTypePolicy", "keras.FloatDTypePolicy", f"{EXPERIMENTAL}.Policy"}
)
_IN_KERAS_2: Final = {
    Kind.POLICY_SETTER: f"{_STABLE}.{_SETTER}",
    Kind.POLICY_GETTER: f"{_STABLE}.global_policy",
    Kind.POLICY: f"{_STABLE}.Policy",
    Kind.OPTIMIZER: f"{_STABLE}.LossScaleOptimizer",
}


@dataclass(frozen=True)
class Retired:
    """A name that no release of today has."""

    path: str
    """Its canonical name, or that of the module that went."""
    now: str | None
    """What is called so today, as a path below the package of Keras; None where nothing is."""
    since: Release
    """The first TensorFlow that lacks it."""

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return ".".join(self.path.split(".")[-2:])

    @property
    def name_now(self) -> str:
        """What is called so today, without the module that it is in; empty where nothing is."""
        return (self.now or "").rpartition(".")[2]

    @property
    def is_module(self) -> bool:
        """Whether it is the module itself."""
        return self.path == EXPERIMENTAL

    @property
    def is_of_module(self) -> bool:
        """Whether it was in the module, which is gone with all that is in it."""
        return self.path.startswith(f"{EXPERIMENTAL}.")

    @property
    def was_there(self) -> bool:
        """Whether some release had it."""
        return self.since != _NEVER

    @property
    def is_renamed(self) -> bool:
        """Whether more than the module is called otherwise."""
        return not self.is_module and self.path.rpartition(".")[2] != self.name_now


@lru_cache(maxsize=4096)
def retired(spelled: str) -> Retired | None:
    """What became of the name `spelled`; None of one that there is, and of what has nothing to do with precision."""
    if copy_of(spelled) == "tensorflow.python.keras" or spelled.startswith("tensorflow.compat.v1.train"):
        return None
    path = without_prefix(spelled)
    if path == EXPERIMENTAL:
        return Retired(path, _STABLE, GONE_SINCE)
    if path == POLICY_SCALE:
        return Retired(path, None, STABLE_SINCE)
    home, _, name = path.rpartition(".")
    if home == _STABLE and name in _RENAMED:
        return Retired(path, f"{_STABLE}.{_RENAMED[name]}", _NEVER)
    if home == EXPERIMENTAL:
        now = name if name in _KEPT else _RENAMED.get(name)
        return Retired(path, None if now is None else f"{_STABLE}.{now}", GONE_SINCE)
    if home in _HOMES and name in LOSS_SCALES:
        return Retired(path, None, STABLE_SINCE)
    return None


@lru_cache(maxsize=4096)
def only_in(spelled: str) -> str | None:
    """The one generation that has the name `spelled`, of those that concern mixed precision or are optimizers."""
    if is_legacy(spelled):
        return "2"  # what Keras 3 has under these names raises
    path = canonical(spelled)
    if kind(path) not in _POLICIES and path != LOSS_SCALE:
        return None
    found = generations(spelled)
    return next(iter(found)) if len(found) == 1 else None


def in_keras_2(path: str) -> str | None:
    """What Keras 2 calls what Keras 3 has at the canonical `path`, of policies and optimizers."""
    found = kind(path)
    return _IN_KERAS_2.get(found) if found is not None else None


def is_legacy(spelled: str) -> bool:
    """Whether the name `spelled` is one of Keras 2's older optimizers."""
    return without_prefix(spelled).startswith(f"{_LEGACY}.")


def in_keras_3(spelled: str) -> str | None:
    """What Keras 3 has in place of the older optimizer `spelled` of Keras 2."""
    name = without_prefix(spelled).removeprefix(_LEGACY)
    found = f"keras.optimizers{name}"
    return found if "3" in generations(found) else None


@lru_cache(maxsize=4096)
def is_graph_rewrite(spelled: str) -> bool:
    """Whether the name `spelled` is the function that switches the graph rewrite on."""
    return spelled.startswith("tensorflow.") and spelled.endswith(f".{_REWRITE}")


@lru_cache(maxsize=16384)
def is_watched(spelled: str) -> bool:
    """Whether it matters where the name `spelled` is read."""
    return retired(spelled) is not None or is_graph_rewrite(spelled) or only_in(spelled) is not None


@lru_cache(maxsize=16384)
def is_call_watched(path: str) -> bool:
    """Whether it matters how what has the canonical name `path` is called."""
    return path in _CALLED or path == OPTIONS or is_graph_rewrite(path)
