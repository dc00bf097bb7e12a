"""The version of a library: which it is, is not known; which it may be in this generation of Keras, is.

What a program makes of a version is computed for each release, with Python's own operations.  Where all come to the
same, that is known: so of a program that is written for both generations, each runs its own branches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, total_ordering
from typing import TYPE_CHECKING, Final

from mplint.interpreter.concrete import MAX_TEXT, concrete
from mplint.interpreter.folding import NotKnown, fold
from mplint.interpreter.values import UNKNOWN, Const, List, Place, Symbol, Tuple, Unknown, Value, Varying, derived
from mplint.keras_api import copy_of

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_KERAS2: Final = tuple(range(4, 16))
"""The releases 2.x of TensorFlow in which Keras 2 has mixed precision as it is today."""
_TF_KERAS: Final = tuple(range(16, 22))
"""Those beside which it is tf_keras."""
_KERAS3: Final = ((16, 4), (17, 2), (18, 2), (19, 2), (20, 2), (21, 4))
"""The releases 2.x of TensorFlow, and how many releases 3.x of Keras came in the time of each."""

_LIBRARIES: Final = {
    "tensorflow.__version__": 0,
    "tensorflow.version.VERSION": 0,
    "keras.__version__": 1,
}
_DISTRIBUTIONS: Final = {
    "tensorflow": "tensorflow.__version__",
    "keras": "keras.__version__",
    "tf-keras": "tf_keras.__version__",
    "tf_keras": "tf_keras.__version__",
}
_PARSERS: Final = frozenset(
    {
        *(f"{module}.{name}" for module in ("packaging.version", "pkg_resources") for name in ("Version", "parse")),
        *("pkg_resources.parse_version", "pkg_resources.packaging.version.parse", "looseversion.LooseVersion"),
        *("distutils.version.LooseVersion", "distutils.version.StrictVersion", "semver.parse", "semver.Version.parse"),
        *("packaging.version.LegacyVersion", "pkg_resources.extern.packaging.version.parse", "packaging.parse"),
    }
)
_NUMBERS: Final = ("major", "minor", "micro", "patch")
_METHODS: Final = frozenset(
    "split rsplit partition rpartition startswith endswith strip lstrip rstrip replace lower removeprefix count find "
    "isdigit zfill".split()
)
_ORDER: Final = frozenset({"LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_WIDEST: Final = 200
"""To more characters a text is not filled up."""
_LEFT_OUT: Final = object()
"""What comes of a release for which the program does not do what it means: `"2.9.0" >= "2.16"`."""


@total_ordering
class Release:
    """A version that compares by its numbers: `packaging.version.parse(text)` and its like."""

    def __init__(self, text: str) -> None:
        self.text = text
        numbers = re.match(r"v?(\d+(?:\.\d+)*)", text.strip())
        self.numbers = tuple(int(part) for part in numbers[1].split(".")) if numbers else ()

    def _key(self) -> tuple[int, ...]:
        return (*self.numbers, 0, 0, 0, 0)[:4]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Release, str)) and self._key() == as_release(other)._key()

    def __lt__(self, other: object) -> bool:
        return self._key() < as_release(other)._key() if isinstance(other, (Release, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Release({self.text!r})"


def as_release(value: Release | str) -> Release:
    """The release that a text names."""
    return value if isinstance(value, Release) else Release(value)


@cache
def _releases(generation: str, tf_keras: bool) -> tuple[tuple[str, str], ...]:
    """The releases of TensorFlow and Keras that a program of the generation may run with."""
    if generation == "2":
        minors = _KERAS2 + (_TF_KERAS if tf_keras else ())
        return tuple((f"2.{minor}.0", f"2.{minor}.0") for minor in minors)
    found: list[tuple[str, str]] = []
    for minor, count in _KERAS3:
        found += [(f"2.{minor}.1", f"3.{len(found) + number}.0") for number in range(count)]
    return tuple(found)


# -- where versions come from


def named(m: Machine, path: str, spelled: str) -> Value | None:
    """The version that a library's constant is; None where it is no such constant."""
    index = _LIBRARIES.get(path)
    if index is None or (m.generation == "3" and copy_of(spelled) == "tf_keras"):
        return None
    tf_keras = m.program.has_several_kerases or m.program.sets_legacy_switch
    texts = tuple(pair[index] for pair in _releases(m.generation, tf_keras))
    return Varying(texts, Symbol("name", path))


def version(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`importlib.metadata.version(distribution)`."""
    name = arguments.get("distribution_name", 0)
    spelled = _DISTRIBUTIONS.get(str(name.value)) if isinstance(name, Const) else None
    found = named(m, spelled.replace("tf_keras", "keras"), spelled) if spelled is not None else None
    return found if found is not None else derived("version", name if name is not None else UNKNOWN)


def version_of_keras(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.version()`, which Keras 3 has."""
    return named(m, "keras.__version__", "keras.version") or UNKNOWN


def parse(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`packaging.version.parse(text)`."""
    given = arguments.args[0] if len(arguments.args) == 1 else arguments.get("version", 0) or UNKNOWN
    match given:
        case Varying():
            return apply(m, as_release, (given,), place, "parse")
        case Const(value=str(text)):
            return Varying((Release(text),), None)
        case _:
            return derived("parse", given)


PARSERS: Final = dict.fromkeys(sorted(_PARSERS), parse)


# -- what is made of them


def attribute(m: Machine, value: Varying, name: str, place: Place) -> Value | None:
    """`version.major` and its like; None where it is a method."""
    if not isinstance(value.cases[0], Release):
        return None
    if name in _NUMBERS:
        index = min(_NUMBERS.index(name), 2)
        return apply(m, lambda one: (*one.numbers, 0, 0, 0)[index], (value,), place, name)
    if name in ("release", "version"):
        return apply(m, lambda one: one.numbers, (value,), place, name)
    return apply(m, lambda one: one.text, (value,), place, name) if name in ("base_version", "public") else None


def method(m: Machine, value: Varying, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a text that is or was a version."""
    if name not in _METHODS or not arguments.sure or arguments.keywords:
        return UNKNOWN

    def compute(text: object, *given: object) -> object:
        if any(isinstance(each, int) and each > _WIDEST for each in given):
            raise NotKnown
        return getattr(text, name)(*given)

    return apply(m, compute, (value, *arguments.args), place, name)


def binary(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value:
    """`left <name> right`, one of which is made of a version, or holds such things."""

    def compute(a: object, b: object) -> object:
        result = fold(name, a, b)
        if name in _ORDER and isinstance(a, str) and isinstance(b, str):
            meant = fold(name, Release(a), Release(b))
            return result if result == meant else _LEFT_OUT
        return result

    return apply(m, compute, (left, right), place, name)


def varies(m: Machine, value: Value) -> bool:
    """Whether `value` is made of a version, or holds something that is."""
    if isinstance(value, List):
        value = m.items(value)
    return isinstance(value, Varying) or (
        isinstance(value, Tuple) and any(isinstance(item, Varying) for item in value.items)
    )


def apply(m: Machine, function: Callable[..., object], args: tuple[Value, ...], place: Place, name: str) -> Value:
    """`function(*args)`, computed for each release."""
    symbol = derived(name, *args).symbol
    count = max((_cases(m, value) for value in args), default=1)
    try:
        rows = [[_case(m, value, index) for value in args] for index in range(count)]
        results = [function(*row) for row in rows]
    except Exception:  # noqa: BLE001  (something unknown beside it, or the program's own error)
        m.program.guesses.add(place.source.path)
        return Unknown(symbol) if symbol is not None else UNKNOWN
    return _value(m, results, symbol, place)


def _cases(m: Machine, value: Value) -> int:
    if isinstance(value, List):
        value = m.items(value)
    if isinstance(value, Tuple):
        return max((_cases(m, item) for item in value.items), default=1)
    return len(value.cases) if isinstance(value, Varying) else 1


def _case(m: Machine, value: Value, index: int) -> object:
    """What `value` is in one of the releases."""
    match value:
        case Varying(cases=cases):
            return cases[index] if len(cases) > 1 else cases[0]
        case Tuple(items=items, rest=None):
            return tuple(_case(m, item, index) for item in items)
        case List(kind="list"):
            held = m.items(value)
            if held.rest is not None:
                raise NotKnown
            return [_case(m, item, index) for item in held.items]
        case _:
            return concrete(m, value)


def _value(m: Machine, results: list[object], symbol: Symbol | None, place: Place, at: int | None = None) -> Value:
    """The value for what came out for each release, `at` a position in what came out at `place`."""
    kept = [result for result in results if result is not _LEFT_OUT]
    if len(kept) < len(results) and len(set(kept)) != 1:
        m.program.guesses.add(place.source.path)
        return UNKNOWN if symbol is None else Unknown(symbol)
    if len({type(result) for result in kept}) > 1:
        return UNKNOWN
    match kept[0]:
        case tuple() | list():
            rows = [tuple(row) for row in kept if isinstance(row, (tuple, list))]
            if len({len(row) for row in rows}) > 1:
                return UNKNOWN
            items = Tuple(
                tuple(
                    _value(m, list(column), None if symbol is None else Symbol("item", symbol, Const(i)), place, i)
                    for i, column in enumerate(zip(*rows, strict=True))
                )
            )
            return m.new_list(place, items) if isinstance(kept[0], list) else items
        case Release():
            return Varying(tuple(results), symbol)
        case str() if any(isinstance(result, str) and len(result) > MAX_TEXT for result in kept):
            return UNKNOWN
        case bool() | int() | float() | str():
            if all(result == kept[0] for result in kept):
                m.program.answers.setdefault((place.source.path, (place, at)), {})[m.generation] = kept[0]
                return Const(kept[0])
            return Varying(tuple(results), symbol)
        case _:
            return UNKNOWN


def depends_on_release(value: Value) -> bool:
    """Whether it is another in some releases of a generation: what is done where it is true is for these."""
    match value:
        case Varying(cases=cases):
            return len({bool(case) for case in cases}) > 1
        case Unknown(symbol=Symbol() as symbol):
            return any(part.parts[0] == "name" and part.parts[1] in _LIBRARIES for part in symbol.tree)
        case _:
            return False


def truth(m: Machine, value: Varying) -> bool | None:
    """Whether something made of a version is true."""
    outcomes = {bool(case) for case in value.cases}
    if len(outcomes) == 1:
        return outcomes.pop()
    return m.decide(value.symbol)
