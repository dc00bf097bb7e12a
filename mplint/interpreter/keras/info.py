"""What is known of a layer or model: its library class, its arguments, its dtype policy."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.classes import library_bases
from mplint.interpreter.values import Api, Instance, Place, Policy, Value, immutable
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

HIDDEN: Final = "hidden layer"
"""The role of the address of a layer that a function of the library makes: no call of the program constructs it."""
WEIGHTS: Final = "@weights"
"""The field that says of a layer that the program has given it its weights."""
_LAYERS: Final = frozenset({Kind.LAYER, Kind.CELL, Kind.WRAPPER, Kind.MODEL})


@immutable()
class LayerInfo(Value):
    """What is fixed about a layer when it is made.

    `base` is its library class, or the one that its class of the program derives from; `policy` its dtype policy;
    `asked` whether the program gave it a dtype of its own, and `asked_at` the call of the library that it gave it to.
    """

    base: str
    arguments: tuple[tuple[str, Value], ...]
    policy: Policy
    asked: bool
    place: Place
    asked_at: Place | None = None

    def argument(self, name: str) -> Value | None:
        """The constructor's argument `name`, where it was given."""
        return next((value for key, value in self.arguments if key == name), None)


@lru_cache(maxsize=16384)
def is_layer_path(path: str) -> bool:
    """Whether `path` is a layer or model class of the library."""
    return keras_api.kind(path) in _LAYERS


def is_subclass(path: str, other: str) -> bool | None:
    """Whether the library's class at `path` derives from another one; None when not known."""
    if other == "keras.Layer":
        return is_layer_path(path)
    if other == "keras.Model":
        return keras_api.kind(path) is Kind.MODEL
    if other.startswith("builtins.") or other == "keras.optimizers.LossScaleOptimizer":  # no class derives from that
        return False
    return False if keras_api.kind(other) is not None and is_layer_path(path) != is_layer_path(other) else None


def keras_base(bases: list[str]) -> str | None:
    """The library's layer or model class among the bases of a class."""
    return next((base for base in bases if is_layer_path(base)), None)


def keras_base_of(m: Machine, instance: Instance) -> str | None:
    """The library's layer or model class that `instance` is an object of."""
    if isinstance(instance.cls, Api):
        return instance.cls.path if is_layer_path(instance.cls.path) else None
    return keras_base(library_bases(instance.cls))


def spelled_of(instance: Instance) -> str:
    """The library's name for the class of a layer or model, as the program writes it."""
    names = (instance.cls,) if isinstance(instance.cls, Api) else instance.cls.mro
    return next((name.spelled or name.path for name in names if isinstance(name, Api) and is_layer_path(name.path)), "")


def info_of(m: Machine, instance: Instance) -> LayerInfo | None:
    """What is known of a layer; None of other objects."""
    found = m.state.get((instance.address, "@layer"))
    return found if isinstance(found, LayerInfo) else None


def is_hidden(layer: Instance) -> bool:
    """Whether a function of the library makes `layer`, so that no call of the program constructs it."""
    return layer.address.role.startswith(HIDDEN)
