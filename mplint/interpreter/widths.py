"""How many features the tensors of a run have: what decides it, and which of them must have as many.

A width is decided by the layers whose sizes it is.  Tensors that are added up have one width between them, and so have
the inputs of one layer, whose weights have one shape.  A width is fixed where anything beside the layers that are known
here depends on it: it is that of data, of what a model gives, of a weight, or of something that is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.interpreter.keras import models, wrappers
from mplint.interpreter.keras.info import WEIGHTS, LayerInfo, info_of
from mplint.interpreter.origins import number, value_of
from mplint.interpreter.trace import GradientTaken, LayerCalled
from mplint.interpreter.values import NONE, Api, Const, Instance, List, Made, Place, Tensor, Tuple, Unknown, Value
from mplint.interpreter.world import World, outputs_of, tensors_of

_ATTENTION: Final = frozenset({"keras.layers.Attention", "keras.layers.AdditiveAttention"})
_MULTI_HEAD: Final = frozenset({"keras.layers.MultiHeadAttention"})
_RECURRENT: Final = frozenset({"keras.layers.LSTM", "keras.layers.GRU", "keras.layers.SimpleRNN"})
_CONSTANT: Final = Api("keras.initializers.Constant")
_EMBEDDING: Final = "keras.layers.Embedding"
_FLAT: Final = ("keras.layers.Flatten", "keras.layers.GlobalAverage", "keras.layers.GlobalMax")
_TRANSPARENT: Final = frozenset({"sequential", "subclass"})
"""Forms of models whose layers are seen at work each time that the model is called."""
_DIVISORS: Final = (1, 2, 4, 8, -1)
"""Numbers of groups into which each multiple of 8 can be divided."""


class Width:
    """The number of features that some tensors have."""

    __slots__ = ("_same", "fixed", "multiplied", "parts", "value")

    def __init__(self, value: int | None = None, *, fixed: bool = False, parts: tuple[Width, ...] = ()) -> None:
        self.value = value
        self.fixed = fixed
        self.multiplied = False
        """Whether matrices of this width are multiplied."""
        self.parts = parts
        """The widths that it is put together from."""
        self._same: Width | None = None

    @property
    def root(self) -> Width:
        """What stands for all widths that are equal to this one."""
        here = self
        while here._same is not None:
            here = here._same
        return here

    def tie(self, other: Width) -> None:
        """Note that both must be equal."""
        one, two = self.root, other.root
        if one is two or 1 in (one.value, two.value):  # a single feature goes with any number
            return
        one.fixed |= two.fixed or bool(one.parts or two.parts) or one.value != two.value
        one.multiplied |= two.multiplied
        one.parts += two.parts
        two._same = one


class Widths:
    """The widths in one finished run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._m = world.machine
        self._of: dict[int, tuple[Width, ...]] = {}
        self._used: set[int] = set()
        """What something was seen to be done with."""
        self._made: list[Made] = []
        self.sizes: list[tuple[Instance, str, Const, Width | None]] = []
        """The arguments of layers that are sizes, and the widths that they decide; None is inside a layer alone."""
        self._owns: dict[Instance, Width] = {}
        """By layer, the width that its size decides."""
        self._into: dict[Instance, Width] = {}
        """By layer, the width of what it is called on."""
        self._models: set[Instance] = set()
        """The models that are called on tensors."""
        for event in world.trace.events:
            if isinstance(event, LayerCalled):
                self._note_call(event)
            elif isinstance(event, GradientTaken):
                for tensor in event.made.operands:
                    self._fix(self._use(tensor))
        self._note_models()
        for made in self._made:
            if id(made) not in self._used:
                self._fix(self._of[id(made)])
        self._spread()

    def _note_call(self, event: LayerCalled) -> None:
        given = tensors_of(self._world, event.output)
        if not given:  # nobody knows what it does with its inputs
            for tensor in event.inputs:
                self._fix(self._use(tensor))
        for tensor in given:
            self.widths(tensor)

    def _note_models(self) -> None:
        """What a model gives has a meaning, unless it is a part whose layers work in the place of the model."""
        for model in self._world.models:
            part = model.form in _TRANSPARENT and self._world.is_part(model) and model.instance in self._models
            part = part and model.instance.address not in self._m.program.trained
            for tensor in outputs_of(self._world, model):
                found = self._use(tensor)
                if not part:
                    self._fix(found)

    def _spread(self) -> None:
        """What is put together of others is fixed with them."""
        stack = [width.root for widths in self._of.values() for width in widths if width.root.fixed]
        seen = set(map(id, stack))
        while stack:
            for part in stack.pop().parts:
                root = part.root
                root.fixed = True
                if id(root) not in seen:
                    seen.add(id(root))
                    stack.append(root)

    # -- tensors

    def widths(self, tensor: Tensor) -> tuple[Width, ...]:
        """The width of a tensor, or those that it may have."""
        made = tensor.made
        found = self._of.get(id(made))
        if found is None:
            self._of[id(made)] = ()
            self._made.append(made)
            found = self._of[id(made)] = tuple(self._computed(made))
        return found

    def _use(self, tensor: Tensor) -> tuple[Width, ...]:
        """The width of a tensor that something is done with."""
        self._used.add(id(tensor.made))
        return self.widths(tensor)

    def _all(self, tensors: Iterable[Tensor]) -> list[Width]:
        return [width for tensor in tensors if tensor.dtype != "bool" for width in self._use(tensor)]

    @staticmethod
    def _fix(widths: Iterable[Width]) -> None:
        for width in widths:
            width.root.fixed = True

    def _unknown(self, widths: Iterable[Width] = ()) -> list[Width]:
        """The width of something that is not followed, which may depend on `widths`."""
        self._fix(widths)
        return [Width(fixed=True)]

    @staticmethod
    def _tied(widths: list[Width]) -> list[Width]:
        """Widths that must be equal; which of them has the others is not a single feature."""
        wide = [width for width in widths if width.root.value != 1]
        for width in wide[1:]:
            wide[0].tie(width)
        return (wide or widths)[:1]

    def _computed(self, made: Made) -> list[Width]:
        match made.kind:
            case "joined":
                return list(dict.fromkeys(self._all(made.operands)))
            case "layer" if made.layer is not None:
                return self._of_layer(made, made.layer)
            case "model" if made.layer is not None:
                self._models.add(made.layer)
                if models.form_of(self._m, made.layer) not in _TRANSPARENT:
                    self._fix(self._all(made.inputs))
                return self._all(made.operands) or self._unknown()
            case "composite" | "cast":
                return self._all(made.operands) or self._unknown()
            case "operation":
                return self._of_operation(made)
            case _:
                return self._unknown(self._all(made.operands))

    def _of_operation(self, made: Made) -> list[Width]:
        given = self._all(made.operands)
        if not given:
            return self._unknown()
        how = keras_api.features_of(made.by)
        if made.by == "part":
            how = "kept" if _keeps_features(made.place) else None
        elif made.by.startswith("operator."):
            how = None if made.by.endswith(("@", "None")) else "met"
        if how == "joined":
            return self._joined(given, along_features=False)
        if how not in ("kept", "met") or not all(isinstance(other, Const) for other in made.others):
            return self._unknown(given)
        return self._tied(given) if how == "met" else given

    def _joined(self, given: list[Width], *, along_features: bool) -> list[Width]:
        """Tensors behind each other; those that may not be so along their features are as wide as each other."""
        values = {width.root.value for width in given}
        if not along_features and len(values) == 1:
            self._tied(given)
        return [Width(parts=tuple(given))]

    # -- layers

    def _of_layer(self, made: Made, layer: Instance) -> list[Width]:
        info = info_of(self._m, layer)
        operands = [tensor for tensor in made.operands if tensor.dtype != "bool"]
        if info is None or not operands:
            return self._unknown(self._all(operands))
        held = wrappers.inner(self._m, info)
        inside = info_of(self._m, held) if held is not None else None
        if held is None or inside is None:
            return self._called(layer, info, operands)
        if info.argument("backward_layer") not in (None, NONE):
            return self._unknown([*self._all(operands), *self._own(held, inside, inside.base)])
        widths = self._called(held, inside, operands)
        both = info.base == "keras.layers.Bidirectional" and info.argument("merge_mode") in (None, Const("concat"))
        return [Width(parts=tuple(widths))] if both else widths

    def _called(self, layer: Instance, info: LayerInfo, operands: list[Tensor]) -> list[Width]:
        """The width of what a layer of the library gives."""
        base = info.base
        first, rest = self._all(operands[:1]), self._all(operands[1:])
        how = keras_api.features_of(base)
        if base == "keras.layers.Lambda":
            return [*first, *rest]
        if base in _ATTENTION:
            return self._attention(first, rest)
        if base in _MULTI_HEAD:
            return self._multi_head(layer, info, first, rest)
        if base == "keras.layers.Dot":
            return self._dot(info, operands, [*first, *rest])
        if base == "keras.layers.Reshape":
            return self._reshaped(layer, info, first)
        if how == "given":
            return self._given(layer, info, first, rest, shared=not _is_unseen(operands[0].made))
        if how == "kept" and not rest and self._keeps(info):
            return first
        if how == "met":
            return self._tied([*first, *rest])
        if how == "joined":
            return self._joined([*first, *rest], along_features=info.argument("axis") in (None, Const(-1)))
        if how == "flattened":
            return [Width(parts=tuple(first))]
        return self._unknown([*first, *rest])

    def _own(self, layer: Instance, info: LayerInfo, base: str) -> list[Width]:
        """The width that the size of a layer decides."""
        found = self._owns.get(layer)
        if found is None:
            parameter = keras_api.given_features(base)
            told = number(info.argument(parameter)) if parameter is not None else None
            found = self._owns[layer] = Width(None if told is None else value_of(told), fixed=told is None)
            found.multiplied = base != _EMBEDDING
            if self._has_weights(layer, info):
                found.fixed = True
            if told is not None and parameter is not None:
                self.sizes.append((layer, parameter, told, found))
        return [found]

    def _has_weights(self, layer: Instance, info: LayerInfo) -> bool:
        """Whether the program gives the layer its weights, which have the shape that they have."""
        given = (info.argument("weights"), info.argument("embeddings_initializer"), info.argument("kernel_initializer"))
        if any(value not in (None, NONE) for value in given[:1]) or isinstance(given[1], Unknown):
            return True
        made = any(isinstance(value, Instance) and value.cls == _CONSTANT for value in given[1:])
        return made or self._m.state.get((layer.address, WEIGHTS)) is not None

    def _given(
        self, layer: Instance, info: LayerInfo, first: list[Width], rest: list[Width], *, shared: bool
    ) -> list[Width]:
        own = self._own(layer, info, info.base)
        if info.base != _EMBEDDING:
            for width in first:
                width.root.multiplied = True
        if rest and info.base in _RECURRENT:  # the states that it begins with
            self._tied([*own, *rest])
        elif rest:
            self._fix(rest)
        if not _divides(info.argument("groups")):
            self._fix([*own, *first])
        if shared and not self._m.is_several(layer.address):
            self._share(layer, first)
        return own

    def _share(self, layer: Instance, first: list[Width]) -> None:
        """All that a layer is called on meets the same weights."""
        for width in first:
            self._into.setdefault(layer, width).tie(width)

    def _keeps(self, info: LayerInfo) -> bool:
        """Whether such a layer gives as many features as it gets, of whatever number."""
        if info.base == "keras.layers.GroupNormalization":
            return _divides(info.argument("groups"), given=False)
        return info.argument("depth_multiplier") in (None, Const(1))

    def _attention(self, first: list[Width], rest: list[Width]) -> list[Width]:
        together = self._tied([*first, *rest])
        for width in together:
            width.root.multiplied = True
        return together

    def _multi_head(self, layer: Instance, info: LayerInfo, first: list[Width], rest: list[Width]) -> list[Width]:
        for parameter in keras_api.size_parameters(info.base):
            told = number(info.argument(parameter))
            if told is not None and (layer, parameter, told, None) not in self.sizes:
                self.sizes.append((layer, parameter, told, None))
        for width in (*first, *rest):
            width.root.multiplied = True
        return first if info.argument("output_shape") in (None, NONE) else self._unknown()

    def _dot(self, info: LayerInfo, operands: list[Tensor], given: list[Width]) -> list[Width]:
        axes = info.argument("axes")
        flat = all(operand.made.by.startswith(_FLAT) for operand in operands)
        if axes in (Const(-1), Const(2)) or (axes == Const(1) and flat):
            self._tied(given)
            return [Width(1)]
        return self._tied(given) if axes == Const(1) else self._unknown(given)

    def _reshaped(self, layer: Instance, info: LayerInfo, first: list[Width]) -> list[Width]:
        """`Reshape((1, 1, n))` has the features that it gets, and says how many; `Reshape((-1,))` flattens."""
        target = info.argument("target_shape")
        items = self._m.items(target) if isinstance(target, List) else target
        if not isinstance(items, Tuple) or items.rest is not None or not items.items:
            return self._unknown(first)
        *others, last = items.items
        if not others and last == Const(-1):
            return [Width(parts=tuple(first))]
        told = number(last)
        plain = all(other in (Const(1), Const(-1)) for other in others)
        if told is None or not plain or any(width.root.value != told.value for width in first):
            return self._unknown(first)
        self.sizes += [(layer, "target_shape", told, width) for width in first]
        return first


def _is_unseen(made: Made) -> bool:
    """Whether it stands for data of any kind, to see what a model gives for it."""
    return made.kind in ("input", "argument") and not made.by


def _divides(groups: Value | None, *, given: bool = True) -> bool:
    """Whether each multiple of 8 can be divided into `groups`; where nothing is said, that is so if `given`."""
    return given if groups is None else isinstance(groups, Const) and groups.value in _DIVISORS


def _keeps_features(place: Place | None) -> bool:
    """Whether what is taken of a tensor has all its features, or one: `x[:, 0]`, `x[:, -1, :]`."""
    node = place.node if place is not None else None
    if not isinstance(node, cst.Subscript):
        return False
    return all(
        isinstance(element.slice, cst.Index)
        or (isinstance(element.slice, cst.Slice) and element.slice.lower is None and element.slice.upper is None)
        for element in node.slice
    )
