"""What names of libraries stand for: constants, dtypes, what is certainly callable, the members of a module."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from mplint import keras_api
from mplint.interpreter.values import FALSE, Api, Array, Const, Value
from mplint.keras_api import Kind
from mplint.project.claims import PRIVATE_MODULES

_CONSTANTS: Final[dict[str, Value]] = {
    "typing.TYPE_CHECKING": FALSE,
    "typing_extensions.TYPE_CHECKING": FALSE,
    "math.pi": Const(math.pi),
    "math.e": Const(math.e),
    "math.inf": Const(math.inf),
    "numpy.pi": Const(math.pi),
    "numpy.e": Const(math.e),
    "numpy.inf": Const(math.inf),
    "numpy.newaxis": Const(None),
    "numpy.nan": Array("float64"),
}
_VALUES: Final = frozenset({None, Kind.MODULE, Kind.DTYPE, Kind.OTHER})


def is_callable(path: str) -> bool:
    """Whether the object at `path` is certainly a function or class (and therefore true, and not None)."""
    return path.startswith("builtins.") or keras_api.kind(path) not in _VALUES


def is_object(path: str) -> bool:
    """Whether there certainly is something that is true and not None at `path`: a library as a whole is a module."""
    return "." not in path or is_callable(path) or keras_api.kind(path) is Kind.MODULE


def is_known(path: str) -> bool:
    """Whether the table has `path`."""
    return keras_api.kind(path) is not None


def is_missing(spelled: str, generation: str) -> bool:
    """Whether the copy of Keras that the name `spelled` is written from surely lacks it in this generation."""
    if not spelled.startswith(("keras.", "tf_keras.", "tensorflow.")):
        return False
    copy = keras_api.copy_of(spelled)
    if copy == "tensorflow.python.keras":
        return False
    private = next(iter(spelled.partition(".src.")[2].split(".")), "")
    living = keras_api.generations(spelled) or {each for each in PRIVATE_MODULES if private in PRIVATE_MODULES[each]}
    return bool(living) and ("2" if copy == "tf_keras" else generation) not in living


def constant(path: str) -> Value | None:
    """The value of a library's constant."""
    return _CONSTANTS.get(path)


def dtype_named(name: Api) -> str | None:
    """The dtype that a library's name stands for, by what it is or by how the program writes it."""
    return keras_api.dtype_name(name.path) or keras_api.dtype_name(name.spelled or name.path)


@lru_cache(maxsize=64)
def names_below(path: str) -> list[str]:
    """The names that `from <path> import *` brings, of a module of the table."""
    canonical = keras_api.canonical(path)
    if keras_api.kind(canonical) is not Kind.MODULE:
        return []
    # a name may have its home elsewhere: keras.models.Sequential is keras.Sequential
    words = keras_api.last_words()
    return sorted(name for name in words if not name.startswith("_") and keras_api.kind(f"{canonical}.{name}"))
