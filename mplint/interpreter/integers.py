"""Whole numbers that say which (ids, positions, labels), where they are carried in half precision.

float16 holds all of them up to 2048, bfloat16 up to 256; of those beyond, only some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from mplint import keras_api
from mplint.interpreter import carrying
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.keras.tensors import COUNTS
from mplint.interpreter.trace import Computed, Counted, Fed, LayerCalled
from mplint.interpreter.values import (
    FLOATS,
    HALF,
    Api,
    Array,
    Const,
    Dict,
    Instance,
    List,
    Made,
    Place,
    Policy,
    Tensor,
    Tuple,
    Value,
    alternatives,
)
from mplint.interpreter.world import World
from mplint.keras_api import Kind
from mplint.keras_api.arithmetic import TAKES_FLOATS, TAKES_IDS, TAKES_LABELS

EXACT: Final = {"float16": 2048, "bfloat16": 256}
"""Up to here a dtype holds all whole numbers."""
_TABLES: Final = {"keras.layers.Embedding": "input_dim"}
"""Layers that take ids, and the argument that says how many there are."""
_FEW: Final = {"float16": 128, "bfloat16": 16}
_COMPARES: Final = frozenset(f"operator.{symbol}" for symbol in ("==", "!=", "<", "<=", ">", ">="))
_ANGLES: Final = frozenset({"tensorflow.math.sin", "tensorflow.math.cos", "keras.ops.sin", "keras.ops.cos"})


@dataclass(frozen=True)
class Rounded:
    """Whole numbers that get into half precision on their way to where they are used."""

    at: Place
    """The input, cast or range that makes them floating."""
    origin: Made | None
    """How; None of an array."""
    dtype: str
    used: str
    """What uses them, in words."""
    count: int | None
    """How many different ones there may be; None where that is not known."""
    policy: Policy | None
    """The policy by which they are half precision; None where the program casts them by itself."""


class Integers:
    """What a world does to whole numbers."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._counted = {id(e.made): e.stop for e in world.trace.events if isinstance(e, Counted)}

    def rounded(self) -> tuple[Rounded, ...]:
        """Ids that lose digits on the way to a table, and positions on the way to angles; once for each origin."""
        found: dict[Place, Rounded] = {}
        for each in self._all():
            before = found.get(each.at)
            if before is None or (before.count or 0) < (each.count or 0):
                found[each.at] = each
        return tuple(found.values())

    def _all(self) -> Iterator[Rounded]:
        for event in self._world.trace.events:
            if isinstance(event, LayerCalled):
                yield from self._into_table(event)
            elif isinstance(event, Computed):
                yield from self._into_function(event)
            elif isinstance(event, Fed) and event.model is not None:
                yield from self._into_model(event.model, event)

    def _into_table(self, event: LayerCalled) -> Iterator[Rounded]:
        info = info_of(self._world.machine, event.layer)
        if info is None or info.base not in _TABLES or not event.inputs:
            return
        size = _whole(info.argument(_TABLES[info.base]))
        yield from self._ids(event.inputs[0], info.base.rpartition(".")[2], size)

    def _into_function(self, event: Computed) -> Iterator[Rounded]:
        arguments = dict(event.arguments)
        if event.by in TAKES_IDS:
            ids, size = TAKES_IDS[event.by]
            given = arguments.get(ids)
            if isinstance(given, Tensor) and (given.dtype not in HALF or event.by in TAKES_FLOATS):  # others raise
                yield from self._ids(given, event.by.rpartition(".")[2], _whole(arguments.get(size)))
        elif event.by in TAKES_LABELS:
            labels, logits = (arguments.get(name) for name in TAKES_LABELS[event.by])
            classes = self._features(logits) if isinstance(logits, Tensor) else None
            if isinstance(labels, Tensor) and classes is not None:
                yield from self._ids(labels, "labels", classes)
        elif event.by in _ANGLES and event.result is not None and event.result.dtype in HALF:
            for operand in event.result.made.operands:
                yield from self._positions(operand)
        elif event.result is not None and event.result.dtype in HALF:
            yield from self._long_range(event.result)

    def _into_model(self, model: Instance, event: Fed) -> Iterator[Rounded]:
        """Ids and labels that a model is given."""
        given = self._by_name(event.inputs)
        sizes = self._looked_up if given else {}
        for name, tensor in self._inputs(model) if sizes else ():
            value = given.get(name, given.get(None))
            if value is not None and id(tensor.made) in sizes:
                yield from self._data(value, "Embedding", sizes[id(tensor.made)])
        classes = self._classes(model)
        for value in self._by_name(event.targets).values() if classes is not None else ():
            yield from self._data(value, "labels", classes)

    def _data(self, value: Value, used: str, count: int | None) -> Iterator[Rounded]:
        """Tensors, or an array, that hold whole numbers."""
        if isinstance(value, Tensor):
            yield from self._ids(value, used, count)
        elif isinstance(value, Array) and value.rounded is not None and value.dtype in HALF:
            yield from _if_too_many(Rounded(value.rounded, None, value.dtype, used, count, None))

    def _by_name(self, value: Value) -> dict[object, Value]:
        """What a model is given, by the names or numbers of its inputs; under None, where it is a single thing."""
        m = self._world.machine
        match value:
            case Dict():
                return {key.value: held for key, held in m.entries(value).pairs if isinstance(key, Const)}
            case Tuple():
                return dict(enumerate(value.items))
            case List():
                return dict(enumerate(m.items(value).items))
            case _:
                return {None: value}

    def _inputs(self, model: Instance) -> Iterator[tuple[object, Tensor]]:
        """The inputs of a Functional model by name, then by number; None for a single one."""
        held = self._world.machine.state.get((model.address, "@inputs"))
        parts = self._world.machine.parts(held) if isinstance(held, Value) else ()
        tensors = [part for part in parts if isinstance(part, Tensor)]
        for number, tensor in enumerate(tensors):
            layer = self._world.layer(tensor.made.layer) if tensor.made.layer is not None else None
            yield layer.constant("name") if layer is not None else None, tensor
            yield number if len(tensors) > 1 else None, tensor

    @cached_property
    def _looked_up(self) -> dict[int, int | None]:
        """The inputs whose numbers tables are asked for, and how many different ones there are."""
        found: dict[int, int | None] = {}
        for event in self._world.trace.events:
            info = info_of(self._world.machine, event.layer) if isinstance(event, LayerCalled) else None
            if info is not None and info.base in _TABLES and isinstance(event, LayerCalled):
                size = _whole(info.argument(_TABLES[info.base]))
                for made in (way for tensor in event.inputs for way in carrying.sources(self._world, tensor)):
                    found[id(made)] = size if id(made) not in found else _least(size, found[id(made)])
        return found

    def _classes(self, model: Instance) -> int | None:
        """How many classes the labels of a model tell apart, where each is a number."""
        if "sparse" not in _name_of(self._world.machine.field(model.address, "loss")).lower():
            return None
        for end in self._world.model_ends():
            if end.model.instance == model:
                return self._features(end.tensor)
        return None

    def _features(self, tensor: Tensor) -> int | None:
        """How many features a layer gives that made the tensor, where that is a Dense."""
        dense = (layer for layer in self._world.makers(tensor) if layer.base == "keras.layers.Dense")
        return next((_whole(layer.argument("units")) for layer in dense), None)

    def _ids(self, tensor: Tensor, used: str, size: int | None) -> Iterator[Rounded]:
        """The origins of ids that were half precision somewhere on the way to where they are looked up."""
        for made, dtype, by_layer in self.origins(tensor):
            count = size if made.by not in COUNTS else _least(size, self._counted.get(id(made)))
            if made.place is not None and (count is None or count - 1 > EXACT[dtype]):
                policy = self._policy(by_layer)
                yield Rounded(made.place, made, dtype, used, count, policy)

    def _policy(self, layer: Instance | None) -> Policy | None:
        found = self._world.layer(layer) if layer is not None else None
        return found.policy if found is not None else None

    def _long_range(self, tensor: Tensor) -> Iterator[Rounded]:
        """A range, or a cast of one, that is longer than half precision can count."""
        made = tensor.made
        counted = made if made.by in COUNTS else made.operands[0].made if _is_cast(made) else None
        stop = self._counted.get(id(counted)) if counted is not None else None
        if made.place is not None and stop is not None and tensor.dtype and stop - 1 > EXACT[tensor.dtype]:
            yield Rounded(made.place, made, tensor.dtype, "range", stop, None)

    def _positions(self, tensor: Tensor) -> Iterator[Rounded]:
        """Positions of which angles are computed in half precision."""
        stack, seen = [tensor], set[int]()
        while stack:
            here = stack.pop()
            made = here.made
            if id(made) in seen or here.dtype not in HALF:
                continue
            seen.add(id(made))
            counted = made.by in COUNTS or (_is_cast(made) and made.operands[0].dtype not in (None, *FLOATS)
                                            and self._counts(made.operands[0]))  # fmt: skip
            if counted and made.place is not None and not self._is_short(made, here.dtype or ""):
                yield Rounded(made.place, made, here.dtype or "", "angles", None, None)
            elif made.kind in ("operation", "joined", "cast"):
                stack.extend(made.operands)

    def _is_short(self, made: Made, dtype: str) -> bool:
        """Whether angles of so few positions stay right to the second digit."""
        ranges = (made, *(operand.made for operand in made.operands))
        stop = next((stop for each in ranges if (stop := self._counted.get(id(each))) is not None), None)
        return stop is not None and stop <= _FEW[dtype]

    def _counts(self, tensor: Tensor) -> bool:
        """Whether a tensor holds the numbers of a range, moved or shifted."""
        stack = [tensor]
        while stack:
            made = stack.pop().made
            if made.by in COUNTS:
                return True
            if made.kind in ("operation", "joined", "cast"):
                stack.extend(made.operands)
        return False

    def origins(self, tensor: Tensor) -> Iterator[tuple[Made, str, Instance | None]]:
        """What made whole numbers floating that are `tensor` now, the half precision that they were in, and whose.

        The layer is that which has cast them; None where the program does.  Of arguments that nobody was seen to pass
        the dtype is not known: nothing is said of what meets them.
        """
        found: list[tuple[Made, str, Instance | None]] = []
        stack: list[_Step] = [_Step(tensor)]
        seen: set[tuple[int, str | None]] = set()
        while stack:
            step = stack.pop()
            for way in alternatives(step.tensor):
                here = step.behind(way)
                if (id(way.made), here.dtype) in seen:
                    continue
                seen.add((id(way.made), here.dtype))
                if way.made.kind == "argument":
                    return
                if not self._is_origin(way):
                    stack.extend(replace(here, tensor=operand) for operand in carrying.carried(self._world, way.made))
                elif here.dtype is not None:
                    found.append((way.made, here.dtype, here.layer))
        yield from found

    def _is_origin(self, tensor: Tensor) -> bool:
        """Whether whole numbers become floating here: those of data, of a range, of a tensor of integers."""
        made = tensor.made
        if made.kind == "input":
            return made.layer is not None and tensor.dtype in FLOATS
        if made.kind == "cast":
            given = made.operands[0].dtype if made.operands else None
            is_asked = tensor.dtype in HALF and made.by != "autocast"
            return tensor.dtype in FLOATS and given not in FLOATS and (given is not None or is_asked)
        return made.by in COUNTS

    def together(self, rounded: Rounded) -> tuple[Rounded, ...] | None:
        """All origins that must become integers at once with `rounded`; None where something takes floats only."""
        known = [each for each in self.rounded() if each.origin is not None]
        found = {rounded.at: rounded}
        waiting = [rounded]
        while waiting:
            origin = waiting.pop().origin
            assert origin is not None
            for tensors, takes_integers in self._uses(origin):
                if not takes_integers:
                    return None
                for tensor in tensors:
                    behind = [each for each in known if each.origin is not None and self._reaches(tensor, each.origin)]
                    if not behind:
                        return None
                    fresh = [each for each in behind if each.at not in found]
                    found.update((each.at, each) for each in fresh)
                    waiting += fresh
        return tuple(found.values())

    def _uses(self, origin: Made) -> Iterator[tuple[Sequence[Tensor], bool]]:
        """What takes the numbers of `origin`: all that it takes beside them, and whether integers would do."""
        for event in self._world.trace.events:
            if isinstance(event, LayerCalled):
                if any(self._reaches(tensor, origin) for tensor in event.inputs):
                    yield event.inputs, self._takes_integers(event.layer)
            elif isinstance(event, Computed):
                given = [part for _, value in event.arguments for part in self._world.machine.parts(value)]
                tensors = [part for part in given if isinstance(part, Tensor)]
                if any(self._reaches(tensor, origin) for tensor in tensors):
                    yield () if event.by in (*TAKES_IDS, *TAKES_LABELS) else tensors, self._computes_integers(event)

    def _reaches(self, tensor: Tensor, origin: Made) -> bool:
        return carrying.reaches(self._world, tensor, origin)

    def _takes_integers(self, layer: Instance) -> bool:
        info = info_of(self._world.machine, layer)
        if info is None:
            return False
        if not isinstance(layer.cls, Api) or keras_api.kind(info.base) is Kind.MODEL or info.base == carrying.LAMBDA:
            return True  # what it does to them is seen by itself
        return info.base in _TABLES or carrying.passes_on(info.base, carrying.constants(info), self._world.generation)

    def _computes_integers(self, event: Computed) -> bool:
        if event.result is not None and event.result.made.kind == "cast":
            return event.by == "autocast" or event.result.dtype not in FLOATS
        if (
            event.by in (*TAKES_IDS, *TAKES_LABELS)
            or event.by == "part"
            or carrying.passes_on(event.by, {}, self._world.generation)
        ):
            return True
        others = [value for _, value in event.arguments if isinstance(value, Const)]
        whole = all(isinstance(other.value, int) for other in others)
        return whole and (event.by in carrying.SHIFTS or event.by in _COMPARES)


@dataclass(frozen=True)
class _Step:
    """A tensor on the way back to where its numbers come from."""

    tensor: Tensor
    dtype: str | None = None
    """The half precision that they were in last, seen from where they come from."""
    layer: Instance | None = None
    """The layer that has cast them to it; None where the program did."""
    inside: Instance | None = None
    """The layer of the program in which this is computed."""

    def behind(self, way: Tensor) -> _Step:
        """The step that takes one way in which the tensor may have been made."""
        made = way.made
        inside = made.layer if made.kind == "composite" else self.inside
        if way.dtype not in HALF:
            return replace(self, inside=inside)
        layer = made.layer if made.kind in ("layer", "composite") else inside if made.by == "autocast" else self.layer
        return _Step(self.tensor, way.dtype, layer, inside)


def _name_of(value: Value | None) -> str:
    """What a loss is called."""
    match value:
        case Const(value=str(name)) | Api(path=name) | Instance(cls=Api(path=name)):
            return name
        case _:
            return ""


def _if_too_many(rounded: Rounded) -> Iterator[Rounded]:
    """The same where there are, or may be, more than half precision holds."""
    if rounded.count is None or rounded.count - 1 > EXACT[rounded.dtype]:
        yield rounded


def _is_cast(made: Made) -> bool:
    return made.kind == "cast" and bool(made.operands)


def _whole(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)
