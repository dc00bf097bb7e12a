"""Signatures as text: the parameter list of a Python lambda, with `...` for defaults that are no literals."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any


def literal(value: object) -> str:
    """Python source for a literal; `...` for anything else."""
    if isinstance(value, float) and not math.isfinite(value):
        return "..." if math.isnan(value) else ("1e999" if value > 0 else "-1e999")
    if value is None or type(value) in (bool, int, float, str, bytes):
        return repr(value)
    if type(value) in (tuple, list, dict):
        text = repr(value)
        try:
            same = ast.literal_eval(text) == value
        except (ValueError, SyntaxError):
            return "..."
        return text if same else "..."
    return "..."


def parameters_of(target: Any, *, bound: bool = False) -> str | None:
    """The parameters of a function or class, without `self`; None where Python knows no signature."""
    try:
        signature = inspect.signature(target.__init__ if inspect.isclass(target) else target)
    except (ValueError, TypeError):
        return None
    parameters = list(signature.parameters.values())
    if (inspect.isclass(target) or bound) and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    return _text(parameters)


def _text(parameters: list[inspect.Parameter]) -> str:
    parts: list[str] = []
    positional_only = starred = False
    for parameter in parameters:
        if positional_only and parameter.kind is not inspect.Parameter.POSITIONAL_ONLY:
            parts.append("/")
        positional_only = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            starred = True
            parts.append("*" + parameter.name)
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            parts.append("**" + parameter.name)
        elif parameter.default is inspect.Parameter.empty:
            parts.append(parameter.name)
        else:
            parts.append(f"{parameter.name}={literal(parameter.default)}")
    if positional_only:
        parts.append("/")
    return ", ".join(parts)
