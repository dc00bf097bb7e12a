"""What a dotted name means: one canonical path for all the ways to reach an object, its kind, its generations."""

from __future__ import annotations

import enum
from functools import lru_cache

from mplint.keras_api.table import section


class Kind(enum.Enum):
    """What sort of thing a name of the API is."""

    LAYER = "layer"
    CELL = "cell"
    """A recurrent cell, or a stack of them."""
    WRAPPER = "wrapper"
    """A layer that is built around another layer: TimeDistributed, Bidirectional, ..."""
    MODEL = "model"
    FUNCTION = "function"
    ACTIVATION = "activation"
    OPTIMIZER = "optimizer"
    LOSS = "loss"
    """A loss class or a loss function."""
    METRIC = "metric"
    """A metric class or a metric function."""
    CALLBACK = "callback"
    INITIALIZER = "initializer"
    REGULARIZER = "regularizer"
    POLICY = "policy"
    POLICY_SETTER = "policy_setter"
    POLICY_GETTER = "policy_getter"
    MODULE = "module"
    DTYPE = "dtype"
    APPLICATION = "application"
    """A function of keras.applications that returns a whole model."""
    OTHER = "other"


_KINDS = {kind.value: kind for kind in Kind}

_KERAS_PREFIXES = (
    "tensorflow.compat.v2.keras.",
    "tensorflow.compat.v1.keras.",
    "tensorflow._api.v2.compat.v2.keras.",
    "tensorflow._api.v2.keras.",
    "tensorflow.python.keras.api._v2.keras.",
    "tensorflow.python.keras.",
    "tensorflow.keras.",
    "tf_keras.api._v2.keras.",
    "tf_keras.api._v1.keras.",
    "tf_keras.",
    "keras.api._v2.keras.",
    "keras.api._v1.keras.",
    "keras._tf_keras.keras.",
    "keras.api.",
)
_TENSORFLOW_PREFIXES = ("tensorflow._api.v2.compat.v2.", "tensorflow.compat.v2.", "tensorflow._api.v2.")
_V1 = "tensorflow.compat.v1."
_NUMPY_DTYPES = frozenset(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128".split()
)
_DTYPE_WORDS = {"half": "float16", "float": "float32", "double": "float64", "bool_": "bool", "single": "float32"}
_NUMPY_WORDS = {"half": "float16", "single": "float32", "double": "float64", "bool_": "bool", "bool": "bool"}


@lru_cache(maxsize=16384)
def canonical(path: str) -> str:
    """The one name of the object at `path`; a path that no measured package has comes back unchanged.

    All copies of Keras (`keras`, `tf_keras`, `tensorflow.keras`, `tensorflow.python.keras`) are `keras.` here, source
    modules and places of older releases included.
    """
    plain = without_prefix(path)
    found = _known(plain)
    return found if found is not None else path


@lru_cache(maxsize=16384)
def kind(path: str) -> Kind | None:
    """The sort of thing at `path`, by its canonical name."""
    entry = _entry(path)
    if entry is not None:
        return _KINDS[entry[0]]
    dead = section("dead_names", "names").get(canonical(path))
    return _KINDS[dead["kind"]] if dead is not None else None


@lru_cache(maxsize=16384)
def generations(path: str) -> frozenset[str]:
    """The generations ("2", "3") in which this very spelling exists; empty for a name that neither has any more.

    `keras.mixed_precision.set_dtype_policy` is in "3" only, though `set_global_policy`, the same function, is in both.
    """
    plain = without_prefix(path)
    alias = section("names", "aliases").get(plain)
    if alias is not None:
        return frozenset(alias.split(" ", 1)[0])
    entry = section("names", "names").get(plain)
    if entry is not None:
        living: frozenset[str] = frozenset(entry[1])
        own = section("names", "spelled").get(plain)
        return living if own is None else frozenset(own)
    return _entry_generations(plain)


def _entry_generations(plain: str) -> frozenset[str]:
    if plain.startswith(_V1) and plain.removeprefix(_V1) not in _different_in_v1():
        return generations("tensorflow." + plain.removeprefix(_V1))
    return frozenset()


def names() -> frozenset[str]:
    """All canonical names."""
    return frozenset(section("names", "names"))


def last_words() -> frozenset[str]:
    """The last words of all names, canonical or not: what modules may call their members."""
    return frozenset(path.rpartition(".")[2] for part in ("names", "aliases") for path in section("names", part))


def versions() -> dict[str, str]:
    """The versions of the packages that the table was made from."""
    return dict(section("names", "versions"))


@lru_cache(maxsize=16384)
def dtype_name(value: str) -> str | None:
    """The dtype that a path (`tensorflow.float32`, `numpy.float32`) or a string (`half`) names, else None."""
    head, _, last = value.rpartition(".")
    if not head:
        word = _DTYPE_WORDS.get(value, value)
        return word if word in _dtypes() else None
    if head in ("numpy", "jax.numpy"):
        word = _NUMPY_WORDS.get(last, last)
        return word if word in _NUMPY_DTYPES or word == "bool" or (head == "jax.numpy" and word == "bfloat16") else None
    found = canonical(value)
    entry = section("names", "names").get(found)
    if entry is None or entry[0] != "dtype":
        return None
    last = found.rpartition(".")[2]
    return _DTYPE_WORDS.get(last, last)  # `tf.float64` and `tf.double` are one


@lru_cache(maxsize=1)
def _dtypes() -> frozenset[str]:
    found = (path.rpartition(".")[2] for path, entry in section("names", "names").items() if entry[0] == "dtype")
    return frozenset(found)


def without_prefix(path: str) -> str:
    """A path as it is called in the package `keras`, or `tensorflow`, whichever copy of that it goes through."""
    for prefix in _KERAS_PREFIXES:
        if path.startswith(prefix):
            return "keras." + path[len(prefix) :]
    for prefix in _TENSORFLOW_PREFIXES:
        if path.startswith(prefix):
            return "tensorflow." + path[len(prefix) :]
    if path + "." in _KERAS_PREFIXES:
        return "keras"
    return path


def _entry(path: str) -> list[str] | None:
    found: list[str] | None = section("names", "names").get(canonical(path))
    return found


def _known(plain: str) -> str | None:
    """The canonical name for a path whose prefix is settled already."""
    alias = section("names", "aliases").get(plain)
    if alias is not None:
        return str(alias.split(" ", 1)[1])
    if plain in section("names", "names") or plain in section("dead_names", "names"):
        return plain
    if plain.startswith(_V1):
        rest = plain.removeprefix(_V1)
        return None if rest in _different_in_v1() else _known("tensorflow." + rest)
    if plain.startswith(("keras.", "tensorflow.python.")):
        module, _, name = plain.rpartition(".")
        source = section("sources", "sources").get(module, {}).get(name)
        if source is not None:
            return str(source)
        if plain.startswith("keras."):
            return _moved(plain)
    return None


@lru_cache(maxsize=1)
def _different_in_v1() -> frozenset[str]:
    return frozenset(section("names", "different_in_v1"))


def _moved(plain: str) -> str | None:
    """A place of an older release: `keras.layers.core.Dense`, `keras.engine.training.Model`."""
    if plain.startswith("keras.mixed_precision.experimental."):
        return None
    parts = plain.removeprefix("keras.src.").removeprefix("keras.").split(".")
    if len(parts) < 3:
        return None
    names = section("names", "names")
    aliases = section("names", "aliases")
    for candidate in (f"keras.{parts[0]}.{parts[-1]}", *_old_homes(parts)):
        if candidate in aliases:
            return str(aliases[candidate].split(" ", 1)[1])
        if candidate in names:
            return candidate
    return None


_OLD_HOMES = {
    "engine": ("keras", "keras.layers", "keras.models"),
    "layers": ("keras.layers",),
    "optimizer_v2": ("keras.optimizers",),
    "optimizer_v1": ("keras.optimizers.legacy",),
    "optimizer_experimental": ("keras.optimizers",),
    "saving": ("keras.models", "keras.saving"),
}


def _old_homes(parts: list[str]) -> list[str]:
    return [f"{home}.{parts[-1]}" for home in _OLD_HOMES.get(parts[0], ())]
