"""Where programs say how many examples there are in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import library_bases
from mplint.interpreter.origins import number
from mplint.interpreter.trace import Batched, FedFrom
from mplint.interpreter.values import Class, Place, Symbol, Unknown, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_METHODS: Final = {
    "fit": ("batch_size", 2),
    "batch": ("batch_size", 0),
    "padded_batch": ("batch_size", 0),
    "flow": ("batch_size", 2),
    "flow_from_directory": ("batch_size", 5),
    "flow_from_dataframe": ("batch_size", 9),
}
"""Methods of models, datasets and generators of images: the parameter, and its position."""
_OWN: Final = frozenset(
    {"padded_batch", "prefetch", "interleave", "shuffle", "flow", "flow_from_directory", "flow_from_dataframe"}
)
"""Methods of datasets and generators of images that hardly anything else has."""
_FUNCTIONS: Final = {
    "keras.utils.image_dataset_from_directory": ("batch_size", 5),
    "keras.utils.text_dataset_from_directory": ("batch_size", 4),
    "keras.utils.audio_dataset_from_directory": ("batch_size", 4),
    "keras.utils.timeseries_dataset_from_array": ("batch_size", 6),
}

_SEQUENCES: Final = frozenset({"keras.utils.PyDataset", "keras.utils.Sequence"})


def note_method(m: Machine, name: str, arguments: Arguments, place: Place) -> None:
    """A method of a library's object is called."""
    _note(m, _METHODS.get(name), arguments, place)


def note_function(m: Machine, path: str, arguments: Arguments, place: Place) -> None:
    """A function of a library is called."""
    _note(m, _FUNCTIONS.get(path), arguments, place)


def note_unknown(m: Machine, callee: Unknown, arguments: Arguments, place: Place) -> None:
    """A method is called of something that is not known: of a dataset, where a model is fed from it."""
    match callee.symbol:
        case Symbol(parts=("attribute", of, str(name))) as method if name in _METHODS and name != "fit":
            _note(m, _METHODS[name], arguments, place, None if name in _OWN or _is_dataset(of) else method)
        case _:
            pass


def feed(m: Machine, value: Value) -> None:
    """A model is fed with `value`, or that has a method which only datasets have."""
    if isinstance(value, Unknown) and value.symbol is not None:
        m.record(FedFrom(value.symbol))


def _is_dataset(symbol: object) -> bool:
    """Whether something unknown is what a method gives that only datasets have."""
    return isinstance(symbol, Symbol) and any(
        part.parts[0] == "attribute" and part.parts[2] in _OWN for part in symbol.tree
    )


def note_made(m: Machine, cls: Class, arguments: Arguments, place: Place) -> None:
    """An object of a class of the program is made: it may be a sequence of batches."""
    for name, _ in arguments.keywords:
        if name == "batch_size" and not _SEQUENCES.isdisjoint(library_bases(cls)):
            _note(m, (name, -1), arguments, place)


def _note(
    m: Machine, told: tuple[str, int] | None, arguments: Arguments, place: Place, method: Symbol | None = None
) -> None:
    if told is None:
        return
    name, position = told
    size = number(arguments.get(name, position if position >= 0 else None))
    if size is not None:
        m.record(Batched(place, size, name, position, method))
