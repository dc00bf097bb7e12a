"""Binding the arguments of a call to the parameters that the library declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint import keras_api
from mplint.interpreter.values import Tuple, Value

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine


def bind(m: Machine, path: str, arguments: Arguments) -> dict[str, Value]:
    """The arguments of a library call by parameter name, as the signature orders them."""
    found: dict[str, Value] = {}
    signature = keras_api.parameters(path, m.generation)
    names = [p.name for p in signature if p.kind.startswith("positional")] if signature is not None else []
    found.update(zip(names, arguments.args, strict=False))
    rest = next((p.name for p in signature or () if p.kind == "var_positional"), None)
    if rest is not None and len(arguments.args) > len(names):
        found[f"*{rest}"] = Tuple(arguments.args[len(names) :])
    found.update(arguments.keywords)
    return found
