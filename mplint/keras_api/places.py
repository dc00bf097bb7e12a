"""What can be imported from one generation of Keras only, and which arguments only one of them accepts."""

from __future__ import annotations

from functools import cache
from typing import Literal

from mplint.keras_api.table import section

_Generation = Literal["2", "3"]


def only_generation_with(path: str, *, through_tensorflow: bool) -> tuple[_Generation, str] | None:
    """The one generation that ever had `path` (`keras.utils.np_utils`), and the part of it that the other lacks.

    `tf.keras` (`through_tensorflow`) is not `keras` here: in Keras 3 it has things of Keras 2 that the package lacks.
    None where both generations have had it, or neither.
    """
    listed: dict[str, _Generation] = section("places", "tensorflow" if through_tensorflow else "keras")
    parts = path.split(".", 8)[:8]
    for count in range(2, len(parts) + 1):
        place = ".".join(parts[:count])
        generation = listed.get(place)
        if generation is not None:
            return generation, place
    return None


@cache
def called_with_old_arguments() -> dict[tuple[str, str], _Generation]:
    """(path, argument) -> the one generation in which what `path` names takes the argument."""
    found: dict[str, _Generation] = section("places", "arguments")
    return {(entry.split(" ")[0], entry.split(" ")[1]): generation for entry, generation in found.items()}


@cache
def top_names_of(generation: _Generation) -> frozenset[str]:
    """What only this generation has right in its package: `ops` and `KerasTensor` in "3"."""
    tables = [section("places", flavor) for flavor in ("keras", "tensorflow")]
    common = set(tables[0]) & set(tables[1])
    return frozenset(
        path.removeprefix("keras.") for path in common if path.count(".") == 1 and tables[0][path] == generation
    )


@cache
def removed_from_tensorflow() -> frozenset[str]:
    """Places outside Keras that went while TensorFlow's Keras was Keras 2: without the leading `tensorflow.`."""
    return frozenset(
        path.removeprefix("tensorflow.") for path in section("dead_names", "names") if path.startswith("tensorflow.")
    )
