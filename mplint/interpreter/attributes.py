"""Attribute access on every kind of value."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import arrays, candidates, choosing, mappings, namespaces, sequences, versions
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, has_class_attribute, is_closed, member
from mplint.interpreter.configuration import absl
from mplint.interpreter.keras import optimizers, policies, strategies, surgery, tensors, usage, weights
from mplint.interpreter.keras.info import keras_base_of
from mplint.interpreter.keras.names import constant
from mplint.interpreter.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Array,
    Bound,
    Choice,
    Class,
    ClassMethod,
    Const,
    Dataset,
    Dict,
    DType,
    Fields,
    Function,
    Instance,
    List,
    Maybe,
    Module,
    Partial,
    Place,
    Policy,
    Property,
    StaticMethod,
    Super,
    Tensor,
    Tuple,
    Unknown,
    Value,
    Varying,
    choice,
    derived,
)
from mplint.keras_api import canonical

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_OF_DTYPES: Final = frozenset({"name", "as_numpy_dtype", "base_dtype", "min", "max"})
_POLICY_SCALE: Final = Api(keras_api.POLICY_SCALE)


def get(m: Machine, value: Value, name: str, place: Place) -> Value:
    """`value.name`."""
    match value:
        case Api():
            found = _library(m, value, name)
            usage.note_read(m, found, place)
            return found
        case Module(frame=frame):
            return _module(m, value, frame.source.path.name, name, place)
        case Instance():
            return _instance(m, value, name, place)
        case Class():
            return _class(m, value, name)
        case Super():
            return _super(m, value, name, place)
        case Tensor():
            return tensors.attribute(m, value, name, place)
        case Policy():
            if name == "loss_scale":
                usage.note_read(m, _POLICY_SCALE, place)
            return policies.attribute(value, name)
        case DType():
            return tensors.of_dtype(m, value, name, place)
        case Choice():
            return _choice(m, value, name, place)
        case Const() | Tuple() | List() | Dict() | Fields():
            return UNKNOWN if name == "__class__" else Bound(value, ApiMethod(name))
        case Array():
            return arrays.attribute(value, name)
        case Dataset():
            return Bound(value, ApiMethod(name))
        case Function():
            return _of_function(m, value, name)
        case StaticMethod(function=inner):
            return get(m, inner, name, place)
        case Partial():
            fields = {"func": value.callee, "args": Tuple(value.args)}
            return fields.get(name, UNKNOWN)
        case Bound() if name == "__self__":
            return value.receiver
        case Unknown():
            if value is NEVER:
                return NEVER
            if (name == "get" and value.symbol is not None) or _is_method(m, value, name):
                return Bound(value, ApiMethod(name))
            return candidates.through(value, derived("attribute", value, name), lambda each: get(m, each, name, place))
        case Varying():
            return versions.attribute(m, value, name, place) or Bound(value, ApiMethod(name))
        case _:
            return UNKNOWN


def _is_method(m: Machine, value: Unknown, name: str) -> bool:
    """Whether an unknown has a method of this name, as far as its candidates say."""
    for candidate in value.candidates:
        match candidate.value:
            case Const(value=None):
                pass
            case Const():
                return True
            case Instance(cls=Class() as cls):
                return isinstance(class_attribute(m, cls, name), (Function, ClassMethod, StaticMethod))
            case _:
                pass
    return False


def has(m: Machine, value: Value, name: str) -> bool | None:
    """Whether `value` has an attribute; None when not known."""
    match value:
        case Instance():
            return _instance_has(m, value, name)
        case Class():
            there = has_class_attribute(m, value, name)
            return hasattr(type, name) if there is False and is_closed(value) else there or None
        case Module(frame=frame):
            return m.is_bound(frame, name) or None
        case Const(value=constant):
            return hasattr(constant, name)
        case DType(text=True):
            return hasattr(str, name)
        case Tuple():
            return hasattr(tuple, name)
        case Dict():
            return hasattr(dict, name) or None
        case List(kind="list"):
            return hasattr(list, name)
        case Function():
            return isinstance(m.state.get((value, name)), Value) or hasattr(has, name) or None
        case Choice():
            outcomes = {has(m, option, name) for option in value.options}
            return outcomes.pop() if len(outcomes) == 1 else None
        case Api():
            stored = m.patched(value, name)
            if stored is not None:
                return None if isinstance(stored, Maybe) else True
            return _in_library(m, value, name)
        case _:
            return None


def _in_library(m: Machine, value: Api, name: str) -> bool | None:
    """Whether a library has a name: what the generations of Keras do not share is there in one of them only."""
    if versions.named(m, f"{value.path}.{name}", value.spelled or value.path) is not None:
        return True
    gone = keras_api.retired(f"{value.spelled or value.path}.{name}")
    if gone is not None:
        may_be_older = m.program.runs_before(m.stack[-1].frame.source.path, keras_api.GONE_SINCE)
        return None if gone.was_there and may_be_older else False
    living = keras_api.generations(f"{value.path}.{name}") if keras_api.kind(value.path) is not None else None
    if not living:
        return None
    there = m.generation in living
    if len(living) == 1:
        m.note_answer(f"{value.path}.{name}", there)
    return there


def _instance_has(m: Machine, value: Instance, name: str) -> bool | None:
    there = m.has_field(value.address, name)
    if isinstance(value.cls, Class):
        if is_hooked(m, value.cls, "__getattribute__"):
            return None
        inherited = has_class_attribute(m, value.cls, name)
        if there or inherited:
            return None if isinstance(class_attribute(m, value.cls, name), Property) else True
        sure = is_closed(value.cls) and class_attribute(m, value.cls, "__getattr__") is None
        if name == "__dataclass_fields__":
            return None
        if name == "__dict__" or (sure and hasattr(object, name)):
            return True
        sure = sure and inherited is False and there is False
    else:
        if there:
            return True
        if optimizers.is_optimizer(value):
            return optimizers.has(m, value, name)
        sure = there is False and value.cls.path in namespaces.OBJECTS
    return False if sure and not namespaces.is_loose(m, Fields(value)) else None


def is_hooked(m: Machine, cls: Class, name: str) -> bool:
    """Whether the program's own code runs where an attribute of an object of `cls` is read, set or deleted."""
    return name in m.program.hooks and class_attribute(m, cls, name) is not None


def _of_function(m: Machine, value: Function, name: str) -> Value:
    stored = m.state.get((value, name))
    if isinstance(stored, Value):
        return stored.value or UNKNOWN if isinstance(stored, Maybe) else stored
    if name == "__name__":
        return Const(value.code.name)
    return Bound(value, ApiMethod(name))


def _library(m: Machine, value: Api, name: str) -> Value:
    if value.path.startswith("absl."):
        read = absl.attribute(m, name) if value == absl.FLAGS else absl.of_holder(m, value, name)
        if read is not None:
            return read
    stored = m.patched(value, name)
    if isinstance(stored, Maybe):
        return choice([stored.value or UNKNOWN, _own(m, value, name)])
    return stored if stored is not None else _own(m, value, name)


def _own(m: Machine, value: Api, name: str) -> Value:
    dtype = tensors.dtype_of(m, value) if name in _OF_DTYPES else None
    if dtype is not None:
        return tensors.dtype_attribute(DType(dtype), name)
    spelled = f"{value.spelled or value.path}.{name}"
    if m.raised and m.fails_to_find(spelled):
        return NEVER
    found = _below(value.path, value.spelled, name)
    return (versions.named(m, found.path, spelled) if isinstance(found, Api) else None) or found


@lru_cache(maxsize=16384)
def _below(path: str, spelled: str, name: str) -> Value:
    """What a library has under a name: the same whenever it is asked for."""
    known = canonical(f"{path}.{name}")
    return constant(known) or absl.ALIASES.get(known) or Api(known, f"{spelled or path}.{name}")


def _module(m: Machine, value: Module, file: str, name: str, place: Place) -> Value:
    found = m.variable(value.frame, name) or m.variable(value.frame, "*")
    if found is not None:
        return found
    fallback = m.variable(value.frame, "__getattr__") if not name.startswith("__") else None
    if fallback is not None:  # a module that imports its parts when they are asked for
        given = m.call(fallback, Arguments((Const(name),)), place)
        if given is not NEVER:
            return given
    return derived("name", file, name)


def _instance(m: Machine, value: Instance, name: str, place: Place) -> Value:
    if m.program.hooks and isinstance(value.cls, Class) and is_hooked(m, value.cls, "__getattribute__"):
        hook = class_attribute(m, value.cls, "__getattribute__")
        assert hook is not None
        return m.call(Bound(value, hook), Arguments((Const(name),)), place)
    return plain(m, value, name, place)


def plain(m: Machine, value: Value, name: str, place: Place) -> Value:
    """`object.__getattribute__(value, name)`."""
    if not isinstance(value, Instance):
        return get(m, value, name, place)
    held = m.state.get((value.address, name))
    if type(held) is Maybe:  # or what the class has
        inherited = class_attribute(m, value.cls, name) if isinstance(value.cls, Class) else None
        if held.value is not None:
            others = [] if inherited is None else [_bind(m, value, inherited, place)]
            if inherited is None and isinstance(value.cls, Class):
                fallback = class_attribute(m, value.cls, "__getattr__")
                others = [] if fallback is None else [UNKNOWN]
            return choice([weights.read(m, held.value), *others])
    elif isinstance(held, Value):
        return weights.read(m, held)
    if name == "__dict__":
        return Fields(value)
    items = mappings.aliased(m, value)
    if items is not None and (found := sequences.lookup(items, Const(name))) is not None:
        return found
    if isinstance(value.cls, Class):
        found = class_attribute(m, value.cls, name)
        if found is not None:
            bound = _bind(m, value, found, place)
            if "__getattr__" in m.program.hooks and has_class_attribute(m, value.cls, name) is None:
                return UNKNOWN if class_attribute(m, value.cls, "__getattr__") is not None else bound
            return bound
        if name == "__class__":
            return value.cls
        if keras_base_of(m, value) is not None:
            return surgery.attribute(m, value, name, place)
        if hasattr(dict, name) and mappings.derives_from_dict(value.cls):
            return Bound(value, ApiMethod(name))
        fallback = class_attribute(m, value.cls, "__getattr__")
        if fallback is not None and not name.startswith("__"):
            return m.call(Bound(value, fallback), Arguments((Const(name),)), place)
        if is_closed(value.cls) or namespaces.is_loose(m, Fields(value)):
            return UNKNOWN
        return Bound(value, ApiMethod(name))
    if value.cls.path in namespaces.OBJECTS or (mappings.is_of_library(value) and name not in mappings.METHODS):
        missing = mappings.missing(m, value, name)
        if missing is not None:
            return missing
    if optimizers.is_optimizer(value):
        return optimizers.attribute(m, value, name, place)
    read = strategies.attribute(value, name) if strategies.is_strategy(value.cls.path) else None
    return read if read is not None else surgery.attribute(m, value, name, place)


def _bind(m: Machine, receiver: Instance, found: Value, place: Place) -> Value:
    match found:
        case Function():
            return Bound(receiver, found)
        case StaticMethod(function=inner):
            return inner
        case ClassMethod(function=inner):
            return Bound(receiver.cls, inner)
        case Property(getter=getter):
            return m.call(Bound(receiver, getter), Arguments(), place)
        case Instance(cls=Class() as cls) if m.program.hooks and is_hooked(m, cls, "__get__"):  # a descriptor
            return m.call(get(m, found, "__get__", place), Arguments((receiver, receiver.cls)), place)
        case Choice():
            return choice([_bind(m, receiver, option, place) for option in found.options])
        case _:
            return found


def _choice(m: Machine, value: Choice, name: str, place: Place) -> Value:
    """An attribute of one of several values; where it says which precision is used, one of them in each world."""
    having = [option for option in value.options if option != NONE and not _lacks(m, option, name)]
    found = [(option, get(m, option, name, place)) for option in having]
    results = [result for _, result in found]
    if any(map(candidates.is_precise, results)) and all(map(candidates.is_plain, results)) and len(set(results)) > 1:
        chosen = choosing.choose(m, value, place)
        if not isinstance(chosen, Choice):
            choosing.narrow(m, value, chosen)
            return next((result for option, result in found if option == chosen), UNKNOWN)
    return choice(results or [UNKNOWN])


def _lacks(m: Machine, value: Value, name: str) -> bool:
    """Whether a module has nothing of this name: where one of several modules is asked for it, it is another."""
    return isinstance(value, Module) and all(m.variable(value.frame, one) is None for one in (name, "*", "__getattr__"))


def _class(m: Machine, value: Class, name: str) -> Value:
    known = member(m, value, name)
    if known is not None:
        return known
    found = class_attribute(m, value, name)
    match found:
        case None:
            if name in ("__name__", "__qualname__"):
                return Const(value.code.name) if name == "__name__" else UNKNOWN
            return UNKNOWN if is_closed(value) and not hasattr(type, name) else Bound(value, ApiMethod(name))
        case StaticMethod(function=inner):
            return inner
        case ClassMethod(function=inner):
            return Bound(value, inner)
        case _:
            return found


def _super(m: Machine, value: Super, name: str, place: Place) -> Value:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, Class):
        return UNKNOWN
    found = class_attribute(m, cls, name, after=value.after)
    if found is None:
        own = name in ("__init__", "__init_subclass__")
        if isinstance(receiver, Instance) and not own and keras_base_of(m, receiver) is not None:
            return surgery.attribute(m, receiver, name, place)
        return Bound(receiver, ApiMethod(f"super.{name}"))
    if isinstance(receiver, Instance):
        return _bind(m, receiver, found, place)
    return Bound(receiver, found.function) if isinstance(found, ClassMethod) else found
