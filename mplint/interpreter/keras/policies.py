"""Dtype policies: making them, setting the global one, and reading them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint import keras_api
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.trace import PolicySet
from mplint.interpreter.values import (
    FLOATS,
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Const,
    Dict,
    DType,
    Instance,
    Place,
    Policy,
    Unknown,
    Value,
    compute_dtype,
    variable_dtype,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_NAMES = FLOATS | {"mixed_float16", "mixed_bfloat16"}


def as_policy(m: Machine, value: Value | None) -> Policy:
    """The policy that a layer gets from its argument `dtype=value`."""
    match value:
        case None:
            return m.policy
        case Const(value=None):
            return m.policy
        case Policy():
            return value
        case Const(value=str(name)):
            return named(name)
        case DType(name=name):
            return Policy(name)
        case Api(path=path, spelled=spelled):
            return Policy(keras_api.dtype_name(path) or keras_api.dtype_name(spelled or path))
        case Choice():
            found = [as_policy(m, option) for option in value.options]
            return found[0] if all(policy.name == found[0].name for policy in found) else Policy(None)
        case Dict():  # the serialised form: {"class_name": "DTypePolicy", "config": {"name": …}}
            return Policy(None)
        case _:
            return Policy(None)


def named(name: str) -> Policy:
    """The policy called `name`; of an unknown name nothing is known."""
    if name in _NAMES:
        return Policy(name)
    dtype = keras_api.dtype_name(name)
    return Policy(dtype if dtype in FLOATS else None)


def make(m: Machine, arguments: Arguments) -> Value:
    """`Policy(name)`."""
    value = arguments.get("name", 0)
    if value is None:
        return Policy(None)
    made = as_policy(m, value)
    return Policy(made.name)


def set_global(m: Machine, arguments: Arguments, place: Place, keyword: str = "policy") -> Value:
    """`set_global_policy(policy)` in all its spellings."""
    value = arguments.get(keyword, 0)
    if value is None:
        value = arguments.get("name", 0) or arguments.get("value", 0)
    if isinstance(value, Choice):
        value = m.choose(value, place)
    if isinstance(value, Unknown) and value.symbol is not None:
        value = m.settle(value)
    policy = Policy("float32") if value is None or value == NONE else as_policy(m, value)
    put(m, Policy(policy.name, (place,)), place)
    return NONE


def put(m: Machine, policy: Policy, place: Place) -> None:
    """Make `policy` the global one."""
    m.set_policy(policy)
    m.record(PolicySet(place, m.context, policy))


def attribute(m: Machine, policy: Policy, name: str) -> Value:
    """`policy.name`, `.compute_dtype`, `.variable_dtype`."""
    match name:
        case "name":
            return UNKNOWN if policy.name is None else Const(policy.name)
        case "compute_dtype" | "variable_dtype":
            dtype = compute_dtype(policy.name) if name == "compute_dtype" else variable_dtype(policy.name)
            return UNKNOWN if dtype is None else Const(dtype)
        case _:
            return Bound(policy, ApiMethod(name))


def assigned(m: Machine, target: Instance, name: str, value: Value) -> bool:
    """`layer.dtype_policy = value`, which Keras 3 takes at any time; false when this is another assignment."""
    if name != "dtype_policy":
        return False
    info = info_of(m, target)
    if info is None:
        return False
    policy = as_policy(m, value)
    m.state.set((target.address, "@layer"), LayerInfo(info.base, info.arguments, policy, True, info.place))
    return True
