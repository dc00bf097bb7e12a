"""Dtype policies: making them, setting the global one, and reading them back.

Every copy of Keras has a global policy of its own.  The machine holds that of the copy that `tf.keras` is, and in its
`elsewhere` those of other copies, as far as they were set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.choosing import choose, settle
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.keras.names import dtype_named
from mplint.interpreter.state import GLOBAL, POLICY
from mplint.interpreter.trace import LayerMade, ModelMade, PolicyRefused, PolicyReset, PolicySet
from mplint.interpreter.values import (
    FALSE,
    FLOATS,
    HALF_POLICIES,
    NEVER,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Const,
    DType,
    Instance,
    Place,
    Policy,
    Unknown,
    Value,
    compute_dtype,
    variable_dtype,
)
from mplint.keras_api import COPIES, Copy, are_separate, copy_of

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_FLOATX: Final = (GLOBAL, "floatx")
_HELD: Final = (GLOBAL, "@policy held")
"""Whether a policy was set: then `set_floatx` does not change it any more."""
_REASSIGNED: Final = "@reassigned"
"""The field of a layer or model in a graph that runs under another policy than when the graph was made."""
_DEFAULT: Final = Policy("float32")
_BY_NAME: Final = ("keras.DTypePolicy", "keras.FloatDTypePolicy", "keras.mixed_precision.experimental.Policy")
"""The policies that are nothing but their name. Others quantize, or are a mapping."""


# -- which policy a name or an object stands for


def as_policy(m: Machine, value: Value | None, default: Policy) -> Policy:
    """The policy that a layer gets from its argument `dtype=value`; `default` is the global one."""
    match value:
        case None | Const(value=None):
            return default
        case Policy():
            return value
        case Const(value=str(name)):
            return Policy(named(m, name, "layer").name, named_by=value)
        case DType(name=name):
            return Policy(name)
        case Api():
            return Policy(dtype_named(value))
        case Choice():
            found = [as_policy(m, option, default) for option in value.options]
            return found[0] if all(policy.name == found[0].name for policy in found) else Policy(None)
        case _:  # the serialised form, too: {"class_name": "DTypePolicy", "config": {"name": …}}
            return Policy(None)


def named(m: Machine, name: str, use: keras_api.Use) -> Policy:
    """The policy called `name`; of one that the generation does not take there nothing is known."""
    if name.startswith("mixed_"):
        return Policy(name if name in HALF_POLICIES else None)
    dtype = keras_api.policy_dtype(name, use, m.generation)
    return Policy(dtype if dtype in FLOATS else None)


def check_name(m: Machine, value: Value | None, use: keras_api.Use, place: Place, callee: Api | None = None) -> bool:
    """Whether Keras takes `value` as a policy that something can train under; it is noted where not.

    What a `callee` took that no measured release has any more is not known.
    """
    if callee is not None and not keras_api.generations(callee.path):
        return True
    wrong = _wrong_name(m, value, use)
    if wrong is None or value is None:
        return True
    m.record(PolicyRefused(place, value, wrong, use, m.guards > 0))
    return False


def _wrong_name(m: Machine, value: Value | None, use: keras_api.Use) -> str | None:
    match value:
        case Const(value=str(name)):
            if keras_api.is_refused(name, use, m.generation):
                return name
            dtype = keras_api.policy_dtype(name, use, m.generation)
            return name if use == "setter" and dtype is not None and dtype not in FLOATS else None
        case DType(name=name) if use != "layer":
            return name
        case Api() if use != "layer":
            return dtype_named(value)
        case _:
            return None


def make(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """`Policy(name)`."""
    value = _decided(m, arguments.get("name", 0), place)
    if value is None:
        return Policy(None)
    if callee.path not in _BY_NAME:
        return Policy(None)
    if not check_name(m, value, "constructor", place, callee):
        return Policy(None)
    if isinstance(value, Const) and isinstance(value.value, str):
        return Policy(named(m, value.value, "constructor").name, named_by=value)
    return Policy(as_policy(m, value, current(m, callee.spelled)).name)


def _decided(m: Machine, value: Value | None, place: Place) -> Value | None:
    """What is given as a policy where it may be one of several: a world for each."""
    if isinstance(value, Choice):
        value = choose(m, value, place)
    if isinstance(value, Unknown):
        value = settle(m, value)
    return value


# -- the global policy


def current(m: Machine, spelled: str) -> Policy:
    """The global policy of the copy of Keras that the name `spelled` comes from."""
    found = m.policy
    copy, main = copy_of(spelled), _main(m)
    if copy == main:
        return Policy(found.name, found.set_by) if found.elsewhere else found
    other = dict(found.elsewhere).get(copy)
    if other is not None:
        return other
    if found.set_by and _separate(m, copy, main):
        return _DEFAULT
    return Policy(found.name, found.set_by)


def _main(m: Machine) -> Copy:
    return "keras" if m.generation == "3" else "tensorflow.keras"


def _separate(m: Machine, one: Copy, other: Copy) -> bool:
    return are_separate(one, other, m.generation, m.program.sets_legacy_switch)


def set_global(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """`set_global_policy(policy)` in all its spellings."""
    value = arguments.get("policy", 0)
    if value is None:
        value = arguments.get("name", 0) or arguments.get("value", 0)
    value = _decided(m, value, place)
    if not check_name(m, value, "setter", place, callee):
        if m.raised and isinstance(value, Const) and keras_api.is_refused(str(value.value), "setter", m.generation):
            m.throw()  # caught: what stands behind it is not run
            return NEVER
        policy = Policy(None)
    elif value is None or value == NONE:
        policy = _of_floatx(m)
    elif isinstance(value, Const) and isinstance(value.value, str):
        policy = named(m, value.value, "setter")
    else:
        policy = as_policy(m, value, Policy(None))
    put(m, policy.name, place, callee.spelled)
    m.state.set(_HELD, Const(value is not None and value != NONE))
    return NONE


def stated(m: Machine, info: LayerInfo) -> Policy:
    """The policy that a layer says it has: those that look up, hash or encode name the dtype of what they give."""
    if info.asked or not keras_api.has_own_dtype(info.base, m.generation):
        return info.policy
    mode = info.argument("output_mode") or Const("")
    if not isinstance(mode, Const) or not isinstance(mode.value, str):
        return Policy(None)
    return Policy(keras_api.own_dtype(info.base, mode.value, m.generation))


def put(m: Machine, name: str | None, place: Place, spelled: str) -> None:
    """Make the policy called `name` the global one of the copy of Keras that `spelled` comes from."""
    policy = Policy(name, (place,))
    before = m.policy
    copy, main = copy_of(spelled), _main(m)
    others = dict(before.elsewhere)
    if _separate(m, copy, main):
        others[copy] = policy
        m.set_policy(Policy(before.name, before.set_by, tuple(sorted(others.items()))))
    else:
        if m.program.has_several_kerases:
            for other in COPIES:
                if _separate(m, copy, other):
                    others[other] = current(m, other)
                else:
                    others.pop(other, None)
        if all(each == _DEFAULT for each in (Policy(name), *others.values())):
            others = {}  # which goes without saying
        m.set_policy(Policy(name, (place,), tuple(sorted(others.items()))))
    m.record(PolicySet(place, m.context, policy, copy))


def _of_floatx(m: Machine) -> Policy:
    return as_policy(m, floatx(m), _DEFAULT)


def floatx(m: Machine) -> Value:
    """The dtype that Keras takes where none is asked for."""
    held = m.state.get(_FLOATX)
    return held if isinstance(held, Value) else Const("float32")


def set_floatx(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """`set_floatx(dtype)`: the policy too, as long as none was set.

    Keras 3 also keeps the one that the first layer was made under.
    """
    value = arguments.get("floatx", None) or arguments.get("value", 0)
    if isinstance(value, Unknown):
        value = settle(m, value)
    m.state.set(_FLOATX, value if value is not None else UNKNOWN)
    held = m.state.get(_HELD) == TRUE
    if m.generation == "3":
        m.note_open()
        held = held or any(isinstance(event, (LayerMade, ModelMade)) for event in m.trace.events)
    if not held:
        put(m, as_policy(m, value, Policy(None)).name, place, callee.spelled)
    return NONE


def clear_session(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """`clear_session()`: Keras 3 forgets the global policy and takes the one of `floatx` again; Keras 2 keeps it."""
    if m.generation == "3" and not _separate(m, copy_of(callee.spelled), _main(m)):
        before = m.policy
        m.record(PolicyReset(place, before))
        m.set_policy(Policy(_of_floatx(m).name, (place,), before.elsewhere))
        m.state.set(_HELD, FALSE)
    return NONE


def in_thread(m: Machine, run: Callable[[], Value]) -> Value:
    """What `run` gives in a thread of its own: in Keras 3 it begins without a policy, and leaves none behind."""
    if m.generation != "3":
        return run()
    before, held, pending, learned = m.state.get(POLICY), m.state.get(_HELD), m.pending, m.learned
    others = before.elsewhere if isinstance(before, Policy) else ()
    m.set_policy(Policy(_of_floatx(m).name, (), others))
    m.state.set(_HELD, FALSE)
    result = run()
    m.state.set(POLICY, before if before is not None else _DEFAULT)
    m.state.set(_HELD, held if held is not None else FALSE)
    m.pending, m.learned = pending, learned
    return result


# -- attributes


def attribute(policy: Policy, name: str) -> Value:
    """`policy.name`, `.compute_dtype`, `.variable_dtype`."""
    match name:
        case "name":
            return UNKNOWN if policy.name is None else Const(policy.name)
        case "compute_dtype" | "variable_dtype":
            dtype = compute_dtype(policy.name) if name == "compute_dtype" else variable_dtype(policy.name)
            return UNKNOWN if dtype is None else Const(dtype)
        case "loss_scale" if policy.name == "mixed_float16":  # as long as policies had it
            return Const("dynamic")
        case _:
            return Bound(policy, ApiMethod(name))


def assigned(m: Machine, target: Instance, name: str, value: Value) -> bool:
    """`layer.dtype_policy = value`, which Keras 3 takes at any time; false when this is another assignment."""
    if name != "dtype_policy":
        return False
    info = info_of(m, target)
    if info is None:
        return False
    policy = as_policy(m, value, Policy(None))
    m.state.set((target.address, "@layer"), LayerInfo(info.base, info.arguments, policy, True, info.place))
    if m.state.get((target.address, "@output")) is not None:  # a graph that is there already runs otherwise from now on
        m.state.set((target.address, _REASSIGNED), TRUE)
        of = m.state.get((target.address, "@of"))
        if isinstance(of, Instance):
            m.state.set((of.address, _REASSIGNED), TRUE)
    return True


def is_reassigned(m: Machine, instance: Instance) -> bool:
    """Whether a layer, or one of a model's, was given another policy when the graph was there."""
    return m.state.get((instance.address, _REASSIGNED)) is not None
