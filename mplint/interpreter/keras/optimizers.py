"""Optimizers: which of them scale the loss, what `compile` makes of them, and what their methods do to gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint import keras_api
from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments, unseen
from mplint.interpreter.classes import class_attribute, is_open
from mplint.interpreter.keras import stateless, structures, tapes, variables
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.trace import Compiled, GradientsApplied, OptimizerMade, OptimizerUsed, OptimizerWrapped
from mplint.interpreter.values import (
    FALSE,
    NEVER,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Place,
    Policy,
    Scaling,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from mplint.keras_api import Kind
from mplint.keras_api.optimizers import (
    BY_NAME,
    DECISIVE,
    EXPERIMENTAL_LOSS_SCALE,
    FACTORIES,
    INNER,
    LOSS_SCALE,
    SCALE_ATTRIBUTES,
    WRAPPER_PARAMETERS,
    hands_on,
    has_member,
    is_of_another_library,
    scales_losses,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_FOREIGN: Final = "foreign optimizer"
_FIXED: Final = "loss_scale_factor"
_DEFAULT: Final = Const("rmsprop")
BY_FIT: Final = "keras.Model.fit.minimize"
"""How a gradient is made that the library takes of what `compute_loss` gives."""
SCALE_POLICY: Final = "mixed_float16"
"""The policy of a model under which `compile` wraps its optimizer."""


# -- what an optimizer is


def is_optimizer(value: Value) -> bool:
    """Whether `value` is an optimizer of Keras, or of a class that is known to do as that does."""
    return isinstance(value, Instance) and class_of(value.cls) is not None


def class_of(cls: Class | Api) -> str | None:
    """The library's class of optimizers that `cls` is, or derives from and leaves as it is; None of any other class."""
    if isinstance(cls, Api):
        return cls.path if _is_class(cls.path) or is_of_another_library(cls.path) else None
    base = next((one.path for one in cls.mro if isinstance(one, Api) and _is_class(one.path)), None)
    if base is None or scales_losses(base) or is_open(cls):
        return None
    own = [one for one in cls.mro if isinstance(one, Class)]
    return base if not any(_may_scale(one) for one in own) else None


def _may_scale(cls: Class) -> bool:
    """Whether a class of the program may do something with a scale, or with the gradients that it is given."""
    node, source = cls.code.node, cls.frame.source
    span = source.span(node)
    defined = {part.name.value for part in node.body.body if isinstance(part, cst.FunctionDef)}
    return bool(defined & DECISIVE) or "scal" in source.text[span.start : span.end].lower()


def note_made(m: Machine, optimizer: Instance, arguments: Arguments, place: Place) -> None:
    """Note that a class of the program made an optimizer."""
    if class_of(optimizer.cls) is None:
        return
    if arguments.more is not None or any("scal" in name for name, _ in arguments.keywords):
        m.put(optimizer.address, _FIXED, UNKNOWN)
    m.record(OptimizerMade(place, m.context, optimizer, ()))


def _is_class(path: str) -> bool:
    return keras_api.kind(path) is Kind.OPTIMIZER and path.rpartition(".")[2][:1].isupper()


def scales(value: Value) -> bool:
    """Whether `value` is a LossScaleOptimizer."""
    return isinstance(value, Instance) and isinstance(value.cls, Api) and scales_losses(value.cls.path)


def inner_of(m: Machine, optimizer: Instance) -> Value:
    """The optimizer that a LossScaleOptimizer is around."""
    return m.field(optimizer.address, INNER) or UNKNOWN


def has_fixed_scale(m: Machine, optimizer: Instance) -> bool | None:
    """Whether a plain optimizer of Keras 3 divides by a scale that its loss is to be multiplied with."""
    factor = m.field(optimizer.address, _FIXED)
    if factor is None or factor == NONE:
        return False
    return True if isinstance(factor, Const) else None


def make(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Instance:
    """An optimizer of the class `callee`."""
    path = callee.path
    optimizer = Instance(m.allocate(place, "object"), callee)
    given = bind(m, path, arguments)
    if path == LOSS_SCALE and m.generation == "2" and arguments.rest is None:
        given = {**dict(zip(WRAPPER_PARAMETERS, arguments.args, strict=False)), **dict(arguments.keywords)}
    for name, value in given.items():
        m.put(optimizer.address, name, value)
    if path == EXPERIMENTAL_LOSS_SCALE and "optimizer" in given:
        m.put(optimizer.address, INNER, given["optimizer"])
    m.record(OptimizerMade(place, m.context, optimizer, tuple(given.items())))
    return optimizer


def wrapped_elsewhere(m: Machine, wrapper: Api, arguments: Arguments, place: Place) -> Value:
    """What another library puts around an optimizer."""
    inside = [part for value in arguments.values() for part in m.parts(value) if is_optimizer(part)]
    for part in inside:
        if isinstance(part, Instance):
            m.record(OptimizerWrapped(place, m.context, part, wrapper.path))
    if m.generation == "2" and hands_on(wrapper.path) and len(inside) == 1 and not scales(inside[0]):
        return make(m, wrapper, Arguments((), ((INNER, inside[0]),)), place)
    unseen(m, wrapper, arguments)
    return Unknown(Symbol(_FOREIGN, wrapper.path))


def made_elsewhere(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Instance | None:
    """What another library's class of optimizers, or function, makes; None where it makes none of Keras 2."""
    path = FACTORIES.get(callee.path, callee.path)
    if m.generation != "2" or not is_of_another_library(path) or hands_on(path):
        return None
    return make(m, Api(path), Arguments(), place)


def wrapper_of(value: Value) -> str | None:
    """What another library has put around an optimizer, where `value` is such a thing."""
    if isinstance(value, Instance) and isinstance(value.cls, Api):
        return value.cls.path if hands_on(value.cls.path) else None
    if not isinstance(value, Unknown) or value.symbol is None or value.symbol.parts[0] != _FOREIGN:
        return None
    return str(value.symbol.parts[1])


def get(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.optimizers.get(identifier)`, `keras.optimizers.deserialize(config)`."""
    value = arguments.get("identifier", 0) or arguments.get("config")
    return UNKNOWN if value is None else _by_name(m, value, place)


def _by_name(m: Machine, value: Value, place: Place) -> Value:
    """The optimizer that `value` is, is the name of, or describes as `serialize` does."""
    match value:
        case Dict():
            described = dict(m.entries(value).pairs)
            optimizer = _by_name(m, described.get(Const("class_name"), UNKNOWN), place)
            if isinstance(optimizer, Instance):
                _configure(m, optimizer, described.get(Const("config"), UNKNOWN))
            return optimizer
        case Const(value=str(name)) if name.lower() in BY_NAME:
            return Instance(m.allocate(place, "optimizer"), Api(BY_NAME[name.lower()]))
        case Instance():
            return value
        case _:
            return UNKNOWN


def _configure(m: Machine, optimizer: Instance, config: Value) -> None:
    """Give an optimizer the arguments that are in a dict."""
    if not isinstance(config, Dict) or m.entries(config).rest is not None:
        m.put(optimizer.address, _FIXED, UNKNOWN)
        return
    for name, value in m.entries(config).pairs:
        if isinstance(name, Const):
            m.put(optimizer.address, str(name.value), value)


# -- models and their optimizers


def compile_model(m: Machine, model: Instance, policy: Policy, arguments: Arguments, place: Place) -> None:
    """`model.compile(optimizer)`: under mixed_float16 the model puts a LossScaleOptimizer around it."""
    info = info_of(m, model)
    given = arguments.get("optimizer", 0)
    if given is None:
        given = _DEFAULT if arguments.more is None and arguments.rest is None else UNKNOWN
    optimizer = _by_name(m, given, place)
    own = info.policy.name if info is not None else None
    off = m.generation == "3" and arguments.get("auto_scale_loss") == FALSE
    if own is None:
        optimizer = optimizer if scales(optimizer) else UNKNOWN
    elif own == SCALE_POLICY and not off and not scales(optimizer):
        optimizer = _wrapped(m, optimizer, place)
    m.put(model.address, "optimizer", optimizer)
    loss = arguments.get("loss", 1)
    if loss is not None:
        m.put(model.address, "loss", loss)
    jit = arguments.get("jit_compile") == TRUE
    m.record(Compiled(model, m.context, policy, place, given, optimizer, off, given is not _DEFAULT, jit))


def _wrapped(m: Machine, inner: Value, place: Place) -> Instance:
    wrapper = Instance(m.allocate(place, "scaling optimizer"), Api(LOSS_SCALE))
    m.put(wrapper.address, INNER, inner)
    return wrapper


def of_model(m: Machine, model: Instance) -> Value:
    """`model.optimizer` of a model that nobody was seen to compile: whoever trains it has done so before."""
    info = info_of(m, model)
    if info is None or info.policy.name != SCALE_POLICY or not isinstance(model.cls, Class):
        return UNKNOWN
    if class_attribute(m, model.cls, "compile") is not None:
        return UNKNOWN
    optimizer = _wrapped(m, UNKNOWN, info.place)
    m.put(model.address, "optimizer", optimizer)
    return optimizer


# -- attributes and methods


def has(m: Machine, optimizer: Instance, name: str) -> bool | None:
    """Whether an optimizer has a method or attribute; None when not known."""
    path = class_of(optimizer.cls) or ""
    there = has_member(path, name, m.generation)
    if there is not None and there is not has_member(path, name, "2" if m.generation == "3" else "3"):
        m.note_answer(f"{path}.{name}", there)
    return there


def attribute(m: Machine, optimizer: Instance, name: str, place: Place) -> Value:
    """An attribute of an optimizer that was not given to its constructor."""
    there = has_member(class_of(optimizer.cls) or "", name, m.generation)
    if there is False:
        if not m.has_fallback:
            m.record(OptimizerUsed(place, m.context, optimizer, name))
        if m.guards:
            m.throw()
            return NEVER
    if name in SCALE_ATTRIBUTES and scales(optimizer):
        m.record(OptimizerUsed(place, m.context, optimizer, name))
        made = Scaling("scale", place, m.context, by=f"{LOSS_SCALE}.{name}", optimizer=optimizer)
        return Tensor("float32", made, False)
    if name == INNER:
        return UNKNOWN
    return Bound(optimizer, ApiMethod(name))


def method(m: Machine, optimizer: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of an optimizer."""
    if has_member(class_of(optimizer.cls) or "", name, m.generation) is False:
        return UNKNOWN
    m.record(OptimizerUsed(place, m.context, optimizer, name, arguments.args))
    match name:
        case "get_scaled_loss" | "scale_loss":
            return _scale(m, optimizer, name, arguments.get("loss", 0) or UNKNOWN, place)
        case "get_unscaled_gradients":
            return _unscale(m, optimizer, arguments.get("grads", 0) or UNKNOWN, place)
        case "apply_gradients":
            pairs = sequences.iterate(m, arguments.get("grads_and_vars", 0) or UNKNOWN, place)
            rows = (*pairs.items, *(() if pairs.rest is None else (pairs.rest,)))
            gradients, trained = (
                Tuple(tuple(sequences.item(row, at) or UNKNOWN for row in rows if isinstance(row, Tuple)))
                for at in (0, 1)
            )
            _apply(m, optimizer, gradients, trained, place)
            return UNKNOWN
        case "apply" | "stateless_apply":  # which is given the optimizer's own variables first
            at = int(name == "stateless_apply")
            given = arguments.get("grads", at) or UNKNOWN
            changed = arguments.get("trainable_variables", at + 1) or NONE
            _apply(m, optimizer, given, changed, place, is_stateless=at == 1)
            own = arguments.get("optimizer_variables", 0) or UNKNOWN
            return NONE if name == "apply" else Tuple((changed, own))
        case "minimize":
            return _minimize(m, optimizer, arguments, place)
        case _:
            return UNKNOWN


def _scale(m: Machine, optimizer: Instance, by: str, loss: Value, place: Place) -> Value:
    """The loss times the scale; a plain optimizer of Keras 3 gives it back as it is."""
    if not scales(optimizer) and (by != "scale_loss" or has_fixed_scale(m, optimizer) is False):
        return loss
    if isinstance(loss, Function):  # Keras 2 also takes a function, and gives one
        return UNKNOWN
    if isinstance(loss, Const):
        made = Scaling("scale", place, m.context, by=f"{LOSS_SCALE}.{by}", optimizer=optimizer)
        return Tensor("float32", made, False)

    def scaled(value: Value) -> Value:
        operands = (variables.read(m, value),) if isinstance(value, Tensor) else ()
        others = (value,) if isinstance(value, Unknown) else ()
        made = Scaling(
            "scaled", place, m.context, by=f"{LOSS_SCALE}.{by}", operands=operands, others=others,
            optimizer=optimizer, tapes=tapes.recording(m), stale=stateless.reads_what_was(m),
        )  # fmt: skip
        return Tensor(value.dtype if isinstance(value, Tensor) else None, made, False)

    return structures.changed(m, loss, place, scaled) if not isinstance(loss, Unknown) else scaled(loss)


def _unscale(m: Machine, optimizer: Instance, gradients: Value, place: Place) -> Value:
    """Gradients divided by the scale."""

    def unscaled(value: Tensor) -> Value:
        made = Scaling(
            "unscaled", place, m.context, by=f"{LOSS_SCALE}.get_unscaled_gradients",
            operands=(variables.read(m, value),), optimizer=optimizer,
        )  # fmt: skip
        return Tensor(value.dtype, made, value.symbolic)

    held = sequences.iterate(m, gradients, place)
    rest = None if held.rest is None else structures.changed(m, held.rest, place, unscaled)
    return m.new_list(place, Tuple(tuple(structures.changed(m, item, place, unscaled) for item in held.items), rest))


def _apply(
    m: Machine, optimizer: Instance, gradients: Value, trained: Value, place: Place, *, is_stateless: bool = False
) -> None:
    if isinstance(gradients, Choice):  # lists that differ by what was done to the gradients
        gradients = sequences.iterate(m, gradients, place)
    known = tuple(variables.read(m, gradient) for gradient in structures.flatten(m, gradients))
    whole = not any(isinstance(part, Unknown) for part in m.parts(gradients))
    changed = tuple(structures.flatten(m, trained))
    m.record(GradientsApplied(place, m.context, optimizer, known, changed, whole, is_stateless))


def minimized_by_fit(m: Machine, optimizer: Value | None, loss: Tensor, place: Place) -> None:
    """The step that the library's own `train_step` makes of a loss, with an optimizer that scales."""
    if isinstance(optimizer, Instance) and scales(optimizer):
        gradients = tapes.gradient(m, loss, UNKNOWN, place, BY_FIT)
        _apply(m, optimizer, gradients, UNKNOWN, place)


def _minimize(m: Machine, optimizer: Instance, arguments: Arguments, place: Place) -> Value:
    """`optimizer.minimize(loss, variables, tape=tape)`: scales by itself, takes the gradient and applies it."""
    loss, trained = arguments.get("loss", 0) or UNKNOWN, arguments.get("var_list", 1) or UNKNOWN
    if not isinstance(loss, (Tensor, Unknown)):
        loss = m.call(loss, Arguments(), place)
    tape = arguments.get("tape", 2)
    taken_by = (tape,) if isinstance(tape, Instance) else ()
    gradients = tapes.gradient(m, loss, trained, place, f"{LOSS_SCALE}.minimize", taken_by)
    _apply(m, optimizer, gradients, trained, place)
    return UNKNOWN
