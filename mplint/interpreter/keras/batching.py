"""Where programs say how many examples there are in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import library_bases
from mplint.interpreter.origins import number
from mplint.interpreter.trace import Batched
from mplint.interpreter.values import Class, Place, Symbol, Unknown

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
    """A method is called of something that is not known: of a dataset, where no model has such a method."""
    match callee.symbol:
        case Symbol(parts=("attribute", _, str(name))) if name in _METHODS and name != "fit":
            note_method(m, name, arguments, place)
        case _:
            pass


def note_made(m: Machine, cls: Class, arguments: Arguments, place: Place) -> None:
    """An object of a class of the program is made: it may be a sequence of batches."""
    for name, _ in arguments.keywords:
        if name == "batch_size" and not _SEQUENCES.isdisjoint(library_bases(cls)):
            _note(m, (name, -1), arguments, place)


def _note(m: Machine, told: tuple[str, int] | None, arguments: Arguments, place: Place) -> None:
    if told is None:
        return
    name, position = told
    size = number(arguments.get(name, position if position >= 0 else None))
    if size is not None:
        m.record(Batched(place, size, name, position))
