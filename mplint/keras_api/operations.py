"""How the dtype of a function's or operator's result follows from its operands, as measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from mplint.keras_api.names import canonical, dtype_name
from mplint.keras_api.signatures import Parameter, parameters
from mplint.keras_api.table import section


@dataclass(frozen=True, slots=True)
class Operand:
    """What stands in an operand's place, as far as dtypes go: made by one of the functions below."""

    kind: Literal["tensor", "python", "array", "sequence", "numeric"]
    dtype: str | None = None
    scalar: bool | None = None
    items: tuple[Operand | None, ...] = ()


@lru_cache(maxsize=64)
def tensor(dtype: str | None) -> Operand:
    """A tensor, or a variable that is cast automatically, of that dtype."""
    return Operand("tensor", dtype)


@lru_cache(maxsize=64)
def python(kind: Literal["bool", "int", "float", "number"]) -> Operand:
    """A Python number (`number`: an integer, or with a fraction): it has no dtype of its own."""
    return Operand("python", kind)


@lru_cache(maxsize=64)
def array(dtype: str | None, scalar: bool | None = None) -> Operand:
    """A NumPy array, or with `scalar` a NumPy scalar; None where it may be either."""
    return Operand("array", dtype, scalar)


NUMERIC = Operand("numeric")
"""What arithmetic gave: whatever it is, it is not boolean."""


def sequence(items: Iterable[Operand | None]) -> Operand:
    """A list or tuple."""
    return Operand("sequence", items=tuple(items))


@dataclass(frozen=True, slots=True)
class Clash:
    """The operation raises for these operands."""

    operands: tuple[Operand | None, ...]


Outcome: TypeAlias = "str | tuple[str, ...] | Clash | None"

_RAISES, _UNKNOWN, _TRUTH = "!", ".", "?"
_OF_LAYOUT = frozenset({"data_format", "dilation_rate", "dilations", "padding", "strides"})
"""Arguments that say which elements a result is made of, and in which order they lie: never of which dtype."""
_PYTHON = {"float": "pF", "int": "pI"}


@lru_cache(maxsize=16384)
def operation(path: str, generation: str | None = None) -> Operation | None:
    """The measured behaviour of a function, of an operator (`operator.+`), or of the objects of a loss or metric class.

    None where nothing was measured; without a generation, what both agree on.
    """
    return _operation(canonical(path), generation)


@lru_cache(maxsize=2048)
def _operation(path: str, generation: str | None) -> Operation | None:
    entries = section("operations", "functions").get(path)
    if entries is None:
        return None
    living = "23" if path.startswith("operator.") else section("names", "names")[path][1]
    found = []
    for each in living if generation is None else generation:
        entry = entries.get("23", entries.get(each))
        if entry is None or "real" not in entry:
            return None
        found.append(_Measured(path, each, entry))
    return Operation(tuple(found)) if found else None


class Operation:
    """A function whose results were measured for operands of every kind."""

    def __init__(self, measured: tuple[_Measured, ...]) -> None:
        self._measured = measured

    @property
    def operands(self) -> tuple[str, ...]:
        """The parameters whose arguments decide; `*name` stands for the variable ones."""
        return tuple(self._measured[0].entry["operands"])

    @property
    def dtype(self) -> str | None:
        """The parameter by which the dtype of the result is asked for, where there is one."""
        return next((each.entry["dtype"] for each in self._measured if "dtype" in each.entry), None)

    @property
    def many(self) -> bool:
        """Whether the result is a list whose length depends on the arguments (`tf.split`): `result` is that of each."""
        return any(each.entry.get("many", False) for each in self._measured)

    @property
    def gives_several(self) -> bool:
        """Whether the result is more than one tensor: of a fixed number, or as many as the arguments say."""
        return self.many or any(isinstance(each.entry.get("real"), list) for each in self._measured)

    @property
    def carries(self) -> bool:
        """Whether the result holds only elements of the operand, chosen by place."""
        return all(each.entry.get("carries", False) for each in self._measured)

    @property
    def joins(self) -> bool:
        """Whether the result holds only elements of the tensors in the list that is the operand, chosen by place."""
        return all(each.entry.get("joins", False) for each in self._measured)

    def result(
        self,
        operands: Sequence[Operand | None] | Mapping[str, object] = (),
        keywords: Mapping[str, object] | None = None,
        symbolic: bool = False,
    ) -> Outcome:
        """The dtype of the result (a tuple where there are several), a Clash where it raises, None where not known.

        `operands` are the positional arguments in the order of the signature, or all arguments by name; `keywords` the
        others. An argument is an Operand, a constant (needed where it names a dtype), or None where it is not known.
        `symbolic` says whether the tensors among them are KerasTensors.
        """
        outcomes = [each.result(operands, keywords or {}, symbolic) for each in self._measured]
        return outcomes[0] if all(outcome == outcomes[0] for outcome in outcomes) else None


@dataclass(frozen=True)
class _Measured:
    """One function in one generation."""

    path: str
    generation: str
    entry: Mapping[str, Any]

    def result(
        self, operands: Sequence[Operand | None] | Mapping[str, object], keywords: Mapping[str, object], symbolic: bool
    ) -> Outcome:
        bound = self._bound(operands, keywords)
        dtype = self.entry.get("dtype")
        asked = _constant(bound.get(dtype)) if dtype is not None else None
        if dtype is not None and dtype in bound and asked is None and not self._is_default(dtype, bound[dtype]):
            return None  # a dtype is given, and not known
        if any(not self._is_harmless(name, value) for name, value in bound.items()):
            return None
        outcome = self._from_operands(bound, symbolic)
        if asked is None:
            return outcome
        named = dtype_name(asked) if isinstance(asked, str) else None
        if named is None or isinstance(outcome, Clash):
            return None if named is None or not self._refused(symbolic) else outcome
        return named

    def _refused(self, symbolic: bool) -> bool:
        return symbolic and self.entry.get("symbolic", {}).get(self.generation) == _RAISES

    def _bound(
        self, operands: Sequence[Operand | None] | Mapping[str, object], keywords: Mapping[str, object]
    ) -> dict[str, object]:
        if isinstance(operands, Mapping):
            return {**operands, **keywords}
        signature = self._signature()
        names = [each.name for each in signature if each.kind in ("positional_only", "positional_or_keyword")]
        rest = next((f"*{each.name}" for each in signature if each.kind == "var_positional"), None)
        bound: dict[str, object] = dict(zip(names, operands, strict=False))
        if rest is not None and len(operands) > len(names):
            bound[rest] = sequence(operands[len(names) :])
        for name, value in keywords.items():
            if bound.get(name) is None:
                bound[name] = value
        return bound

    def _signature(self) -> Sequence[Parameter]:
        if self.path.startswith("operator."):
            return [Parameter(name, "positional_only") for name in self.entry["operands"]]
        found = parameters(self.path, self.generation)
        names = {each.name for each in found or ()}
        if found is None or not all(name.lstrip("*") in names for name in self.entry["operands"]):
            # The objects of a class are called with the operands, not with what its constructor takes.
            return [Parameter(name, "positional_or_keyword") for name in self.entry["operands"]]
        return found

    def _is_default(self, name: str, value: object) -> bool:
        default = next((each.default for each in self._signature() if each.name == name), None)
        constant = _constant(value)
        return type(constant) is type(default) and constant == default

    def _is_harmless(self, name: str, value: object) -> bool:
        """Whether an argument was shown not to matter, or is accounted for."""
        entry = self.entry
        known = entry["operands"]
        if name in known or name == entry.get("dtype") or name in _OF_LAYOUT:
            return True
        listed = f"{entry.get('free', '')} {entry.get('given', '')} {entry.get('indices', '')}".split()
        return name in listed or self._is_default(name, value)

    def _from_operands(self, bound: Mapping[str, object], symbolic: bool) -> Outcome:
        reference = self.entry["real"]
        if symbolic:
            reference = self.entry.get("symbolic", {}).get(self.generation, reference)
        if reference is None:
            return None
        given: list[Operand | None] = []
        for name in self.entry["operands"]:
            if name not in bound:
                return None
            value = bound[name]
            if self.entry.get("listed") or name.startswith("*"):
                if not isinstance(value, Operand) or value.kind != "sequence" or not value.items:
                    return None
                given.extend(value.items)
            else:
                given.append(value if isinstance(value, Operand) else _literal(value))
        if reference == _RAISES:
            return Clash(tuple(given))
        names = [reference] if isinstance(reference, str) else reference
        folds, listed = bool(self.entry.get("folds")), bool(self.entry.get("listed"))
        results = [_folded(name, tuple(given), folds, listed) for name in names]
        if None in results:
            return None
        if _RAISES in results:
            return Clash(tuple(given))
        letters = section("operations", "letters")
        dtypes = [letters[result] for result in results if result is not None]
        return dtypes[0] if len(dtypes) == 1 or self.entry.get("many") else tuple(dtypes)


def _constant(value: object) -> object:
    return None if isinstance(value, Operand) else value


def _literal(value: object) -> Operand | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return python("float" if isinstance(value, float) else "int")


@lru_cache(maxsize=4096)
def _folded(matrix: str, given: tuple[Operand | None, ...], folds: bool, listed: bool) -> str | None:
    return _fold(section("operations", "matrices")[matrix], given, folds, listed)


def _fold(matrix: str, given: Sequence[Operand | None], folds: bool, listed: bool) -> str | None:
    """The letter for the operands taken one after the other; None where it is not known.

    Of `listed` ones each has the part of any other.
    """
    atoms: list[str] = section("operations", "atoms")
    if not given:
        return matrix if len(matrix) == 1 and matrix != _UNKNOWN else None
    ways = [_atoms_of(operand) for operand in given]
    if not all(ways):
        return None
    if len(matrix) == len(atoms):
        return _common({matrix[atoms.index(atom)] for atom in ways[0]}) if len(ways) == 1 else None
    if len(ways) == 1:
        ways = [ways[0], ways[0]]
        if len(given) == 1 and any(len(way) > 1 for way in ways):
            return _common({_cell(matrix, atom, atom) for atom in ways[0]})
    if len(ways) > 2 and not folds:
        return _RAISES if listed and _are_refused(matrix, ways) else None
    letter = _common({_cell(matrix, first, second) for first in _likely(ways, 0) for second in _likely(ways, 1)})
    for way in ways[2:]:
        if letter is None or letter == _RAISES or letter not in atoms:
            return letter if letter == _RAISES else None
        letter = _common({_cell(matrix, letter, atom) for atom in way})
    return letter


def _are_refused(matrix: str, ways: Sequence[list[str]]) -> bool:
    """Whether two of several operands, whose dtypes are known, do not go together."""
    known = [way[0] for way in ways if len(way) == 1]
    return any(
        _cell(matrix, first, second) == _RAISES for index, first in enumerate(known) for second in known[index + 1 :]
    )


def _likely(ways: Sequence[list[str]], index: int) -> list[str]:
    """What one of two operands may be: of one that may be anything beside a number of its own kind, no truth value."""
    own, other = ways[index], ways[1 - index]
    return [atom for atom in own if atom != _TRUTH] if len(own) > 2 and _TRUTH not in other else own


def _cell(matrix: str, first: str, second: str) -> str:
    atoms: list[str] = section("operations", "atoms")
    return matrix[atoms.index(first) * len(atoms) + atoms.index(second)]


def _common(letters: set[str]) -> str | None:
    """What all measured ways give; one of several possible ways that raises is not the one that happens."""
    if letters <= {_RAISES, _UNKNOWN}:
        return _RAISES if letters == {_RAISES} else None
    found = letters - {_RAISES, _UNKNOWN}
    return found.pop() if len(found) == 1 else None


def _atoms_of(operand: Operand | None) -> list[str]:
    """The rows of a matrix that an operand may be: all where it is not known, none where its like was not tried."""
    atoms: list[str] = section("operations", "atoms")
    letters = _codes()
    if operand is NUMERIC:
        return [atom for atom in atoms if atom != letters["bool"]]
    if operand is None or (operand.kind != "sequence" and operand.dtype is None):
        return atoms
    match operand.kind:
        case "tensor":
            found = [letters.get(operand.dtype or "")]
        case "python":
            found = [*_PYTHON.values()] if operand.dtype == "number" else [_PYTHON.get(operand.dtype or "")]
        case "array":
            letter = letters.get(operand.dtype or "")
            prefixes = ("n", "s") if operand.scalar is None else ("s",) if operand.scalar else ("n",)
            if operand.dtype == "float16":
                prefixes = ("n",)  # whose scalars do as its arrays do
            found = [f"{prefix}{letter}" for prefix in prefixes]
        case "sequence":
            found = ["LF" if _all_floats(operand) else None]
    return [atom for atom in found if atom in atoms]


@lru_cache(maxsize=1)
def _codes() -> Mapping[str, str]:
    """Dtype name -> its letter in the matrices."""
    return {name: letter for letter, name in section("operations", "letters").items()}


def _all_floats(operand: Operand) -> bool:
    return bool(operand.items) and all(
        item is not None and (item == python("float") or (item.kind == "sequence" and _all_floats(item)))
        for item in operand.items
    )
