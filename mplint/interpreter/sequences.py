"""Lists, tuples, dicts and ranges: iterating, indexing and combining what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, mappings, namespaces
from mplint.interpreter.calls import SUSPENDED, Arguments, call_function
from mplint.interpreter.classes import is_enum, members, method_of, tuple_fields
from mplint.interpreter.keras import tensors
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Array,
    Bound,
    Choice,
    Class,
    Const,
    Dataset,
    Dict,
    Entries,
    Fields,
    Function,
    Instance,
    List,
    Partial,
    Place,
    Range,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

FACTORY: Final = "@factory"
"""The field of a `defaultdict` that makes what is missing."""
MAX_PASSES: Final = 40
"""A loop over more elements than this is run to a fixpoint instead of element by element."""
_MAX_RANGE: Final = 256
MAX_JOINED: Final = 10_000


def anything(items: Tuple) -> Value:
    """One element of the sequence, whichever."""
    values = [*items.items, *([items.rest] if items.rest is not None else [])]
    return choice(values) if values else UNKNOWN


def loose(items: Tuple) -> Tuple:
    """The same elements, any number of them in any order."""
    return Tuple((), anything(items)) if items.items or items.rest is not None else items


def backwards(items: Tuple) -> Tuple:
    """The elements from the last to the first."""
    return Tuple(items.items[::-1]) if items.rest is None else loose(items)


def item(items: Tuple, index: int) -> Value:
    """The element at `index` (negative: from the end)."""
    if items.rest is None and -len(items.items) <= index < len(items.items):
        return items.items[index]
    if 0 <= index < len(items.items):
        return items.items[index]
    if items.rest is None:
        return UNKNOWN
    return anything(items)


def slice_of(items: Tuple, start: Value, stop: Value, step: Value) -> Tuple:
    """`items[start:stop:step]`."""
    bounds = numbers(start, stop, step)
    return Tuple(items.items[bounds]) if items.rest is None and bounds is not None else loose(items)


def numbers(start: Value, stop: Value, step: Value) -> slice | None:
    """The slice that constant bounds make; None where they are no constants, or no slice."""
    bounds: list[int | None] = []
    for bound in (start, stop, step):
        if not isinstance(bound, Const) or not (bound.value is None or isinstance(bound.value, int)):
            return None
        bounds.append(bound.value)
    return None if bounds[2] == 0 else slice(*bounds)


def concatenate(left: Tuple, right: Tuple) -> Tuple:
    """`left + right`; what doubles again and again has no known length in the end."""
    if left.rest is None and len(left.items) + len(right.items) > MAX_JOINED:
        return loose(Tuple(left.items + right.items, right.rest))
    if left.rest is None:
        return Tuple(left.items + right.items, right.rest)
    return Tuple(left.items, choice([left.rest, *right.items, *([right.rest] if right.rest else [])]))


def entry(key: Value, value: Value) -> Entries:
    """A dict with one item; under a key that is not known, it may be any."""
    return Entries((), value) if isinstance(key, (Unknown, Choice)) else Entries(((key, value),))


def updated(entries: Entries, more: Entries) -> Entries:
    """A dict after `update`."""
    if more.rest is None and not entries.optional and not more.optional:
        together = dict(entries.pairs) | dict(more.pairs)
        return Entries(tuple(together.items()), entries.rest, shuffled=entries.shuffled or more.shuffled)
    keys = {key for key, _ in more.pairs}
    fresh = dict(more.pairs)
    have = {key for key, _ in entries.pairs}
    pairs = [(key, fresh.get(key, value)) for key, value in entries.pairs]
    optional = entries.optional
    shuffled = entries.shuffled or more.shuffled or not optional.isdisjoint(keys)
    if optional or more.optional:
        held = dict(entries.pairs)
        pairs = [(key, choice([held[key], value]) if key in more.optional else value) for key, value in pairs]
        optional = (optional - (keys - more.optional)) | (more.optional - have)
    pairs += [(key, value) for key, value in more.pairs if key not in have]
    rests = [rest for rest in (entries.rest, more.rest) if rest is not None]
    if more.rest is not None:  # an unknown key may hit a known one
        pairs = [(key, value if key in keys else _overlaid(key, value, more.rest)) for key, value in pairs]
    return Entries(tuple(pairs), choice(rests) if rests else None, optional, shuffled)


def _overlaid(key: Value, value: Value, rest: Value) -> Value:
    """What stands under `key` after an update with `rest` under keys that are not known."""
    if candidates.source_of(rest) is None:
        return choice([value, rest])
    return candidates.or_else(candidates.under(rest, key), value)


def without(entries: Entries, key: Value) -> Entries:
    """A dict after `del d[key]`; under a key that is not known, it may be any."""
    if isinstance(key, (Unknown, Choice)):
        return Entries(entries.pairs, entries.rest, frozenset(known for known, _ in entries.pairs), entries.shuffled)
    left = tuple(pair for pair in entries.pairs if pair[0] != key)
    return Entries(left, entries.rest, entries.optional - {key}, entries.shuffled)


def holds(entries: Entries, key: Value) -> bool | None:
    """Whether a dict has `key`; None when not known."""
    if any(known == key for known, _ in entries.pairs):
        return None if key in entries.optional else True
    if entries.rest is not None or not isinstance(key, Const):
        return None if entries.pairs or entries.rest is not None else False
    return False if all(isinstance(known, Const) for known, _ in entries.pairs) else None


def listed(entries: Entries, items: tuple[Value, ...], more: Value) -> Tuple:
    """The keys, values or items of a dict as a sequence, `more` being one under an unknown key.

    Behind an item that may be missing the places are not known.
    """
    if entries.rest is not None:
        return Tuple((), choice([*items, more]))
    if not entries.optional:
        return in_any_order(Tuple(items)) if entries.shuffled else Tuple(items)
    if entries.shuffled:
        return Tuple((), choice(list(items)))
    sure = next(i for i, (key, _) in enumerate(entries.pairs) if key in entries.optional)
    return Tuple(items[:sure], choice(list(items[sure:])))


def lookup(entries: Entries, key: Value) -> Value | None:
    """The value under `key`; None when there is none."""
    for known, value in entries.pairs:
        if known == key:
            return value
    if isinstance(key, (Const, Tuple)):
        return entries.rest if entries.rest is None else candidates.under(entries.rest, key)
    values = [value for _, value in entries.pairs] + ([entries.rest] if entries.rest is not None else [])
    if not values:
        return None
    any_of_them = choice(values)
    likely = candidates.narrowed(key, entries)
    return choice(likely) if likely and (any_of_them == UNKNOWN or candidates.is_read(key)) else any_of_them


def mapped(m: Machine, function: Value, rows: Iterable[tuple[Value, ...]], place: Place) -> list[Value]:
    """What a function gives for each row of arguments, each call in a context of its own."""
    context = m.context
    results = []
    for index, row in enumerate(rows):
        m.context = context.at(place, index)
        results.append(m.call(function, Arguments(row), place))
    m.context = context
    return results


def in_any_order(items: Tuple) -> Tuple:
    """The elements of what has no order: how many there are is known, not which comes first."""
    if len(items.items) < 2:
        return items
    return Tuple((anything(Tuple(items.items)),) * len(items.items), items.rest)


def used_up(m: Machine, iterator: List, place: Place, *, whole: bool) -> Tuple:
    """What is left in an iterator, which whoever asks takes: all of it, or perhaps a part."""
    resume_generator(m, iterator, place, whole=whole)
    items = m.items(iterator)
    if whole:
        m.put_items(iterator.address, Tuple(()))
    elif items.items:
        m.put_items(iterator.address, Tuple((), anything(items)))
    return items


def first_of(m: Machine, iterator: List, place: Place) -> Tuple:
    """What `next` takes of an iterator: the first element at most, and `rest` where there may be none."""
    resume_generator(m, iterator, place, whole=False)
    items = m.items(iterator)
    if items.items:
        m.put_items(iterator.address, Tuple(items.items[1:], items.rest))
        return Tuple(items.items[:1])
    return items


def resume_generator(m: Machine, iterator: List, place: Place, *, whole: bool) -> None:
    """Run the body of a generator whose first element is asked for.

    Where not all is taken at once, whoever takes it does so in between, and may stop: what the body changes is not
    known.
    """
    waiting = m.state.get((iterator.address, SUSPENDED))
    if not isinstance(waiting, Partial):
        return
    m.state.set((iterator.address, SUSPENDED), NONE)
    arguments = Arguments(waiting.args, waiting.keywords)

    def run() -> Value:
        assert isinstance(waiting.callee, Function)
        return call_function(m, waiting.callee, arguments, place, resumed=True)

    given = run() if whole else m.perhaps(run)
    m.put_items(iterator.address, given if isinstance(given, Tuple) else Tuple((), UNKNOWN))


def iterate(m: Machine, value: Value, place: Place, want: int | None = None, *, whole: bool = False) -> Tuple:
    """The elements that iterating over `value` gives.

    `want` is how many an unpacking expects; `whole` says that all are taken before anything else happens.
    """
    if type(value) is Instance:
        value = mappings.view(value)
    match value:
        case Tuple():
            return value
        case List(kind="set"):
            return in_any_order(m.items(value))
        case List(kind="iterator"):
            return used_up(m, value, place, whole=whole)
        case List():
            return m.items(value)
        case Dict():
            entries = m.entries(value)
            return listed(entries, tuple(key for key, _ in entries.pairs), UNKNOWN)
        case Fields():
            entries = namespaces.contents(m, value)
            return listed(entries, tuple(key for key, _ in entries.pairs), UNKNOWN)
        case Range():
            numbers = range(value.start, value.stop, value.step)
            if len(numbers) <= _MAX_RANGE:
                return Tuple(tuple(Const(number) for number in numbers))
            return Tuple((), UNKNOWN)
        case Const(value=str(text)) if len(text) <= _MAX_RANGE:
            return Tuple(tuple(Const(character) for character in text))
        case Choice():
            sequences = [iterate(m, option, place, want, whole=whole) for option in value.options]
            length = len(sequences[0].items)
            if all(s.rest is None and len(s.items) == length for s in sequences):
                return Tuple(tuple(choice([s.items[i] for s in sequences]) for i in range(length)))
            return Tuple((), choice([anything(s) for s in sequences]))
        case Tensor():
            part = tensors.part_of(m, value, place)
            return Tuple((part,) * want) if want else Tuple((), part)
        case Array():
            return Tuple((), value)
        case Dataset(element=element):
            return Tuple((), element)
        case Class() if is_enum(value):
            return members(m, value)
        case Instance():
            names = tuple_fields(m, value)
            if names is not None:
                return Tuple(tuple(m.field(value.address, name) or UNKNOWN for name in names))
            if not isinstance(value.cls, Class):
                return Tuple((), UNKNOWN)
            result = _iterated(m, value, place)
            return Tuple((), UNKNOWN) if result is None else iterate(m, result, place, want)
        case Unknown():
            if want:
                return Tuple(tuple(derived("item", value, str(i)) for i in range(want)))
            return Tuple((), derived("element", value))
        case _:
            return Tuple((), UNKNOWN)


def _iterated(m: Machine, value: Instance, place: Place) -> Value | None:
    """What the program's own `__iter__` gives, where it is a generator or returns a container."""
    method = method_of(m, value, "__iter__")
    if method is None:
        return None
    result = m.call(Bound(value, method), Arguments(), place)
    return result if isinstance(result, (List, Tuple)) else None
