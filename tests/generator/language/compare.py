"""What an abstract value claims, against the object that CPython has."""

from __future__ import annotations

import enum
import functools
import importlib
import math
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mplint.interpreter.frames import Frame
from mplint.interpreter.machine import Machine
from mplint.interpreter.values import (
    Address,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Fields,
    Function,
    Instance,
    List,
    Module,
    Partial,
    Range,
    Tuple,
    Unknown,
    Value,
)

_MISSING = object()


@dataclass
class Comparison:
    """A walk over a value and what it claims to be."""

    machine: Machine
    known: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)
    _seen: dict[tuple[int, Value], object] = field(default_factory=dict)
    """What was looked at, or is being: an object stays alive, so that no other has its identity."""

    def check(self, real: object, said: Value, path: str) -> None:
        """Note where `said` is not true of `real`."""
        if isinstance(said, Unknown):
            self.unknown += 1
            return
        key = (id(real), said)
        if key in self._seen:
            return
        self._seen[key] = real
        match said:
            case Choice():
                self._one_of(real, said, path)
            case Const():
                self._claim(_same(real, said.value), real, said.value, path)
            case Tuple():
                if self._claim(isinstance(real, tuple), real, "a tuple", path):
                    self._sequence(list(real), said, path)  # type: ignore[call-overload]
            case List():
                self._list(real, said, path)
            case Dict():
                if self._claim(
                    isinstance(real, (dict, types.MappingProxyType)) or hasattr(real, "keys"), real, "a dict", path
                ):
                    self._entries(real, said, path)
            case Range():
                self._claim(real == range(said.start, said.stop, said.step), real, said, path)
            case Instance(cls=Class() as cls):
                if self._claim(type(real).__name__ == cls.code.name, real, f"a {cls.code.name}", path):
                    self._fields(real, said, path)
            case Class():
                if self._claim(isinstance(real, type) and real.__name__ == said.code.name, real, said, path):
                    self._namespace(real, said, path)  # type: ignore[arg-type]
            case Function():
                self._claim(_is_function(real, said), real, said, path)
            case Bound(receiver=receiver, callee=Function() as callee):
                if self._claim(isinstance(real, types.MethodType), real, "a method", path):
                    self.check(real.__func__, callee, path)  # type: ignore[attr-defined]
                    self.check(real.__self__, receiver, f"{path}.__self__")  # type: ignore[attr-defined]
            case Bound(callee=ApiMethod()):  # whatever there is under that name
                self.unknown += 1
            case Partial() if isinstance(real, functools.partial):
                self.check(real.func, said.callee, f"{path}.func")
                self._sequence(list(real.args), Tuple(said.args), f"{path}.args")
                self._claim(sorted(real.keywords) == sorted(name for name, _ in said.keywords), real, said, path)
            case Api():
                self._api(real, said, path)
            case Module(frame=frame):
                self._claim(isinstance(real, types.ModuleType), real, frame, path)
            case Fields(of=Frame()):
                self.unknown += not self._claim(isinstance(real, dict), real, "a dict", path)
            case Fields(of=Instance() as of):
                if self._claim(isinstance(real, dict), real, "a dict", path):
                    self._attributes(real, of.address, path)  # type: ignore[arg-type]
            case _:
                self.unknown += 1

    def _claim(self, holds: bool, real: object, said: object, path: str) -> bool:
        if holds:
            self.known += 1
        else:
            self.wrong.append(f"{path} is {_short(real)}, not {_short(said)}")
        return holds

    def _one_of(self, real: object, said: Choice, path: str) -> None:
        attempts = []
        for option in said.options:
            attempt = Comparison(self.machine, _seen=dict(self._seen))
            attempt.check(real, option, path)
            if not attempt.wrong:
                self.unknown += 1
                return
            attempts.append(attempt.wrong[0])
        self.wrong.append(" and ".join(attempts))

    def _list(self, real: object, said: List, path: str) -> None:
        items = self.machine.items(said)
        if said.kind == "set":
            if self._claim(isinstance(real, (set, frozenset)), real, "a set", path):
                self._set(real, items, path)  # type: ignore[arg-type]
        elif said.kind == "iterator":
            if self._claim(isinstance(real, Iterator), real, f"a {said.kind}", path):
                self._sequence(list(real), items, path)  # type: ignore[call-overload]
        elif said.kind == "list":
            if self._claim(isinstance(real, list) or hasattr(real, "maxlen"), real, "a list", path):
                self._sequence(list(real), items, path)  # type: ignore[call-overload]
        elif self._claim(isinstance(real, Iterable), real, f"a {said.kind}", path):
            self._sequence(list(real), items, path)  # type: ignore[call-overload]

    def _sequence(self, real: list[object], said: Tuple, path: str) -> None:
        if len(real) < len(said.items) or (said.rest is None and len(real) != len(said.items)):
            self.wrong.append(f"{path} has {len(real)} elements, not {len(said.items)}: {_short(real)}")
            return
        for position, item in enumerate(real):
            if position < len(said.items):
                self.check(item, said.items[position], f"{path}[{position}]")
            elif said.rest is not None:
                self._behind(item, said.rest, f"{path}[{position}]")
        self.unknown += said.rest is not None

    def _behind(self, real: object, said: Value, path: str) -> None:
        """An element among an unknown number of others, which are one thing that is not known."""
        attempt = Comparison(self.machine, _seen=self._seen)
        attempt.check(real, said, path)
        self.wrong += attempt.wrong

    def _set(self, real: Iterable[object], said: Tuple, path: str) -> None:
        held = list(real)
        for item in said.items:
            if isinstance(item, Const):
                self._claim(
                    any(_same(one, item.value) for one in held) or item.value in held,
                    real,
                    f"with {item.value!r}",
                    path,
                )
        constants = [item.value for item in said.items if isinstance(item, Const)]
        if said.rest is None and len(constants) == len(said.items):
            self._claim(len(held) == len(constants), real, constants, path)
        self.unknown += said.rest is not None

    def _entries(self, real: object, said: Dict, path: str) -> None:
        entries = self.machine.entries(said)
        there_is: dict[object, object] = dict(real)  # type: ignore[call-overload]
        left = dict(there_is)
        certain = 0
        for key, value in entries.pairs:
            if not isinstance(key, Const):
                self.unknown += 1
                continue
            certain += 1
            there = key.value in there_is
            optional = key in entries.optional
            if there:
                self.check(left.pop(key.value, there_is[key.value]), value, f"{path}[{key.value!r}]")
            elif not optional:
                self.wrong.append(f"{path} has no key {key.value!r}")
        if entries.rest is None and certain == len(entries.pairs):
            self._claim(not left, real, f"without {list(left)}", path)
            said_keys = [key.value for key, _ in entries.pairs if isinstance(key, Const) and key.value in there_is]
            if not entries.optional and not entries.shuffled:
                self._claim(said_keys == list(there_is), list(there_is), said_keys, f"keys of {path}")
        else:
            self.unknown += 1
            for key_, held in left.items():
                if entries.rest is not None:
                    self._behind(held, entries.rest, f"{path}[{key_!r}]")

    def _fields(self, real: object, said: Instance, path: str) -> None:
        held = getattr(real, "__dict__", None)
        if isinstance(held, dict) and not isinstance(real, type):
            self._attributes(held, said.address, path)

    def _attributes(self, held: Mapping[str, object], owner: Address | Frame, path: str) -> None:
        machine = self.machine
        for name, value in machine.fields(owner).items():
            if name in held:
                self.check(held[name], value, f"{path}.{name}")
            elif self._is_certain(owner, name) and name not in ("name", "value"):  # those two of an enum's member
                self.wrong.append(f"{path} has no attribute {name}, not {_short(value)}")

    def _is_certain(self, owner: Address | Frame, name: str) -> bool:
        machine = self.machine
        there = machine.is_bound(owner, name) if isinstance(owner, Frame) else machine.has_field(owner, name)
        return there is True

    def _namespace(self, real: type, said: Class, path: str) -> None:
        if issubclass(real, (enum.Enum, tuple)):
            return
        for name, value in self.machine.fields(said.frame).items():
            if name.startswith("__") or _is_callable(value):
                continue
            there = vars(real).get(name, _MISSING)
            if there is _MISSING:
                if self._is_certain(said.frame, name) and not isinstance(value, Partial):
                    self.wrong.append(f"{path} has no attribute {name}, not {_short(value)}")
            elif not isinstance(there, (types.MemberDescriptorType, property, classmethod, staticmethod)):
                self.check(there, value, f"{path}.{name}")

    def _api(self, real: object, said: Api, path: str) -> None:
        module, _, name = said.path.rpartition(".")
        try:
            known = getattr(importlib.import_module(module), name) if module else importlib.import_module(name)
        except (ImportError, AttributeError):
            self.unknown += 1
            return
        self._claim(real is known or real == known or getattr(real, "__name__", None) == name, real, said.path, path)


def _same(real: object, said: object) -> bool:
    if type(real) is not type(said):
        return False
    if isinstance(real, float) and isinstance(said, float) and math.isnan(real):
        return math.isnan(said)
    return real == said


def _is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Partial)) or type(value).__name__ in ("Property", "StaticMethod", "ClassMethod")


def _is_function(real: object, said: Function) -> bool:
    """Whether `real`, or what it wraps, was written where `said` stands."""
    code = said.code
    decorators = getattr(code.node, "decorators", ())
    rows = {code.source.position(code.source.span(node).start)[0] for node in (code.node, *decorators)}
    while real is not None:
        if isinstance(real, types.MethodType):
            real = real.__func__
        if isinstance(real, types.FunctionType) and real.__code__.co_firstlineno in rows:
            return True
        real = getattr(real, "__wrapped__", None)
    return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
