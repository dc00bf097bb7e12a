"""Layers and models alike: which of the two constructs or answers a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import layers, models
from mplint.interpreter.keras.info import info_of, keras_base_of
from mplint.interpreter.values import UNKNOWN, Api, Instance, Place, Value
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def initialise(m: Machine, instance: Instance, base: str, arguments: Arguments, place: Place) -> None:
    """The library's `__init__` of `base`, for an object of it or of a subclass."""
    if keras_api.kind(base) is Kind.MODEL:
        models.initialise(m, instance, base, arguments, place)
    else:
        layers.initialise(m, instance, base, arguments, place)


def make(m: Machine, cls: Api, arguments: Arguments, place: Place) -> Instance:
    """An object of the library class `cls`."""
    path = cls.path
    model = keras_api.kind(path) is Kind.MODEL
    instance = Instance(m.allocate(place, "model" if model else "layer"), cls)
    layers.begin(m, instance, path, place)
    initialise(m, instance, path, arguments, place)
    return instance


def call(m: Machine, instance: Instance, arguments: Arguments, place: Place) -> Value:
    """`instance(inputs, …)`."""
    base = keras_base_of(m, instance)
    if base is None or info_of(m, instance) is None:
        return UNKNOWN
    if keras_api.kind(base) is Kind.MODEL:
        return models.call(m, instance, arguments, place)
    return layers.call(m, instance, arguments, place)
