"""What a cell of the state holds where several runs of code meet: branches, passes of a loop, parts of a run."""

from __future__ import annotations

from types import NoneType

from mplint.interpreter.values import (
    ABSENT,
    UNKNOWN,
    Const,
    Entries,
    Maybe,
    Policy,
    Tuple,
    Undecided,
    Value,
    choice,
    options,
)


def merge_contents(contents: list[object]) -> object:
    """What a cell holds when any of `contents` may be there."""
    values = [content for content in contents if isinstance(content, Value)]
    if len(values) == len(contents):
        if all(isinstance(value, Policy) for value in values):
            return Policy(None)
        if all(isinstance(value, Tuple) for value in values):
            return merge_items([value for value in values if isinstance(value, Tuple)])
        return either(values)
    entries = [content for content in contents if isinstance(content, Entries)]
    if len(entries) == len(contents):
        return merge_entries(entries)
    return contents[0]


def either(contents: list[Value]) -> Value:
    """One of several contents of a cell, in some of which it may be empty."""
    if not any(type(content) is Maybe for content in contents):
        return choice(contents)
    values = [content.value if isinstance(content, Maybe) else content for content in contents]
    return Maybe(choice([value for value in values if value is not None])) if any(values) else ABSENT


def merge_items(alternatives: list[Tuple]) -> Tuple:
    """One sequence for several: position by position while they are of one length, else the common start and a rest."""
    length = min(len(items.items) for items in alternatives)
    if all(items.rest is None and len(items.items) == length for items in alternatives):
        return Tuple(tuple(choice([items.items[i] for items in alternatives]) for i in range(length)))
    head: list[Value] = []
    for i in range(length):
        if any(items.items[i] != alternatives[0].items[i] for items in alternatives):
            break
        head.append(alternatives[0].items[i])
    rest = [
        value for items in alternatives for value in (*items.items[len(head) :], *([items.rest] if items.rest else []))
    ]
    return Tuple(tuple(head), choice(rest) if rest else None)


def merge_entries(alternatives: list[Entries]) -> Entries:
    """One dict for several: the keys of all of them."""
    keys: dict[Value, list[Value]] = {}
    rests = [entries.rest for entries in alternatives if entries.rest is not None]
    for entries in alternatives:
        for key, value in entries.pairs:
            keys.setdefault(key, []).append(value)
    optional = frozenset(key for key, values in keys.items() if len(values) < len(alternatives))
    for entries in alternatives if optional else ():
        if entries.rest is not None:  # what stands under an unknown key may stand under this one
            for key in optional.difference(key for key, _ in entries.pairs):
                keys[key].append(entries.rest)
    optional = optional.union(*(entries.optional for entries in alternatives))
    order = _order([[key for key, _ in entries.pairs] for entries in alternatives])
    shuffled = order is None or any(entries.shuffled for entries in alternatives)
    pairs = tuple((key, choice(keys[key])) for key in order or keys)
    return Entries(pairs, choice(rests) if rests else None, optional, shuffled)


def _order(alternatives: list[list[Value]]) -> list[Value] | None:
    """An order of all keys in which those of each alternative stand as they do there; None where there is none."""
    order = list(alternatives[0])
    for keys in alternatives[1:]:
        if keys == order:
            continue
        known = set(order)
        position = 0
        for key in keys:
            if key in known:
                if key not in order[position:]:
                    return None
                position = order.index(key, position)
            else:
                order.insert(position, key)
            position += 1
    return order


def loosened(before: object, after: object) -> object:
    """What a cell holds after an unknown number of changes, the first of which made `after` of `before`."""
    if isinstance(before, Tuple) and isinstance(after, Tuple):
        head = 0
        for left, right in zip(before.items, after.items, strict=False):
            if left != right:
                break
            head += 1
        others = [*before.items[head:], *after.items[head:], *(t.rest for t in (before, after) if t.rest is not None)]
        return Tuple(before.items[:head], choice(others) if others else None)
    if isinstance(before, Entries) and isinstance(after, Entries):
        merged = merge_entries([before, after])
        held, found = dict(before.pairs), dict(after.pairs)
        pairs = tuple(
            (key, _inexact(held[key], value) if key in held and key in found and held[key] != found[key] else value)
            for key, value in merged.pairs
        )
        return Entries(pairs, merged.rest, merged.optional, merged.shuffled)
    if isinstance(after, Undecided):
        return Undecided.of((before, after), None)
    if isinstance(before, Value) and isinstance(after, Value):
        return _inexact(before, either([before, after]))
    return after


def _inexact(before: Value, value: Value) -> Value:
    """One of several values of a variable that goes on changing: numbers and texts may become others."""
    held = value.value if isinstance(value, Maybe) else value
    for option in options(held) if held is not None else ():
        if isinstance(option, Const) and option != before and not isinstance(option.value, (bool, NoneType)):
            return Maybe(UNKNOWN) if isinstance(value, Maybe) else UNKNOWN
    return value
