"""`tf.data`: datasets as values, each by what one of its elements holds, and the functions that run on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import library_bases, method_of
from mplint.interpreter.keras import chains, structures, tensors
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.trace import Fed, Piped
from mplint.interpreter.values import (
    FALSE,
    HALF,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Array,
    Bound,
    Choice,
    Class,
    Const,
    Dataset,
    Dict,
    Entries,
    Function,
    Instance,
    List,
    Made,
    Partial,
    Place,
    Range,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
    models_behind,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_DATASET: Final = "tensorflow.data.Dataset"
_KEEPING: Final = frozenset(
    {"batch", "bucket_by_sequence_length", "cache", "ignore_errors", "padded_batch", "prefetch", "ragged_batch",
     "rebatch", "repeat", "shard", "shuffle", "skip", "snapshot", "take", "unbatch", "with_options",
     "as_numpy_iterator", "make_one_shot_iterator", "make_initializable_iterator"}
)  # fmt: skip
"""Methods that give a dataset, or an iterator, of the same elements: alone or in batches, fewer or more often."""
_ELEMENT: Final = frozenset({"get_next", "get_single_element", "next"})
OWN: Final = frozenset({"prefetch", "padded_batch", "interleave"})
"""Methods that nothing else than a dataset has; so is `map` where it is told how parallel to run."""
_SEQUENCE: Final = Api("keras.utils.PyDataset")
_MOST_DICTS: Final = 16
"""So many dicts of one call are kept apart."""
_BOTH: Final = Const("both")


# -- sources


def _slices(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`Dataset.from_tensor_slices(tensors)`, and `from_tensors`."""
    given = arguments.get("tensors", 0)
    if given is None:
        return Dataset(UNKNOWN)
    _note(m, None, place, *_parts(given))
    return Dataset(structures.changed(m, _element(m, given, place), place, lambda tensor: _part(m, tensor, place)))


def _part(m: Machine, tensor: Tensor, place: Place) -> Tensor:
    """What an element has of a tensor."""
    return tensor if tensor.made.kind == "data" else _data(m, tensor.dtype, place, tensor)


def _generated(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`Dataset.from_generator(generator, output_types)`: in the dtypes that it is told, if it is told any."""
    function = arguments.get("generator", 0)
    given: Value = UNKNOWN
    if isinstance(function, (Function, Bound, Partial)):
        made = m.call(function, Arguments(), place)
        given = sequences.anything(sequences.iterate(m, made, place))
    _note(m, None, place, *_parts(given))
    said = arguments.get("output_signature", 3) or arguments.get("output_types", 1) or NONE
    element = _element(m, given, place)
    return Dataset(element if said == NONE else _as_said(m, said, element, place))


def _as_said(m: Machine, said: Value, given: Value, place: Place) -> Value:
    """The elements `given` in the dtypes that a signature names."""
    match said:
        case Tuple(items=items, rest=None):
            fits = isinstance(given, Tuple) and len(given.items) == len(items)
            parts = given.items if isinstance(given, Tuple) and fits else (UNKNOWN,) * len(items)
            return Tuple(tuple(_as_said(m, *pair, place) for pair in zip(items, parts, strict=True)))
        case List():
            return _as_said(m, m.items(said), given, place)
        case Dict():
            held = dict(m.entries(given).pairs) if isinstance(given, Dict) else {}
            pairs = [(k, _as_said(m, v, held.get(k, UNKNOWN), place)) for k, v in m.entries(said).pairs]
            return _new_dict(m, place, Entries(tuple(pairs)))
        case Tensor(dtype=dtype):  # what stands for a TensorSpec
            return _data(m, dtype, place, given)
        case _:
            return _data(m, tensors.dtype_of(m, said), place, given)


def _data(m: Machine, dtype: str | None, place: Place, *given: Value) -> Tensor:
    """A tensor of the data: no more is known of where its numbers come from than `given`."""
    operands = tuple(value for value in given if isinstance(value, Tensor))
    others = tuple(value for value in given if isinstance(value, Array))
    return Tensor(dtype, Made("data", place, m.context, by=_DATASET, operands=operands, others=others), False)


def _zipped(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`Dataset.zip((a, b))`, or `Dataset.zip(a, b)`."""
    given = arguments.args[0] if len(arguments.args) == 1 else Tuple(arguments.args)
    return Dataset(_unzipped(m, arguments.get("datasets", 0) if not arguments.args else given, place))


def _unzipped(m: Machine, given: Value | None, place: Place) -> Value:
    match given:
        case Dataset(element=element):
            return element
        case Tuple(items=items, rest=None):
            return Tuple(tuple(_unzipped(m, item, place) for item in items))
        case List():
            return _unzipped(m, m.items(given), place)
        case Dict():
            pairs = tuple((key, _unzipped(m, item, place)) for key, item in m.entries(given).pairs)
            return _new_dict(m, place, Entries(pairs))
        case _:
            return UNKNOWN


def _of(dtype: str) -> Callable[[Machine, Arguments, Place], Value]:
    """A dataset of single tensors of `dtype`."""
    return lambda m, arguments, place: Dataset(_data(m, dtype, place))


def _sampled(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`Dataset.sample_from_datasets([a, b])`."""
    given = arguments.get("datasets", 0)
    parts = sequences.iterate(m, given, place).items if given is not None else ()
    found = [part.element for part in parts if isinstance(part, Dataset)]
    return Dataset(choice(list(found)) if found and len(found) == len(parts) else UNKNOWN)


def _specification(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.TensorSpec(shape, dtype)`, `tf.io.FixedLenFeature(shape, dtype)`: a tensor that stands for it."""
    wanted = arguments.get("dtype", 1)
    return _data(m, tensors.dtype_of(m, wanted) if wanted is not None else None, place)


def _parsed(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.io.parse_single_example(serialized, features)`: a tensor for each feature."""
    features = arguments.get("features", 1)
    if not isinstance(features, Dict):
        return UNKNOWN
    entries = m.entries(features)
    pairs = tuple(
        (key, _data(m, spec.dtype if isinstance(spec, Tensor) else None, place)) for key, spec in entries.pairs
    )
    return _new_dict(m, place, Entries(pairs, None if entries.rest is None else UNKNOWN))


def _decoded(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.io.decode_jpeg(contents)`: whole numbers."""
    wanted = arguments.get("dtype")
    return _data(m, "uint8" if wanted is None else tensors.dtype_of(m, wanted), place)


def _images(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.utils.image_dataset_from_directory(…)`."""
    return _from_directory(m, "keras.preprocessing.image_dataset_from_directory", "float32", arguments, place)


def _texts(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.utils.text_dataset_from_directory(…)`."""
    return _from_directory(m, "keras.preprocessing.text_dataset_from_directory", "string", arguments, place)


def _from_directory(m: Machine, path: str, dtype: str, arguments: Arguments, place: Place) -> Value:
    given = bind(m, path, arguments)
    if not arguments.sure or given.get("format", Const("tf")) != Const("tf"):
        return UNKNOWN
    mode = given.get("label_mode", Const("int"))
    data = _data(m, dtype, place)
    element: Value = data
    if mode != NONE and given.get("labels", TRUE) != NONE:
        label = {"int": "int32", "binary": "float32", "categorical": "float32"}.get(
            str(mode.value) if isinstance(mode, Const) else ""
        )
        element = Tuple((data, _data(m, label, place)))
    return Tuple((Dataset(element),) * 2) if given.get("subset") == _BOTH else Dataset(element)


def _loaded(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tfds.load(name, split, as_supervised=True, with_info=True)`."""
    if not arguments.sure:
        return UNKNOWN
    pair = arguments.get("as_supervised") == TRUE
    one = Dataset(Tuple((_data(m, None, place), _data(m, None, place))) if pair else UNKNOWN)
    split = arguments.get("split")
    found: Value
    match split:
        case None | Const(value=None):
            found = _new_dict(m, place, Entries((), one))
        case Tuple() | List():
            items = split if isinstance(split, Tuple) else m.items(split)
            found = Tuple((one,) * len(items.items), one if items.rest is not None else None)
        case _:
            found = one
    informed = arguments.get("with_info")
    if informed in (None, FALSE):
        return found
    return Tuple((found, UNKNOWN)) if informed == TRUE else UNKNOWN


_PIXELS: Final = Array("uint8", False)


def _pictures(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.datasets.mnist.load_data()` and its like."""
    part = Tuple((_PIXELS, Array(None, False)))
    return Tuple((part, part))


def _split(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`sklearn.model_selection.train_test_split(x, y, test_size=0.2)`: two of each."""
    for value in arguments.values():
        m.escape(value)
    if not arguments.sure or not any(isinstance(value, Array) for value in arguments.args):
        return chains.carried(m, arguments.values())
    return Tuple(tuple(part for value in arguments.args for part in (_chosen(m, value),) * 2))


def _chosen(m: Machine, value: Value) -> Value:
    return value if isinstance(value, Array) else chains.carried(m, (value,))


# -- what an element is


def _element(m: Machine, value: Value, place: Place) -> Value:
    """What TensorFlow makes of `value`, a structure in which a list is one tensor."""
    match value:
        case Tensor():
            return value
        case Array(dtype=dtype):
            return _data(m, dtype, place, value)
        case Const(value=bool()):
            return _data(m, "bool", place)
        case Const(value=int()) | Range():
            return _data(m, "int32", place)
        case Const(value=float()):
            return _data(m, "float32", place)
        case Const(value=str() | bytes()):
            return _data(m, "string", place)
        case Tuple(items=items, rest=None):
            return Tuple(tuple(_inner(m, item, place) for item in items))
        case List():
            return _data(m, None, place, *m.items(value).items)
        case Dict():
            entries = m.entries(value)
            pairs = tuple((key, _inner(m, item, place)) for key, item in entries.pairs)
            return _new_dict(m, place, Entries(pairs, entries.rest and UNKNOWN, entries.optional))
        case Choice():
            found = [_element(m, option, place) for option in value.options]
            return choice(found) if all(isinstance(each, Tensor) for each in found) else UNKNOWN
        case _:
            return value if isinstance(value, Unknown) else UNKNOWN


def _inner(m: Machine, value: Value, place: Place) -> Value:
    """A part of a structure: one of which nothing is known is a tensor most likely."""
    found = _element(m, value, place)
    return _data(m, None, place) if isinstance(found, Unknown) and not any(models_behind(found)) else found


def _new_dict(m: Machine, place: Place, entries: Entries) -> Value:
    """A dict of its own: one call makes several."""
    context = m.context
    for index in range(1, _MOST_DICTS):
        m.context = context.at(place, index)
        if not m.has_made(m.program.address(place, m.context, "dict")):
            break
    made = m.new_dict(place, entries)
    m.context = context
    return made


def _parts(value: Value) -> tuple[Value, ...]:
    """The inputs and the targets among what a model or a dataset is given."""
    return value.items[:2] or (value,) if isinstance(value, Tuple) else (value,)


# -- methods


def method(m: Machine, dataset: Dataset, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a dataset."""
    if name in _KEEPING:
        return dataset
    if name in _ELEMENT:
        return dataset.element
    function = arguments.args[0] if arguments.args else next((value for _, value in arguments.keywords), UNKNOWN)
    match name:
        case "map":
            element = _element(m, _run(m, function, dataset.element, place), place)
            m.record(Piped(place, m.context, element))
            return Dataset(element)
        case "filter" | "take_while":
            _run(m, function, dataset.element, place)
            return dataset
        case "interleave" | "flat_map":
            inner = _run(m, function, dataset.element, place)
            return inner if isinstance(inner, Dataset) else Dataset(UNKNOWN)
        case "apply":
            inner = m.call(function, Arguments((dataset,)), place)
            return inner if isinstance(inner, Dataset) else Dataset(UNKNOWN)
        case "concatenate":
            return dataset
        case "enumerate":
            return Dataset(Tuple((_data(m, "int64", place), dataset.element)))
        case "zip":
            return _zipped(m, arguments.behind(dataset), place)
        case "window" | "scan" | "group_by_window" | "rejection_resample":
            return Dataset(UNKNOWN)
        case _:
            for value in arguments.values():
                m.escape(value)
            return UNKNOWN


def _run(m: Machine, function: Value, element: Value, place: Place) -> Value:
    """What a function gives for an element: it is given the parts of a tuple one by one."""
    match _own(m, element, place):
        case Tuple(items=items, rest=rest):
            return m.call(function, Arguments(items, (), rest), place)
        case Unknown():
            return m.call(function, Arguments((), (), UNKNOWN), place)
        case single:
            return m.call(function, Arguments((single,)), place)


def _own(m: Machine, element: Value, place: Place) -> Value:
    """An element with dicts of its own: what a function does to them is done to no other element."""
    match element:
        case Tuple(items=items, rest=rest):
            return Tuple(tuple(_own(m, item, place) for item in items), rest)
        case Dict():
            return _new_dict(m, place, m.entries(element))
        case _:
            return element


def of_unknown(m: Machine, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A method of something of which nothing is known but that only a dataset has it; None of any other."""
    parallel = name == "map" and any(key == "num_parallel_calls" for key, _ in arguments.keywords)
    return method(m, Dataset(UNKNOWN), name, arguments, place) if parallel or name in OWN else None


# -- what models are given


def feed(m: Machine, model: Instance, arguments: Arguments, place: Place) -> None:
    """Note the data in half precision that a method of `model` is given."""
    data = arguments.get("x", 0)
    if data is None:
        return
    if isinstance(data, Instance) and isinstance(data.cls, Class) and _SEQUENCE.path in library_bases(data.cls):
        getter = method_of(m, data, "__getitem__")
        if getter is not None:
            data = m.call(Bound(data, getter), Arguments((UNKNOWN,)), place)
    elif isinstance(data, List) and data.kind == "iterator":
        data = sequences.anything(sequences.iterate(m, data, place))
    if isinstance(data, Dataset):
        data = data.element
    targets = arguments.get("y", 1)
    if targets is None or targets == NONE:
        _note(m, model, place, *_parts(data))
    else:
        _note(m, model, place, data, targets)


def _note(m: Machine, model: Instance | None, place: Place, inputs: Value, targets: Value = UNKNOWN) -> None:
    if _is_marked(m, inputs) or _is_marked(m, targets):
        m.record(Fed(place, m.context, model, inputs, targets))


def _is_marked(m: Machine, value: Value) -> bool:
    """Whether tensors or arrays in a structure are half precision, or were computed in it."""
    return any(
        (isinstance(part, (Tensor, Array)) and part.dtype in HALF)
        or (isinstance(part, Array) and part.computed is not None)
        for part in m.parts(value)
    )


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    f"{_DATASET}.from_tensor_slices": _slices,
    f"{_DATASET}.from_tensors": _slices,
    f"{_DATASET}.from_generator": _generated,
    f"{_DATASET}.zip": _zipped,
    f"{_DATASET}.range": _of("int64"),
    f"{_DATASET}.list_files": _of("string"),
    f"{_DATASET}.sample_from_datasets": _sampled,
    f"{_DATASET}.choose_from_datasets": _sampled,
    "tensorflow.data.TFRecordDataset": _of("string"),
    "tensorflow.data.TextLineDataset": _of("string"),
    "tensorflow.data.FixedLengthRecordDataset": _of("string"),
    "tensorflow.TensorSpec": _specification,
    "tensorflow.io.FixedLenFeature": _specification,
    "tensorflow.io.parse_single_example": _parsed,
    "tensorflow.io.parse_example": _parsed,
    **{f"tensorflow.io.decode_{kind}": _decoded for kind in ("jpeg", "png", "gif", "bmp", "image", "and_crop_jpeg")},
    "keras.preprocessing.image_dataset_from_directory": _images,
    "keras.preprocessing.text_dataset_from_directory": _texts,
    "tensorflow_datasets.load": _loaded,
    "sklearn.model_selection.train_test_split": _split,
    **{f"keras.datasets.{name}.load_data": _pictures for name in ("mnist", "fashion_mnist", "cifar10", "cifar100")},
}
