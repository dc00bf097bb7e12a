"""Rewrites that give the end of a model float32: the layer itself, a float32 activation behind it, or a cast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.codemods import calls, dtypes, layout, names
from mplint.codemods.applications import BehindApplication
from mplint.codemods.casts import cast_to_float32
from mplint.codemods.counting import COUNTED_ON, is_one_of_several
from mplint.codemods.rewrite import Evidence, Rewrite, Together, only_shown
from mplint.codemods.sites import BehindSite
from mplint.codemods.split import Split
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.keras.wrappers import WRAPPERS
from mplint.interpreter.sites import site_of
from mplint.interpreter.values import HALF, Api, Const, Instance, Made, Place, Tensor, softmaxes
from mplint.interpreter.world import End, Layer, around, carrier, core
from mplint.keras_api import activates_last, carries

_ACTIVATION: Final = "keras.layers.Activation"
_QUOTES: Final = "\"'rRbBuU"


@dataclass(frozen=True)
class Float32End(Rewrite):
    """Compute the end of a model in float32."""

    end: End

    def plan(self, evidence: Evidence) -> Fix | None:
        """The smallest change that makes every context of the call right; of softmaxes put together, of all."""
        ends = [end for end in self.end.beside if end.softmax_dtype in HALF]
        return Together(tuple(map(_OneEnd, ends))).plan(evidence) if len(ends) > 1 else _OneEnd(self.end).plan(evidence)


@dataclass(frozen=True)
class _OneEnd(Rewrite):
    """Compute an end, and the one softmax that it carries, in float32."""

    end: End

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype of the layers, a layer more, or a cast."""
        tensor = core(self.end.tensor)
        softmax = self.end.softmax
        chain = list(_chain(self.end))
        site = site_of(self.end)
        if site is not None:
            return BehindSite(self.end, site).plan(evidence)
        application = BehindApplication.of(self.end, chain)
        if application is not None:
            return application.plan(evidence)
        if softmax is not None and softmax.layer is None and softmax.computed_in in HALF:
            first = chain[-1] if chain else None
            called = first is not None and first.base == "keras.layers.Lambda" and first.argument("function")
            return (
                self._given_float32(chain[-1:], evidence)
                if isinstance(called, Api)
                else self._cast_operand(softmax, evidence)
            )
        if not chain:
            lost = self.end.softmax_dtype in HALF and self.end.dtype not in HALF  # a cast is there, and comes too late
            return None if lost else self._cast_result(tensor, evidence)
        around_model = self._around_model(chain[0])
        if around_model is not None:
            return around_model
        if any(dtypes.misses_a_part(self.end.world, layer) for layer in chain):
            own = softmax is not None or tensor.made.place == chain[0].place
            return None if own else self._cast_result(tensor, evidence)
        exact = next((layer for layer in chain if evidence.computes_in_float64(layer.place)), None)
        if exact is not None:
            edits = self._float32(exact, evidence)
            return only_shown(self._gift([exact]), evidence.row_of(exact.place), edits, ": some call has float64 there")
        together = _put_together(self.end)
        for index, layer in enumerate(chain):
            conflict = evidence.disagreement(layer.place) or evidence.mixed(layer.instance, together)
            if conflict is not None and index and self.end.softmax_dtype not in HALF:
                return self._given_float32(chain[:index], evidence)  # what only carries its numbers on is the end's own
            if conflict is not None:
                return self._shown(layer, evidence.row_of(conflict))
        if len(chain) == 1:
            split = self._split(chain[0], evidence)
            if split is not None:
                return split
        return self._given_float32(chain, evidence)

    def _given_float32(self, layers: Sequence[Layer], evidence: Evidence) -> Fix | None:
        """A float32 dtype for each of `layers`."""
        edits = [self._float32(layer, evidence) for layer in layers]
        if not all(edits):  # each of them counts, and one cannot take it
            return None
        every = dict.fromkeys(edit for group in edits for edit in group)
        return Fix(self._gift(layers), Applicability.SAFE, tuple(every))

    def _float32(self, layer: Layer, evidence: Evidence) -> tuple[Edit, ...]:
        """The edits that give a layer float32; none where another run of a call passes a dtype on to it."""
        calls_to_change = (nested.place for nested in dtypes.nested(self.end.world, layer))
        if any(dtypes.is_passed_on(made) for place in calls_to_change for made in evidence.layers_of(place)):
            return ()
        return tuple(dtypes.float32(self.end.world, layer))

    def _gift(self, layers: Sequence[Layer]) -> str:
        """`Give Dense and Reshape dtype float32`, in the order in which they compute."""
        named = dict.fromkeys(name for layer in reversed(layers) for name in dtypes.to_change(self.end.world, layer))
        return f"Give {' and '.join(named)} dtype float32"

    def _around_model(self, wrapper: Layer) -> Fix | None:
        """A wrapper around a model that ends in a softmax: float32 for both, each on its own call."""
        held = dtypes.inside(self.end.world, wrapper)
        head = self.end.softmax_layer
        if held is None or not dtypes.is_model(held) or head is None:
            return None
        edits = [edit for layer in (wrapper, head) for edit in dtypes.own_float32(layer)]
        return Fix("Give the wrapper and the head inside dtype float32", Applicability.SAFE, tuple(edits))

    # -- split: a float32 activation behind the layer

    def _split(self, layer: Layer, evidence: Evidence) -> Fix | None:
        source, call = layer.place.source, layer.place.node
        if evidence.output_fix == "dtype" or not isinstance(call, cst.Call) or layer.of_program:
            return None
        if layer.base == _ACTIVATION or not activates_last(layer.base):
            return None
        activation = calls.argument_of(call, layer.base, "activation", self.end.world.generation)
        if activation is None or activation.star or not _removable(call, activation) or _is_linear(layer):
            return None
        if evidence.output_fix == "auto" and (
            calls.argument(call, "activity_regularizer") is not None
            # their automatic names would change as well
            or any(map(is_one_of_several, evidence.ends_of(layer.place)))
            or evidence.mentions(source.path, COUNTED_ON)
        ):
            return None
        if not isinstance(layer.argument("activation"), (Const, Api)) and self.end.softmax is None:
            return None
        name = calls.argument(call, "name")
        if name is not None and not isinstance(name.value, cst.SimpleString):
            return None
        if calls.has_star(call, "**") or calls.has_star(call, "*"):
            return None
        if name is not None and f"{layout.code(source, name.value).strip(_QUOTES)}_logits" in source.text:
            return None  # the name that the layer would get is taken
        spelled = names.sibling(source, call.func, "Activation")
        if spelled is None:
            return None
        return Split(source, call, activation, name, *spelled).fix()

    # -- casts: where no layer makes the end

    def _cast_operand(self, softmax: Made, evidence: Evidence) -> Fix | None:
        """`softmax(x)` becomes `softmax(cast(x))`: the softmax itself must be float32."""
        place = softmax.place
        if place is None or not isinstance(place.node, cst.Call) or not place.node.args:
            return None
        plain = [arg for arg in place.node.args if not arg.star]
        named = [arg for arg in plain if arg.keyword is not None and arg.keyword.value in ("x", "logits")]
        operand = next((arg for arg in (*plain[:1], *named) if arg.keyword is None or arg in named), None)
        if operand is None or len(plain) != len(place.node.args):
            return None
        symbolic = bool(softmax.operands and softmax.operands[0].symbolic)
        met = evidence.mixed(place, _put_together(self.end))
        conflict = evidence.in_the_middle(place) or (evidence.row_of(met) if met is not None else None)
        return cast_to_float32(self.end, place.source, operand.value, symbolic, conflict, evidence.is_in_both(place))

    def _cast_result(self, tensor: Tensor, evidence: Evidence) -> Fix | None:
        """`x + y` becomes `cast(x + y)`."""
        made = tensor.made
        while made.kind == "operation" and made.by == "part" and made.operands:
            made = made.operands[0].made
        if made.place is None or made.kind not in ("operation", "layer") or self._gives_several(made):
            return None
        layer = self.end.world.layer(made.layer) if made.layer is not None else None
        if layer is not None and layer.place == made.place:  # the call makes the layer, and does not call it
            return None
        node = made.place.node
        if not isinstance(node, (cst.Call, cst.BinaryOperation, cst.UnaryOperation)):
            return None
        # inside a layer's own code the operands have data, whatever the layer is called on
        symbolic = tensor.symbolic if made.kind == "layer" or not made.operands else made.operands[0].symbolic
        conflict = evidence.in_the_middle(made.place)
        return cast_to_float32(
            self.end, made.place.source, node, bool(symbolic), conflict, evidence.is_in_both(made.place)
        )

    def _gives_several(self, made: Made) -> bool:
        """Whether the call gives more than one tensor: a cast would make one of them."""
        if made.kind == "operation":
            operation = keras_api.operation(made.by, self.end.world.generation)
            return operation is not None and operation.gives_several
        given = self.end.world.given_at(made.place) if made.place is not None else ()
        return any(not isinstance(output, Tensor) for output in given)

    # -- what cannot be applied

    def _shown(self, layer: Layer, conflict: str) -> Fix:
        what = self._gift([layer])
        edits = tuple(dtypes.float32(self.end.world, layer))
        why = ": a layer made by the same call, or its result, is used in half precision there"
        return only_shown(what, conflict, edits, why)


def _chain(end: End) -> Iterator[Layer]:
    """The layers that decide the dtype of an end, from the last one back to the one that computes the numbers.

    Layers that only carry numbers on (Reshape, Dropout) round them again: each of them counts.
    """
    step: Tensor | None = end.tensor
    given: list[Made] = []
    while step is not None:
        if end.softmax_dtype not in HALF and any(step.made is each for each in given):
            return  # the layer of the program that it was given to rounds it again
        given += [tensor.made for outer in around(step) if outer.kind == "composite" for tensor in outer.inputs]
        tensor = core(step)
        made = tensor.made
        if made.kind == "layer" and made.layer is not None:
            layer = _acting(end, made.layer)
            if layer is None or layer.constructed_by_program:
                return
            if layer.computes_in in HALF or layer.base in WRAPPERS:
                yield layer
        step = _before(end, tensor)


def _put_together(end: End) -> set[Place | None]:
    """Where the softmax of an end is put together with others only that are changed with it."""
    found: set[Place | None] = set()
    step: Tensor | None = end.tensor if len(softmaxes(end.tensor)) > 1 else None
    while step is not None:
        made = core(step).made
        if len(made.operands) > 1 and all(map(_is_lifted, made.operands)):
            found.add(made.place)
        step = carrier(made, end.softmax)
    return found


def _is_lifted(operand: Tensor) -> bool:
    """Whether a tensor is float32 once the softmaxes that it carries are."""
    carried = softmaxes(operand)
    return operand.dtype not in HALF or (bool(carried) and all(each.computed_in in HALF for each in carried))


def _acting(end: End, made_by: Instance) -> Layer | None:
    """The layer whose dtype a result has: the activation's, where that is a layer and comes last."""
    layer = end.world.layer(made_by)
    activation = layer.argument("activation") if layer is not None and activates_last(layer.base) else None
    acting = end.world.layer(activation) if isinstance(activation, Instance) else None
    return acting or layer


def _before(end: End, tensor: Tensor) -> Tensor | None:
    """What `tensor` carries the numbers of; None where it computes them."""
    made = tensor.made
    if end.softmax is not None and end.softmax_dtype in HALF:  # whatever is done to it later comes too late
        return carrier(made, end.softmax)
    if made.kind == "layer" and made.layer is not None:
        layer = end.world.layer(made.layer)
        carries_on = layer is not None and _passes_on(layer) and len(made.operands) == 1
    else:
        carries_on = (made.kind == "operation" and carries(made.by)) or made.by == "part"
    return made.operands[0] if carries_on and made.operands else None


def _removable(call: cst.Call, argument: cst.Arg) -> bool:
    """Whether the call means the same for the other arguments when `argument` goes."""
    if argument.keyword is not None:
        return True
    behind = call.args[list(call.args).index(argument) + 1 :]
    return all(arg.keyword is not None for arg in behind)


def _passes_on(layer: Layer) -> bool:
    return _is_linear(layer) if layer.base == _ACTIVATION else carries(layer.base)


def _is_linear(layer: Layer) -> bool:
    """Whether the layer is told to have no activation."""
    return layer.constant("activation") in ("linear", None) and isinstance(layer.argument("activation"), Const)
