"""Which parameters a function or layer calls, and which hold sizes: written by hand, since no run can show it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mplint.keras_api.names import canonical, generations, kind
from mplint.keras_api.signatures import parameters
from mplint.keras_api.table import section

How = Literal["later", "nothing", "arguments", "elements", "each", "values", "input", "unknown"]
"""What the argument is called with.

later: the result is a function, which calls it with what it is itself called with (`tf.function`, `functools.partial`);
nothing: no arguments (`tf.cond`); arguments: those handed over in `args=` and `kwargs=` (`strategy.run`);
elements: the components of each element of the dataset; each: one element of each of the other arguments
(`tf.nest.map_structure`, `tf.map_fn`); values: the other positional arguments as they are (`jax.vjp`, `tf.while_loop`);
input: the tensors that the layer is called on (`Lambda`); unknown: something else.
"""


@dataclass(frozen=True, slots=True)
class Called:
    """One parameter whose argument is called, and with what."""

    parameter: str
    how: How


@dataclass(frozen=True, slots=True)
class Calls:
    """The parameters of a function whose arguments it calls."""

    called: tuple[Called, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those parameters."""
        return tuple(each.parameter for each in self.called)

    def how(self, parameter: str) -> How | None:
        """What the argument of that parameter is called with; None where it is not called."""
        return next((each.how for each in self.called if each.parameter == parameter), None)


def calls_argument(path: str, generation: str | None = None) -> Calls | None:
    """The parameters that the function, method or layer at `path` calls; None where it calls none.

    Methods have the path of their class: `tensorflow.data.Dataset.map`, `tensorflow.distribute.Strategy.run`.
    """
    if generation is not None and kind(path) is not None and generation not in (generations(path) or generation):
        return None
    return _calls(canonical(path))


@lru_cache(maxsize=1024)
def _calls(path: str) -> Calls | None:
    found = section("calls", "calls").get(path)
    return None if found is None else Calls(tuple(Called(parameter, how) for parameter, how in found.items()))


def called_parameters(path: str) -> frozenset[str]:
    """The names of the parameters whose argument is called, activations included."""
    found = canonical(path)
    own = _calls(found)
    names = set() if own is None else set(own.names)
    sort = kind(found)
    if sort is not None:
        names.update(section("calls", "by_kind").get(sort.value, ()))
    return frozenset(names)


def size_parameters(path: str) -> tuple[str, ...]:
    """The parameters of a layer that hold the size of a matrix product: units, filters, head sizes."""
    return _sizes(canonical(path), "sizes")


def vocabulary_parameters(path: str) -> tuple[str, ...]:
    """The parameters of a layer that hold how many different ids there are."""
    return _sizes(canonical(path), "vocabularies")


def _sizes(path: str, which: str) -> tuple[str, ...]:
    pattern = section("sizes", which)
    sort = kind(path)
    if sort is None or sort.value not in ("layer", "cell") or path in section("sizes", "not"):
        return ()
    living = {each.name for generation in "23" for each in parameters(path, generation) or ()}
    return tuple(name for name in pattern if name in living)
