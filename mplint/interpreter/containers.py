"""Methods of lists, sets, iterators, tuples, dicts and namespaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mplint.interpreter import candidates, mappings, namespaces, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.concrete import abstract, concrete
from mplint.interpreter.folding import NotKnown
from mplint.interpreter.merging import merge_entries
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Choice,
    Const,
    Dict,
    Entries,
    Fields,
    Instance,
    List,
    Maybe,
    Place,
    Tuple,
    Unknown,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


# -- lists


def list_method(m: Machine, receiver: List, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a list, set or iterator."""
    if receiver.kind == "set":
        return _set_method(m, receiver, name, arguments, place)
    items = m.items(receiver)
    first = arguments.args[0] if arguments.args else UNKNOWN
    match name:
        case "append":
            m.put_items(receiver.address, sequences.concatenate(items, Tuple((first,))))
        case "extend":
            more = sequences.iterate(m, first, place, whole=True)
            m.put_items(receiver.address, sequences.concatenate(m.items(receiver), more))
        case "insert" if len(arguments.args) == 2:
            value = arguments.args[1]
            if isinstance(first, Const) and isinstance(first.value, int) and items.rest is None:
                changed = list(items.items)
                changed.insert(first.value, value)
                m.put_items(receiver.address, Tuple(tuple(changed)))
            else:
                m.put_items(receiver.address, Tuple((), choice([*_any(items), value])))
        case "pop":
            return _pop(m, receiver, items, first if arguments.args else Const(-1))
        case "reverse":
            m.put_items(receiver.address, sequences.backwards(items))
        case "clear":
            m.put_items(receiver.address, Tuple(()))
        case "remove":
            position = _position(items, first)
            if position is None:
                m.put_items(receiver.address, sequences.loose(items))
            elif position >= 0:
                m.put_items(receiver.address, Tuple(items.items[:position] + items.items[position + 1 :], items.rest))
        case "copy":
            return m.new_list(place, items, receiver.kind)
        case "sort":
            m.put_items(receiver.address, in_order(m, items, arguments, place))
        case "index" | "count":
            return tuple_method(m, items, name, arguments)
        case _:
            m.put_items(receiver.address, sequences.loose(items))
            return UNKNOWN
    return NONE


def tuple_method(m: Machine, items: Tuple, name: str, arguments: Arguments) -> Value:
    """`index` and `count`."""
    try:
        held = concrete(m, items)
        given = [concrete(m, value) for value in arguments.args]
        return Const(getattr(held, name)(*given))
    except (NotKnown, ValueError, TypeError, AttributeError):
        return UNKNOWN


def _any(items: Tuple) -> list[Value]:
    return [sequences.anything(items)] if items.items or items.rest is not None else []


def _pop(m: Machine, receiver: List, items: Tuple, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, int) and items.rest is None:
        if -len(items.items) <= index.value < len(items.items):
            changed = list(items.items)
            gone = changed.pop(index.value)
            m.put_items(receiver.address, Tuple(tuple(changed)))
            return gone
        return UNKNOWN
    m.put_items(receiver.address, sequences.loose(items))
    return sequences.anything(items)


def _position(items: Tuple, wanted: Value) -> int | None:
    """Where the first element equal to `wanted` stands; -1 where there is none, None where that is not known."""
    for position, item in enumerate(items.items):
        if item is wanted or (item == wanted and not isinstance(item, Const)):
            return position
        if not (isinstance(item, Const) and isinstance(wanted, Const)):
            return None
        if item.value == wanted.value:
            return position
    return -1 if items.rest is None else None


def in_order(m: Machine, items: Tuple, arguments: Arguments, place: Place) -> Tuple:
    """The elements as `sorted` puts them, by the `key` and `reverse` of a call."""
    key, backwards = arguments.get("key"), arguments.get("reverse")
    if items.rest is not None or not arguments.sure:
        return sequences.loose(items)
    try:
        turned = backwards is not None and bool(concrete(m, backwards))
        if key is None or key == NONE:
            keys = [concrete(m, item) for item in items.items]
        else:
            rows = [(item,) for item in items.items]
            keys = [concrete(m, value) for value in sequences.mapped(m, key, rows, place)]
        order: list[int] = sorted(range(len(keys)), key=keys.__getitem__, reverse=turned)  # type: ignore[arg-type]
    except (NotKnown, TypeError):
        return sequences.loose(items)
    return Tuple(tuple(items.items[position] for position in order))


# -- sets

_SET_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "union": lambda a, *others: a.union(*others),
    "intersection": lambda a, *others: a.intersection(*others),
    "difference": lambda a, *others: a.difference(*others),
    "symmetric_difference": lambda a, other: a.symmetric_difference(other),
    "issubset": lambda a, other: a.issubset(other),
    "issuperset": lambda a, other: a.issuperset(other),
    "isdisjoint": lambda a, other: a.isdisjoint(other),
    "copy": lambda a: a,
}
_CHANGES: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda a, item: a | {item},
    "discard": lambda a, item: a - {item},
    "remove": lambda a, item: a - {item},
    "clear": lambda a: frozenset(),
    "update": _SET_OPERATIONS["union"],
    "intersection_update": _SET_OPERATIONS["intersection"],
    "difference_update": _SET_OPERATIONS["difference"],
    "symmetric_difference_update": _SET_OPERATIONS["symmetric_difference"],
}


def _set_method(m: Machine, receiver: List, name: str, arguments: Arguments, place: Place) -> Value:
    items = m.items(receiver)
    given = [_elements(m, value, place) for value in arguments.args]
    try:
        held = concrete(m, receiver)
        known = [concrete(m, value) for value in given]
        if name in _SET_OPERATIONS:
            return abstract(m, _SET_OPERATIONS[name](held, *known), place)
        if name in _CHANGES:
            m.put_items(receiver.address, as_set(tuple(map(Const, _CHANGES[name](held, *known)))))
            return NONE
    except (NotKnown, TypeError):
        pass
    match name:
        case "add":
            m.put_items(receiver.address, as_set((*items.items, *given), items.rest))
        case "clear":
            m.put_items(receiver.address, Tuple(()))
        case "update" | "union":
            joined = items
            for value in given:
                joined = sequences.concatenate(joined, sequences.iterate(m, value, place, whole=True))
            joined = as_set(joined.items, joined.rest)
            if name == "union":
                return m.new_list(place, joined, "set")
            m.put_items(receiver.address, joined)
        case "copy":
            return m.new_list(place, items, "set")
        case "isdisjoint" | "issubset" | "issuperset":
            return UNKNOWN
        case "intersection" | "difference" | "symmetric_difference":
            others = [sequences.iterate(m, value, place, whole=True) for value in given]
            found = [each for part in (items, *others) for each in _any(part)]
            return m.new_list(place, Tuple((), choice(found) if found else UNKNOWN), "set")
        case _:
            others = [sequences.iterate(m, value, place) for value in given if isinstance(value, (List, Tuple))]
            found = [each for part in (items, *others) for each in _any(part)]
            m.put_items(receiver.address, Tuple((), choice(found)) if found else items)
            return sequences.anything(items) if name == "pop" else NONE
    return NONE


def _elements(m: Machine, value: Value, place: Place) -> Value:
    """An argument of a set's method; of an iterator, what it gives."""
    return sequences.iterate(m, value, place, whole=True) if isinstance(value, List) and value.kind != "set" else value


def as_set(items: tuple[Value, ...], rest: Value | None = None) -> Tuple:
    """The contents of a set: each element once."""
    kept: list[Value] = []
    seen: set[object] = set()
    for item in items:
        key = item.value if isinstance(item, Const) else item
        if key not in seen:
            seen.add(key)
            kept.append(item)
    sure = len(kept) < 2 or all(isinstance(item, (Const, Tuple)) for item in kept)
    if sure:
        return Tuple(tuple(kept), rest)
    known = tuple(item for item in kept if isinstance(item, Const))  # those that are not known may be equal
    return Tuple(known, choice([*(item for item in kept if item not in known), *([rest] if rest is not None else [])]))


# -- dicts


def dict_method(m: Machine, receiver: Dict, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a dict."""
    entries = m.entries(receiver)
    match name:
        case "get" | "pop" | "setdefault" if arguments.args:
            return _asked(m, receiver, entries, name, arguments)
        case "__getitem__" if arguments.args:
            return sequences.lookup(entries, arguments.args[0]) or UNKNOWN
        case "__setitem__" if len(arguments.args) == 2:
            m.put_entries(receiver.address, sequences.updated(entries, sequences.entry(*arguments.args)))
            return NONE
        case "items":
            rows = tuple(Tuple((key, value)) for key, value in entries.pairs)
            other = Tuple((UNKNOWN, entries.rest if entries.rest is not None else UNKNOWN))
            return m.new_list(place, sequences.listed(entries, rows, other), "items")
        case "keys":
            return m.new_list(place, sequences.iterate(m, receiver, place), "keys")
        case "values":
            values = tuple(value for _, value in entries.pairs)
            return m.new_list(place, sequences.listed(entries, values, entries.rest or UNKNOWN), "values")
        case "update":
            more = arguments.named()
            for value in arguments.args:
                more = sequences.updated(mapping(m, value, place), more)
            m.put_entries(receiver.address, sequences.updated(entries, more))
            return NONE
        case "copy":
            return m.new_dict(place, entries)
        case "clear":
            m.put_entries(receiver.address, Entries())
            return NONE
        case "getboolean" | "getint" | "getfloat" if arguments.args:  # of a section of a `ConfigParser`
            found = _asked(m, receiver, entries, "get", arguments)
            return candidates.as_switch(found) if name == "getboolean" else found
        case _:
            held = choice([value for _, value in entries.pairs] or [UNKNOWN])
            m.put_entries(receiver.address, Entries((), choice([held, entries.rest]) if entries.rest else held))
            return UNKNOWN


def _asked(m: Machine, receiver: Dict, entries: Entries, name: str, arguments: Arguments) -> Value:
    """`get`, `pop` and `setdefault`."""
    key = arguments.args[0]
    default = arguments.args[1] if len(arguments.args) > 1 else NONE
    unsure = candidates.looked_up(key, entries, default) if name == "get" else None
    if unsure is not None:
        return unsure
    found, there = sequences.lookup(entries, key), sequences.holds(entries, key)
    if name == "pop":
        m.put_entries(receiver.address, sequences.without(entries, key))
        if len(arguments.args) == 1 and found is not None:
            return found  # were it missing, it would raise
    if name == "setdefault" and there is not True:
        value = default if found is None else choice([found, default])
        m.put_entries(receiver.address, sequences.updated(entries, sequences.entry(key, value)))
    if found is None:
        return default if there is False else choice([default, UNKNOWN])
    return found if there else candidates.or_else(found, default)


def namespace_method(m: Machine, receiver: Fields, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a namespace: `vars(obj).update(…)`."""
    match name, arguments.args:
        case "get" | "pop" | "setdefault", (Const(value=str(field)) as key, *default):
            there = namespaces.has(m, receiver, field)
            found = namespaces.read(m, receiver, field)
            missing = default[0] if default else NONE
            if name == "pop":
                namespaces.delete(m, receiver, key)
            if name == "setdefault" and there is not True:
                fresh = missing if found is None and there is False else UNKNOWN
                namespaces.write(m, receiver, key, fresh)
            if found is None and isinstance(receiver.of, Instance):
                found = mappings.missing(m, receiver.of, field)
            if found is None:
                return missing if there is False else UNKNOWN
            return found if there else candidates.or_else(found, missing)
        case "get", (Choice() as keys, *_):
            known = [str(key.value) for key in keys.options if type(key) is Const]
            return choice([namespaces.read(m, receiver, field) or UNKNOWN for field in known])
        case "update", _:
            for value in arguments.args:
                namespaces.update(m, receiver, mapping(m, value, place))
            namespaces.update(m, receiver, arguments.named())
            return NONE
        case "clear", _:
            namespaces.clear(m, receiver)
            return NONE
        case "keys" | "values" | "items" | "copy", _:
            copied = m.new_dict(place, namespaces.contents(m, receiver))
            return copied if name == "copy" else dict_method(m, copied, name, arguments, place)
        case "popitem" | "pop" | "setdefault", _:
            namespaces.loosen(m, receiver)
            return UNKNOWN
        case _:
            return UNKNOWN


def mapping(m: Machine, value: Value, place: Place) -> Entries:
    """What `dict(value)` or `update(value)` takes over: of a mapping, or of pairs."""
    match mappings.view(value):
        case Dict() as held:
            return m.entries(held)
        case Fields() as held:
            return namespaces.contents(m, held)
        case Choice(options=found):
            return merge_entries([mapping(m, option, place) for option in found])
        case List() | Tuple():
            entries = Entries()
            pairs = sequences.iterate(m, value, place, whole=True)
            for pair in pairs.items:
                parts = sequences.iterate(m, pair, place, want=2, whole=True)
                entry = sequences.entry(sequences.item(parts, 0), sequences.item(parts, 1))
                entries = sequences.updated(entries, entry)
            return entries if pairs.rest is None else sequences.updated(entries, Entries((), UNKNOWN))
        case Unknown():
            return Entries((), candidates.values_of(value))
        case _:
            return Entries((), UNKNOWN)


def passed(m: Machine, positional: Value | None, named: Value | None, place: Place) -> Arguments:
    """What `f(*positional, **named)` passes, as far as both are given."""
    given = Tuple(()) if positional in (None, NONE) else sequences.iterate(m, positional or UNKNOWN, place, whole=True)
    keywords, more = ((), None) if named in (None, NONE) else as_keywords(m, named or UNKNOWN, place)
    return Arguments(given.items, keywords, given.rest, more)


def as_keywords(m: Machine, value: Value, place: Place) -> tuple[tuple[tuple[str, Value], ...], Value | None]:
    """What `**value` passes: the keywords that are known, and what stands for further ones."""
    if not isinstance(mappings.view(value), (Dict, Fields)):
        return (), candidates.values_of(value)
    entries = mapping(m, value, place)
    keywords: list[tuple[str, Value]] = []
    more: Value | None = None
    for key, held in entries.pairs:
        if isinstance(key, Const) and isinstance(key.value, str):
            keywords.append((key.value, Maybe(held) if key in entries.optional else held))
        else:
            more = UNKNOWN
    return tuple(keywords), more if entries.rest is None else entries.rest
