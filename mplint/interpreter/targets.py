"""Assignment: binding names, attributes, items and patterns of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from mplint.interpreter import mappings, namespaces, objects, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, method_of
from mplint.interpreter.configuration import environment
from mplint.interpreter.frames import Frame
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Fields,
    Instance,
    List,
    Place,
    Tuple,
    Value,
    choice,
    options,
)

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
        frame = home_of(frame, name)
    if frame.kind == "module":
        frame.bound[name] = None
    m.bind(frame, name, value)


def home_of(frame: Frame, name: str) -> Frame:
    """The frame that a name which is written in `frame` belongs to."""
    if frame.names is None or name in frame.names:
        return frame
    home = frame.parent
    while home is not None and home.parent is not None and (home.kind == "class" or name not in (home.names or ())):
        home = home.parent
    return home or frame


def _unpack(m: Machine, frame: Frame, elements: Sequence[cst.BaseElement], value: Value) -> None:
    place = m.place(frame, elements[0].value) if elements else None
    if place is None:
        return
    sequence = sequences.iterate(m, value, place, want=len(elements), whole=True)
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
    if len(target.slice) != 1:
        return
    inner = target.slice[0].slice
    place = m.place(frame, target)
    if isinstance(inner, cst.Index):
        index = m.evaluate(frame, inner.value)
        set_item(m, container, index, value, place)
        return
    held = options(container)
    for option in held:
        if not isinstance(option, List):
            continue
        bounds = slice_bounds(m, frame, inner)
        items, fresh = m.items(option), sequences.iterate(m, value, place, whole=True)
        is_long = len(items.items) + len(fresh.items) > sequences.MAX_JOINED
        if len(held) > 1 or is_long:  # or another of them
            bounds = None
        if bounds == slice(None, None, None):
            m.put_items(option.address, fresh)
        elif bounds is None or items.rest is not None or fresh.rest is not None:
            m.put_items(option.address, Tuple((), choice([sequences.anything(items), sequences.anything(fresh)])))
        else:
            changed = list(items.items)
            with suppress(ValueError):  # of another length than an extended slice: the program's own error
                changed[bounds] = fresh.items
            m.put_items(option.address, Tuple(tuple(changed)))


def slice_bounds(m: Machine, frame: Frame, node: cst.BaseSlice) -> slice | None:
    """The slice that a subscript writes; None where its bounds are not known."""
    if not isinstance(node, cst.Slice):
        return None
    parts = (node.lower, node.upper, node.step)
    lower, upper, step = (NONE if part is None else m.evaluate(frame, part) for part in parts)
    return sequences.numbers(lower, upper, step)


def set_item(m: Machine, container: Value, index: Value, value: Value, place: Place) -> None:
    """`container[index] = value`."""
    own = isinstance(container, Instance) and method_of(m, container, "__setitem__") is not None
    match container if own else mappings.view(container):
        case Dict() as held:
            m.put_entries(held.address, sequences.updated(m.entries(held), sequences.entry(index, value)))
        case List() as held:
            items = m.items(held)
            match index:
                case Const(value=int(i)) if -len(items.items) <= i < len(items.items) and items.rest is None:
                    changed = list(items.items)
                    changed[i] = value
                    m.put_items(held.address, Tuple(tuple(changed)))
                case _:
                    m.put_items(held.address, Tuple((), choice([sequences.anything(items), value])))
        case Fields(of=Instance() as of) if mappings.is_of_library(of) and isinstance(index, Const):
            m.set_attribute(of, str(index.value), value, place)
        case Fields() as held:
            namespaces.write(m, held, index, value)
        case environment.ENVIRON:
            environment.write(m, index, value, place)
        case Instance(cls=Class() as cls):
            method = class_attribute(m, cls, "__setitem__")
            if method is not None:
                m.call(Bound(container, method), Arguments((index, value)), place)
            else:
                m.escape(value)
        case Choice(options=found):
            arms = [partial(_put, m, option, index, value, place) for option in found]
            m.alternatives(arms)
        case _:
            m.escape(value)


def _put(m: Machine, container: Value, index: Value, value: Value, place: Place) -> bool:
    set_item(m, container, index, value, place)
    return True


def delete_item(m: Machine, frame: Frame, target: cst.Subscript) -> None:
    """`del container[index]`."""
    container = m.evaluate(frame, target.value)
    if len(target.slice) != 1:
        return
    inner = target.slice[0].slice
    index = m.evaluate(frame, inner.value) if isinstance(inner, cst.Index) else None
    if isinstance(container, Instance):
        method = method_of(m, container, "__delitem__")
        if method is not None:
            m.call(Bound(container, method), Arguments((index or UNKNOWN,)), m.place(frame, target))
            return
        container = mappings.view(container)
    if isinstance(container, Dict) and index is not None:
        m.put_entries(container.address, sequences.without(m.entries(container), index))
    elif isinstance(container, Fields) and index is not None:
        namespaces.delete(m, container, index)
    elif container == environment.ENVIRON and index is not None:
        environment.delete(m, index)
    elif isinstance(container, List):
        items = m.items(container)
        known = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
        bounds = known if index is not None else slice_bounds(m, frame, inner)
        changed = list(items.items)
        if items.rest is None and bounds is not None:
            with suppress(IndexError):  # the program's own error
                del changed[bounds]
            m.put_items(container.address, Tuple(tuple(changed)))
        elif changed or items.rest is not None:
            m.put_items(container.address, Tuple((), sequences.anything(items)))
    elif isinstance(container, Choice):
        for option in container.options:
            if isinstance(option, Dict):
                m.put_entries(option.address, sequences.without(m.entries(option), UNKNOWN))
            elif isinstance(option, List):
                m.put_items(option.address, Tuple((), sequences.anything(m.items(option))))


def unbind(m: Machine, frame: Frame, name: str) -> None:
    """`del name`."""
    m.unbind(home_of(frame, name), name)
