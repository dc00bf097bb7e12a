"""Parameters of functions, classes and methods, in order, with their literal defaults."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from mplint.keras_api.names import canonical
from mplint.keras_api.table import section

ParameterKind = Literal["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"]


class _Default(enum.Enum):
    MISSING = "MISSING"
    OPAQUE = "OPAQUE"

    def __repr__(self) -> str:
        return self.value


MISSING: Final = _Default.MISSING
"""The default of a parameter that must be given."""
OPAQUE: Final = _Default.OPAQUE
"""The default of a parameter whose default is no literal."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature."""

    name: str
    kind: ParameterKind
    default: object = MISSING


@lru_cache(maxsize=16384)
def parameters(path: str, generation: str | None = None) -> tuple[Parameter, ...] | None:
    """The parameters of a function or class (without `self`), or None where they are not known.

    Without a generation: those that both generations have alike, else None; of a name that only one generation has,
    that one's.
    """
    text = _text(canonical(path), generation)
    return None if text is None else _parsed(text)


@lru_cache(maxsize=16384)
def method_parameters(path: str, method: str, generation: str | None = None) -> tuple[Parameter, ...] | None:
    """The same for a method of a class, without `self`."""
    found = {_method_text(canonical(path), method, each) for each in _asked(canonical(path), generation)}
    text = found.pop() if len(found) == 1 else None
    return None if text is None else _parsed(text)


def methods(path: str, generation: str) -> frozenset[str] | None:
    """Which of the methods that matter a class has; None for what is no class of Keras, or not in that generation."""
    found = canonical(path)
    entry = _entry(found)
    if entry is None or generation not in entry[1]:
        return None
    own = section("methods", "methods").get(found, {}).get(generation, {})
    base = _BASES.get(entry[0])
    if base is None and not own:
        return None
    inherited = section("methods", "methods").get(base, {}).get(generation, {}) if base != found else {}
    return frozenset(name for name in {**inherited, **own} if own.get(name, "") is not None)


def _entry(path: str) -> list[str] | None:
    found: list[str] | None = section("names", "names").get(path)
    return found


def _asked(path: str, generation: str | None) -> tuple[str, ...]:
    if generation is not None:
        return (generation,)
    entry = _entry(path)
    return tuple(entry[1]) if entry is not None else ()


def _text(path: str, generation: str | None) -> str | None:
    entry = _entry(path)
    if entry is None:
        dead = section("dead_names", "names").get(path)
        return None if dead is None else dead.get("parameters")
    if generation is not None and generation not in entry[1]:
        return None
    if len(entry) == 3:
        return entry[2]
    if generation is None:
        return None
    return entry[2] if generation == "2" else entry[3]


_BASES = {
    "layer": "keras.Layer",
    "cell": "keras.Layer",
    "wrapper": "keras.Layer",
    "model": "keras.Model",
    "optimizer": "keras.Optimizer",
    "loss": "keras.Loss",
    "metric": "keras.Metric",
}


def _method_text(path: str, method: str, generation: str) -> str | None:
    entry = _entry(path)
    if entry is None or generation not in entry[1]:
        return None
    own = section("methods", "methods").get(path, {}).get(generation, {})
    if method in own:
        text: str | None = own[method]
        return text
    base = _BASES.get(entry[0])
    if base is None or base == path:
        return None
    inherited: str | None = section("methods", "methods").get(base, {}).get(generation, {}).get(method)
    return inherited


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[Parameter, ...]:
    """Parameters from their text in the table, which is the parameter list of a lambda."""
    tree = ast.parse(f"lambda {text}: 0", mode="eval").body
    assert isinstance(tree, ast.Lambda)
    arguments = tree.args
    found: list[Parameter] = []
    ordered = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(ordered) - len(arguments.defaults)), *arguments.defaults]
    for position, (argument, default) in enumerate(zip(ordered, defaults, strict=True)):
        kind: ParameterKind = "positional_only" if position < len(arguments.posonlyargs) else "positional_or_keyword"
        found.append(Parameter(argument.arg, kind, _default(default)))
    if arguments.vararg is not None:
        found.append(Parameter(arguments.vararg.arg, "var_positional"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(Parameter(argument.arg, "keyword_only", _default(default)))
    if arguments.kwarg is not None:
        found.append(Parameter(arguments.kwarg.arg, "var_keyword"))
    return tuple(found)


def _default(node: ast.expr | None) -> object:
    if node is None:
        return MISSING
    value: object = ast.literal_eval(node)
    return OPAQUE if value is Ellipsis else value
