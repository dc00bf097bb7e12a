"""Library names as the interpreter asks for them: canonical paths, kinds, constants."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from mplint import keras_api
from mplint.interpreter.values import FALSE, Array, Const, Value
from mplint.keras_api import Kind

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


class Names:
    """The face of the table that the interpreter uses."""

    canonical = staticmethod(keras_api.canonical)
    kind = staticmethod(keras_api.kind)

    def is_callable(self, path: str) -> bool:
        """Whether the object at `path` is certainly a function or class (and therefore true, and not None)."""
        return path.startswith("builtins.") or keras_api.kind(path) not in _VALUES

    def knows(self, path: str) -> bool:
        """Whether the table has `path`."""
        return keras_api.kind(path) is not None

    def constant(self, path: str) -> Value | None:
        """The value of a library's constant."""
        return _CONSTANTS.get(path)

    def names_below(self, path: str) -> list[str]:
        """The names that `from <path> import *` brings, of a module of the table."""
        return _names_below(path)


@lru_cache(maxsize=64)
def _names_below(path: str) -> list[str]:
    canonical = keras_api.canonical(path)
    if keras_api.kind(canonical) is not Kind.MODULE:
        return []
    # a name may have its home elsewhere: keras.models.Sequential is keras.Sequential
    words = keras_api.last_words()
    return sorted(name for name in words if not name.startswith("_") and keras_api.kind(f"{canonical}.{name}"))
