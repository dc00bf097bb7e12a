"""What each function gives for operands of every kind: it is called, traced, eagerly and on KerasTensors."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keras_table import atoms, kinds
from keras_table.function_recipes import (
    EXTRA,
    MODULES,
    SPECIAL,
    VALUES,
    Tensor,
    calls_for,
    is_skipped,
    kinds_for,
)
from keras_table.kinds import ATOMS, LETTERS, RAISES, TENSORS, UNKNOWN
from keras_table.layers import carried
from keras_table.packages import GENERATION, keras, set_policy, tf
from keras_table.shapes import leaf_dtypes

DTYPE_PARAMETERS = ("dtype", "out_type", "output_type", "output_dtype", "type", "tensor_dtype", "index_type", "out_idx")
ASKED_DTYPES = ("float16", "float32", "int32", "int64")
SYMBOLIC_SAMPLE = (
    *(("h", "h"), ("f", "f"), ("h", "f"), ("f", "h"), ("h", "pF"), ("pF", "h"), ("h", "pI"), ("h", "nf"), ("nf", "h")),
    *(("h", "sf"), ("i", "i"), ("h", "i"), ("b", "h")),
)
OPERATORS: dict[str, Callable[..., Any]] = {
    "operator.+": lambda x, y: x + y,
    "operator.-": lambda x, y: x - y,
    "operator.*": lambda x, y: x * y,
    "operator./": lambda x, y: x / y,
    "operator.//": lambda x, y: x // y,
    "operator.%": lambda x, y: x % y,
    "operator.**": lambda x, y: x**y,
    "operator.@": lambda x, y: x @ y,
    "operator.==": lambda x, y: x == y,
    "operator.!=": lambda x, y: x != y,
    "operator.<": lambda x, y: x < y,
    "operator.<=": lambda x, y: x <= y,
    "operator.>": lambda x, y: x > y,
    "operator.>=": lambda x, y: x >= y,
    "operator.&": lambda x, y: x & y,
    "operator.|": lambda x, y: x | y,
    "operator.^": lambda x, y: x ^ y,
    "operator.unary-": lambda x: -x,
    "operator.unary+": lambda x: +x,
    "operator.unary~": lambda x: ~x,
    "operator.abs": lambda x: x.__abs__(),
    "operator.getitem": lambda x: x[0:1],
}


@dataclass(frozen=True)
class Atom:
    """An operand of one kind, made when the function is called; `how` where it is not as the others."""

    atom: str
    shape: tuple[int, ...]
    how: str | None = None


def measure(names: list[dict[str, Any]]) -> dict[str, Any]:
    """Path -> what was found; `names` is what `names.measure` gave."""
    set_policy("float32")
    found: dict[str, Any] = {}
    for path, function in OPERATORS.items():
        dtype = "bool" if path[-1] in "&|^~" else "float32"
        bench = _Bench(path, function, {name: Tensor((4, 4), dtype) for name in inspect.signature(function).parameters})
        if bench.hows:
            found[path] = bench.measure()
    for path, function in _functions(names):
        call = _call_that_works(path, function)
        if call is not None:
            found[path] = _Bench(path, function, call).measure()
    return found


def _functions(names: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """One path for each function, the one that `SPECIAL` knows first."""
    seen: set[int] = set()
    for name in sorted(names, key=lambda each: (each["path"] not in SPECIAL, each["path"])):
        path, kind = name["path"], name["kind"]
        module, _, last = path.rpartition(".")
        if name["thing"] in seen or (module not in MODULES and path not in EXTRA):
            continue
        if path not in EXTRA and (
            is_skipped(last)
            or kind not in ("function", "activation", "loss", "metric")
            or (kind in ("loss", "metric") and last[0].isupper())
        ):
            continue
        seen.add(name["thing"])
        yield path, resolve(path)
    yield from _instances(names)


def _instances(names: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Loss and metric classes: what counts is what calling one of their objects gives."""
    seen: set[int] = set()
    for name in names:
        path, last = name["path"], name["path"].rpartition(".")[2]
        if name["kind"] not in ("loss", "metric") or not last[0].isupper() or name["thing"] in seen:
            continue
        seen.add(name["thing"])
        if path.rpartition(".")[0] not in ("keras.losses", "keras.metrics"):
            continue
        try:
            thing = resolve(path)()
        except Exception:  # noqa: BLE001  (needs arguments, or is abstract)
            continue
        if "y_true" in inspect.signature(thing.call if name["kind"] == "loss" else thing.update_state).parameters:
            yield path, thing


def resolve(path: str) -> Any:
    """The object at a public path."""
    parts = path.split(".")
    if parts[0] == "tensorflow":
        roots: list[Any] = [tf]
    elif GENERATION == "3":
        import keras._tf_keras.keras as through_tensorflow

        roots = [keras, through_tensorflow]
    else:
        roots = [keras]
    for found in roots:
        for part in parts[1:]:
            found = getattr(found, part, None)
        if found is not None:
            return found
    raise LookupError(path)


def _call_that_works(path: str, function: Any) -> dict[str, Any] | None:
    for call in _unlike(calls_for(path, function)):
        for how in ("eager", "traced"):
            if all(_has_tensor(_run(function, call, {}, how)) for _ in range(2)):  # some work once in a process only
                return call
    return None


def _unlike(calls: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen = set()
    for call in calls:
        key = repr(sorted(call.items(), key=lambda pair: pair[0]))
        if key not in seen:
            seen.add(key)
            yield call


def _has_tensor(result: Any) -> bool:
    if isinstance(result, list):
        return any(_has_tensor(part) for part in result)
    if isinstance(result, dict):
        return any(_has_tensor(part) for part in result.values())
    return result is not None and result != RAISES


def _run(function: Any, call: Mapping[str, Any], chosen: Mapping[str, Any], how: str) -> Any:
    """The dtypes of a result, RAISES, or None where this machine has no kernel."""
    try:
        if how == "traced":
            with atoms.graph().as_default():
                return leaf_dtypes(_applied(function, call, chosen, how))
        return leaf_dtypes(_applied(function, call, chosen, how))
    except (ImportError, tf.errors.NotFoundError, tf.errors.UnimplementedError):
        return None  # an optional package or a kernel that this machine lacks: that says nothing of dtypes
    except Exception as error:  # noqa: BLE001  (whatever is raised, the point is that it is)
        return None if "No OpKernel" in str(error) or "not supported by XLA" in str(error) else RAISES


def _applied(function: Any, call: Mapping[str, Any], chosen: Mapping[str, Any], how: str) -> Any:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, value in call.items():
        made = _operand(chosen.get(name, value), how)
        if name.startswith("*"):
            positional = [*keywords.values(), *made]
            keywords = {}
        else:
            keywords[name] = made
    if not positional and not keywords:
        return function()
    if positional:
        return function(*positional, **keywords)
    try:
        first, *others = keywords.items()
        return function(first[1], **dict(others))
    except TypeError as error:
        if "positional" in str(error) or "keyword" in str(error):
            return function(*keywords.values())
        raise


def _operand(value: Any, how: str) -> Any:
    if isinstance(value, Tensor):
        if value.index and how != "traced":  # what only selects is never symbolic: that is another question
            return atoms.index(value.dtype, value.shape)
        return atoms.tensor(value.dtype, value.shape, how)
    if isinstance(value, Atom):
        return atoms.made(value.atom, value.shape, value.how or how)
    if isinstance(value, list) and value and isinstance(value[0], (Atom, Tensor)):
        return [_operand(each, how) for each in value]
    return value


class _Bench:
    """Calls one function on operands of every kind."""

    def __init__(self, path: str, function: Any, call: dict[str, Any]) -> None:
        atoms.forget_graph()
        self.path = path
        self.function = function
        self.call = call
        self.values = [
            name
            for name, value in call.items()
            if (isinstance(value, Tensor) and not value.index)
            or (isinstance(value, list) and value and isinstance(value[0], Tensor))
        ]
        self.listed = len(self.values) == 1 and isinstance(call[self.values[0]], list)
        self.kinds = kinds_for(path)
        self.hows = [how for how in ("eager", "traced") if _has_tensor(_run(function, call, {}, how))]

    def measure(self) -> dict[str, Any]:
        """Matrices of results, real and symbolic, and which other parameters matter."""
        places = 2 if self.listed else len(self.values)
        if GENERATION == "2" and self.path.startswith("tensorflow."):
            return {"symbolic": self.symbolic_matrix({}, places, [True, True])}  # the rest is measured beside Keras 3
        found: dict[str, Any] = {
            "operands": self.values,
            "indices": [name for name, value in self.call.items() if isinstance(value, Tensor) and value.index],
            "listed": self.listed,
            "many": self.many(),
            "given": sorted(name for name, value in self.call.items() if not _is_operand(value)),
        }
        scalar = [self.takes_scalar(place) for place in range(min(places, 2))]
        real = self.real_matrix(places, scalar)
        found["real"] = _leaves(real)
        if places > 2 or self.listed:
            found["folds"] = self.folds(real)
        found["symbolic"] = self.symbolic_matrix(real, places, scalar)
        found["dtype"] = self.dtype_parameter(places)
        found["free"] = self.free_parameters(places)
        found["carries"] = self.carries()
        found["joins"] = self.joins()
        return found

    def many(self) -> bool:
        """Whether the result is a list, whose length is then the arguments' affair; a tuple has its own."""
        how = self.hows[0]
        with atoms.graph().as_default() if how == "traced" else contextlib.nullcontext():
            return type(_applied(self.function, self.call, {}, how)) is list

    def takes_scalar(self, place: int) -> bool:
        """Whether a tensor without shape may stand here, so that a Python number failing would mean something."""
        return any(
            _has_tensor(_run(self.function, self.call, self.chosen({place: Tensor(())}), how)) for how in self.hows
        )

    def chosen(self, made: Mapping[int, Any]) -> dict[str, Any]:
        """Arguments for the value operands."""
        if not self.values:
            return {}
        if self.listed:
            return {self.values[0]: [made.get(place, each) for place, each in enumerate(self.call[self.values[0]])]}
        return {name: made[place] for place, name in enumerate(self.values) if place in made}

    def shape(self, place: int) -> tuple[int, ...]:
        spec = self.call[self.values[0]][place] if self.listed else self.call[self.values[place]]
        shape: tuple[int, ...] = spec.shape
        return shape

    def made(self, key: tuple[str, ...]) -> dict[int, Any]:
        """Operands for the atoms of a key; those of a third and further place are as the first."""
        places = 2 if self.listed else len(self.values)
        spread = (*key, *(key[0] if key[0] in TENSORS else key[-1] for _ in range(places - len(key)))) if key else ()
        return {place: Atom(atom, self.shape(place)) for place, atom in enumerate(spread)}

    def real_matrix(self, places: int, scalar: list[bool]) -> dict[tuple[str, ...], Any]:
        """The results on real tensors; UNKNOWN where tracing and running differ.

        Running is much faster. It is enough where it agrees with tracing on a sample.
        """
        keys = [key for key in _keys(places) if self.is_measured(key, scalar)]
        eager = {key: self.called(key, "eager") for key in keys} if "eager" in self.hows else {}
        sample = kinds.SAMPLE if places > 1 else keys
        first = {key: self.called(key, "traced") for key in sample if key in keys} if "traced" in self.hows else {}
        agree = all(eager.get(key) in (None, result) for key, result in first.items())
        found: dict[tuple[str, ...], Any] = dict.fromkeys(_keys(places), UNKNOWN)
        for key in keys:
            result = eager.get(key)
            if "traced" in self.hows and (result is None or not agree):
                traced = first[key] if key in first else self.called(key, "traced")
                result = traced if result in (None, traced) else UNKNOWN
            found[key] = UNKNOWN if result is None else result
        return found

    def is_measured(self, key: tuple[str, ...], scalar: list[bool]) -> bool:
        if any(kinds.is_scalar(atom) and not scalar[place] for place, atom in enumerate(key)):
            return False
        if self.path in OPERATORS and not any(atom in TENSORS for atom in key):
            return False  # Python's and NumPy's own affair
        if self.kinds is not None and not self.kinds.issuperset(key):
            return False
        measured: bool = kinds.is_measured(key)
        return measured

    def called(self, key: tuple[str, ...], how: str) -> Any:
        return _run(self.function, self.call, self.chosen(self.made(key)), how)

    def folds(self, real: Mapping[tuple[str, ...], Any]) -> bool:
        """Whether with more operands the result is that of the first two, taken with the next, and so on."""
        for key in itertools.product("hf", repeat=max(len(self.values), 3)):
            expected: Any = key[0]
            for atom in key[1:]:
                step = real.get((expected, atom), UNKNOWN)
                expected = _letter(step)
                if expected in (RAISES, UNKNOWN):
                    break
            if self.listed:
                chosen = {self.values[0]: [Atom(atom, self.shape(0)) for atom in key]}
            else:
                chosen = self.chosen({place: Atom(atom, self.shape(place)) for place, atom in enumerate(key)})
            result = _run(self.function, self.call, chosen, self.hows[0])
            if _letter(result) != expected:
                return False
        return True

    def symbolic_matrix(self, real: Mapping[tuple[str, ...], Any], places: int, scalar: list[bool]) -> Any:
        """A matrix; "real" where KerasTensors do as real tensors; RAISES where they are refused."""
        if not self.values:
            return "real"
        count = min(places, 2)
        plain = ("h",) * count
        if not any(_has_tensor(self.symbolic(key)) for key in (plain, ("f",) * count, ("i",) * count)):
            return RAISES
        if GENERATION == "2":
            sample: list[tuple[str, ...]] = [*SYMBOLIC_SAMPLE] if count == 2 else [(atom,) for atom in "hbfi?"]
            scalar = scalar if real else [self.takes_scalar(place) for place in range(count)]
            sample = [key for key in sample if self.is_measured(key, scalar)]
            beside = {key: self.called(key, "traced" if "traced" in self.hows else "eager") for key in sample}
            if all(result in (None, self.symbolic(key)) for key, result in beside.items()):
                return "real"
            found = dict.fromkeys(_keys(places), UNKNOWN) | {key: self.symbolic(key) for key in sample}
        else:
            mixed = all(
                len({repr(self.symbolic(key, kept)) for kept in ({0, 1}, {0}, {1})}) == 1
                for key in itertools.product("hfi", repeat=count)
                if count == 2
            )
            found = {
                key: self.symbolic(key) if mixed and self.is_measured(key, scalar) else UNKNOWN for key in _keys(places)
            }
            if all(result in (real[key], UNKNOWN) for key, result in found.items()):
                return "real"
        return _leaves(found)

    def symbolic(self, key: tuple[str, ...], kept: Collection[int] = (0, 1)) -> Any:
        """The result on KerasTensors; of two tensors those not in `kept` are real ones."""
        if not any(atom in TENSORS for atom in key):
            return UNKNOWN
        made = {
            place: Atom(atom, self.shape(place), "symbolic" if place in kept else "eager")
            for place, atom in enumerate(key)
        }
        for place in range(len(key), 2 if self.listed else len(self.values)):
            made[place] = Atom(key[0] if key[0] in TENSORS else key[-1], self.shape(place))
        result = _run(self.function, self.call, self.chosen(made), "symbolic")
        return UNKNOWN if result is None else result

    def dtype_parameter(self, places: int) -> dict[str, Any] | None:
        """The parameter that names the result's dtype, and for which dtypes it was seen to decide."""
        names = self.parameter_names()
        for name in DTYPE_PARAMETERS:
            if name not in names:
                continue
            seen = []
            for asked in ASKED_DTYPES:
                for atom in ("h", "f", "i") if places else ("",):
                    key = (atom,) * min(places, 2) if places else ()
                    result = _run(self.function, {**self.call, name: asked}, self.chosen(self.made(key)), self.hows[0])
                    if result not in (None, RAISES):
                        seen.append((asked, result))
            flat = [(asked, set(_flat(result))) for asked, result in seen]
            if flat and all(found == {asked} for asked, found in flat):
                return {"name": name, "dtypes": sorted({asked for asked, _ in flat})}
        return None

    def parameter_names(self) -> dict[str, inspect.Parameter]:
        try:
            return dict(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):
            return {}

    def free_parameters(self, places: int) -> list[str]:
        """Parameters whose other values gave the same result on a few operands."""
        free = []
        for name, parameter in self.parameter_names().items():
            if name in self.values or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if name in DTYPE_PARAMETERS:
                continue
            for value in _other_values(name, parameter.default, self.call.get(name)):
                results = [self.beside({name: value}, atom, places) for atom in ("h", "f", "i")]
                plain = [self.beside({}, atom, places) for atom in ("h", "f", "i")]
                if all(result != RAISES for result in results[:2]) or results == plain:
                    if results == plain:
                        free.append(name)
                    break
        return free

    def beside(self, extra: Mapping[str, Any], atom: str, places: int) -> Any:
        key = (atom,) * min(places, 2) if places else ()
        how = self.hows[0]
        return _run(self.function, {**self.call, **extra}, self.chosen(self.made(key)), how)

    def carries(self) -> bool:
        """Whether the result only holds elements of the one operand, chosen by their places."""
        if self.listed or len(self.values) != 1 or "eager" not in self.hows:
            return False
        try:
            only_moves: bool = carried(
                lambda x: _first(_applied(self.function, self.call, self.chosen({0: x}), "eager")), self.shape(0)
            )
        except Exception:  # noqa: BLE001
            return False
        return only_moves

    def joins(self) -> bool:
        """Whether the result only holds elements of the tensors in the list, chosen by their places."""
        if not self.listed or "eager" not in self.hows or self.shape(0) != self.shape(1):
            return False
        try:
            only_moves: bool = carried(
                lambda x: _first(_applied(self.function, self.call, self.chosen(dict(enumerate(x))), "eager")),
                (2, *self.shape(0)),
            )
        except Exception:  # noqa: BLE001
            return False
        return only_moves


def _letter(result: Any) -> str:
    """The letter of a result whose tensors all have one dtype."""
    if isinstance(result, list):
        letters = {_letter(part) for part in result}
        return letters.pop() if len(letters) == 1 else UNKNOWN
    letter: str = LETTERS.get(str(result), RAISES if result == RAISES else UNKNOWN)
    return letter


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, (list, tuple)) else result


def _is_operand(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, list) and bool(value) and isinstance(value[0], Tensor))


def _keys(places: int) -> list[tuple[str, ...]]:
    return list(itertools.product(ATOMS, repeat=min(places, 2)))


def _flat(result: Any) -> Iterator[str]:
    if isinstance(result, list):
        for part in result:
            yield from _flat(part)
    elif isinstance(result, str):
        yield result


def _structure(result: Any) -> Any:
    """1 for one tensor, n for a tuple of n tensors whatever they are; None for deeper structures."""
    if isinstance(result, str):
        return 1
    if isinstance(result, list) and result and all(isinstance(part, str) for part in result):
        return len(result)
    return None


def _leaves(results: Mapping[tuple[str, ...], Any]) -> list[str] | None:
    """For each tensor of the result a string of letters, one a key; None where the structure is not always the same."""
    counts = {_structure(result) for result in results.values() if result not in (RAISES, UNKNOWN)} - {None}
    if len(counts) != 1:
        return None
    count = counts.pop()
    assert count is not None
    leaves = []
    for place in range(count):
        letters = []
        for result in results.values():
            if result in (RAISES, UNKNOWN):
                letters.append(result)
            elif _structure(result) is None:
                letters.append(UNKNOWN)
            else:
                letters.append(LETTERS.get(result if isinstance(result, str) else result[place], UNKNOWN))
        leaves.append("".join(letters))
    return leaves


def _other_values(name: str, default: Any, given: Any) -> Iterator[Any]:
    """Values for a parameter other than the one the base call has."""
    if isinstance(given, Tensor):
        if given.index and given.dtype == "int32":
            yield Tensor(given.shape, "int64", index=True)
        return
    if name == "name":
        yield "some_name"
        return
    if isinstance(default, bool):
        yield not default
        return
    if name in ("axis", "axes", "dim", "seq_axis", "batch_dims"):
        yield from (value for value in (0, -1, 1, [0], 0.5) if value != given)
        return
    if name == "seed":
        yield from (1, (1, 2))
        return
    if name == "perm":
        yield from ((1, 0), (0, 1, 2, 3))
        return
    if isinstance(given, (list, tuple, int, float, str)) and name in VALUES:
        yield given  # required: other values of the same kind change shapes, not dtypes
        return
    if given is not None:
        yield given
        return
    if isinstance(default, int):
        yield from (default + 1, max(default - 1, 0))
    elif isinstance(default, float):
        yield from (default / 2 + 0.05, 0.5)
    elif default is None and name == "keepdims":
        yield True
    elif isinstance(default, str):
        yield from (
            value
            for value in (
                "SAME",
                "VALID",
                "same",
                "valid",
                "bilinear",
                "nearest",
                "bicubic",
                "hann",
                "xy",
                "linear",
                "nearest",
            )
            if value != default
        )
