"""Assignment: binding names, attributes, items and patterns of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from mplint.interpreter import objects, sequences
from mplint.interpreter.frames import Frame
from mplint.interpreter.values import UNKNOWN, Const, Dict, Entries, Fields, List, Tuple, Unknown, Value, choice

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def assign(m: Machine, frame: Frame, target: cst.CSTNode, value: Value) -> None:
    """Bind `target` (a name, attribute, item, or a pattern of them) to `value`."""
    if type(target) is cst.Name:
        bind(m, frame, target.value, value)
    elif type(target) is cst.Attribute:
        objects.set_attribute(m, m.evaluate(frame, target.value), target.attr.value, value, m.place(frame, target))
    elif type(target) is cst.Subscript:
        _assign_item(m, frame, target, value)
    elif type(target) is cst.Tuple or type(target) is cst.List:
        _unpack(m, frame, target.elements, value)
    elif type(target) is cst.StarredElement:
        assign(m, frame, target.value, value)


def bind(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """Bind the variable `name`, in the frame that it belongs to."""
    if frame.names is not None and name not in frame.names:
        home = frame.parent
        while home is not None and home.parent is not None and (home.kind == "class" or name not in (home.names or ())):
            home = home.parent
        frame = home or frame
    if frame.kind == "module":
        frame.bound[name] = None
    m.bind(frame, name, value)


def _unpack(m: Machine, frame: Frame, elements: Sequence[cst.BaseElement], value: Value) -> None:
    place = m.place(frame, elements[0].value) if elements else None
    if place is None:
        return
    sequence = sequences.iterate(m, value, place, want=len(elements))
    star = next((i for i, element in enumerate(elements) if isinstance(element, cst.StarredElement)), None)
    for i, element in enumerate(elements):
        if star is None or i < star:
            part = sequences.item(sequence, i)
        elif i == star:
            behind = len(elements) - star - 1
            if sequence.rest is None:
                items = sequence.items[star : len(sequence.items) - behind]
                part = m.new_list(m.place(frame, element), Tuple(items))
            else:
                part = m.new_list(m.place(frame, element), Tuple((), sequences.anything(sequence)))
        else:
            part = sequences.item(sequence, i - len(elements))
        assign(m, frame, element.value, part)


def _assign_item(m: Machine, frame: Frame, target: cst.Subscript, value: Value) -> None:
    container = m.evaluate(frame, target.value)
    if len(target.slice) != 1 or not isinstance(target.slice[0].slice, cst.Index):
        if isinstance(container, List):
            m.put_items(container.address, Tuple((), choice([sequences.anything(m.items(container)), UNKNOWN])))
        return
    index = m.evaluate(frame, target.slice[0].slice.value)
    if isinstance(container, Dict):
        entries = m.entries(container)
        if isinstance(index, Unknown):
            rest = value if entries.rest is None else choice([entries.rest, value])
            m.put_entries(container.address, Entries(entries.pairs, rest))
        else:
            m.put_entries(container.address, sequences.updated(entries, Entries(((index, value),))))
    elif isinstance(container, List):
        items = m.items(container)
        match index:
            case Const(value=int(i)) if -len(items.items) <= i < len(items.items) and items.rest is None:
                changed = list(items.items)
                changed[i] = value
                m.put_items(container.address, Tuple(tuple(changed)))
            case _:
                m.put_items(container.address, Tuple((), choice([sequences.anything(items), value])))
    elif isinstance(container, Fields) and isinstance(index, Const) and isinstance(index.value, str):
        m.put(container.of.address, index.value, value)
    else:
        m.escape(value)
