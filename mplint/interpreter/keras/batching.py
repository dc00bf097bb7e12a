"""Where programs say how many examples there are in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.origins import number
from mplint.interpreter.trace import Batched
from mplint.interpreter.values import Place

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


def note_method(m: Machine, name: str, arguments: Arguments, place: Place) -> None:
    """A method of a library's object is called."""
    _note(m, _METHODS.get(name), arguments, place)


def note_function(m: Machine, path: str, arguments: Arguments, place: Place) -> None:
    """A function of a library is called."""
    _note(m, _FUNCTIONS.get(path), arguments, place)


def _note(m: Machine, told: tuple[str, int] | None, arguments: Arguments, place: Place) -> None:
    size = number(arguments.get(*told)) if told is not None else None
    if told is not None and size is not None:
        m.record(Batched(place, size, *told))
