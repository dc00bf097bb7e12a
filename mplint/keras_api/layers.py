"""What a layer gives: the dtype (or the structure of dtypes) of its result, as measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mplint.keras_api.calls import called_parameters
from mplint.keras_api.names import canonical
from mplint.keras_api.signatures import OPAQUE, parameters
from mplint.keras_api.table import section

Result: TypeAlias = "str | tuple[Result, ...] | Mapping[str, Result]"
"""A dtype name; a tuple for a list or tuple of results; a mapping for a dict of them."""

_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
_INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
_MEASURED_INTEGERS = frozenset({"int32", "int64", "uint8"})
_WRAPPED = frozenset({"layer", "layers", "cell", "cells", "backward_layer"})
_RAISES = "!"
_FORMS = frozenset(
    prefix + policy
    for prefix in ("", "dtype=")
    for policy in ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float32", "float64", "int32", "int64")
)


def layer_output_dtype(
    path: str,
    compute_dtype: str,
    variant: Mapping[str, object],
    input_dtypes: Sequence[str | None],
    generation: str | None = None,
    *,
    symbolic: bool = False,
) -> str | None:
    """The dtype of what the layer returns, where that is one tensor and this combination was measured.

    `compute_dtype` is that of the policy in force (the global one, or the one in `dtype=`). `variant` holds the
    constructor's arguments by parameter name: a constant, or OPAQUE where the value is not known; "dtype" among them
    where the layer is given its own, and those of the call as "call.return_attention_scores". Input dtypes
    that are not known are None.
    With `symbolic`, what a KerasTensor claims while a model is built.
    """
    result = layer_result(path, compute_dtype, variant, input_dtypes, generation, symbolic=symbolic)
    return result if isinstance(result, str) else None


def layer_result(
    path: str,
    compute_dtype: str,
    variant: Mapping[str, object],
    input_dtypes: Sequence[str | None],
    generation: str | None = None,
    *,
    symbolic: bool = False,
) -> Result | None:
    """The same with the structure of the result: `LSTM(return_state=True)` gives a tuple of dtypes."""
    found = canonical(path)
    entry = section("layers", "layers").get(found)
    if entry is None:
        return None
    asked = (generation,) if generation is not None else tuple(section("names", "names")[found][1])
    results = [_in_generation(found, each, compute_dtype, variant, input_dtypes, symbolic) for each in asked]
    return results[0] if all(result == results[0] for result in results) else None


_MERGES = ("add", "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract")


def layer_of_function(path: str) -> str | None:
    """The layer that a function makes and calls: `keras.layers.add` is `keras.layers.Add()`."""
    module, _, name = canonical(path).rpartition(".")
    return f"{module}.{name.capitalize()}" if module == "keras.layers" and name in _MERGES else None


def policy_follows(path: str, generation: str) -> Literal["own", "inner"] | None:
    """Whose policy decides the result of a layer around other layers: its own or that of the layer inside."""
    found: Literal["own", "inner"] | None = _measured(canonical(path), generation).get("wraps")
    return found


def keeps_dtype(path: str, generation: str) -> bool:
    """Whether the layer computes in its own dtype inside a wrapper that runs its code without calling it.

    Keras 3's TimeDistributed does so: a Dense inside it has the wrapper's dtype, whatever its own is, a
    LayerNormalization or LSTM casts by itself.
    """
    return generation == "2" or bool(_measured(canonical(path), generation).get("keeps"))


def decisive_in_call(path: str, generation: str) -> tuple[str, ...]:
    """The arguments of a call of the layer on which the dtype or the structure of its result depends."""
    decisive = _measured(canonical(path), generation).get("decisive", {})
    return tuple(name.removeprefix("call.") for name in decisive if name.startswith("call."))


def layer_carries(path: str, variant: Mapping[str, object], generation: str) -> bool | None:
    """Whether the layer only passes on elements of its input; None where that depends on what is unknown."""
    breaking = _measured(canonical(path), generation).get("carries")
    if breaking is None:
        return False
    for parameter, values in breaking.items():
        if parameter not in variant:
            continue
        value = variant[parameter]
        if value is OPAQUE:
            return None
        if value in values:
            return False
    return True


def layer_joins(path: str, generation: str) -> bool:
    """Whether the layer only puts the elements of its inputs together."""
    return bool(_measured(canonical(path), generation).get("joins", False))


def _measured(path: str, generation: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = section("layers", "layers").get(path, {}).get(generation, {})
    return found


def _in_generation(
    path: str,
    generation: str,
    compute_dtype: str,
    variant: Mapping[str, object],
    input_dtypes: Sequence[str | None],
    symbolic: bool,
) -> Result | None:
    entry = _measured(path, generation)
    if not entry:
        return None
    key = _variant_key(path, generation, entry, variant)
    if key is None or key not in entry["results"]:
        return None
    kinds = entry["results"][key]
    rules = kinds.get("symbolic", kinds["real"]) if symbolic else kinds["real"]
    own = variant.get("dtype") is not None and "wraps" not in entry
    if not input_dtypes or None in input_dtypes:
        outcomes = [_outcome(rule, own, compute_dtype, None) for rule in rules.values()]
        outcomes = [outcome for outcome in outcomes if outcome != _RAISES]
        same = bool(outcomes) and all(outcome == outcomes[0] for outcome in outcomes)
        return outcomes[0] if same else None
    rule = _rule_for(rules, [dtype for dtype in input_dtypes if dtype is not None])
    outcome = None if rule is None else _outcome(rule, own, compute_dtype, input_dtypes[0])
    return None if outcome == _RAISES else outcome


def _variant_key(path: str, generation: str, entry: Mapping[str, object], variant: Mapping[str, object]) -> str | None:
    """The measured variant that these arguments select; None where one of them was not measured."""
    decisive = entry.get("decisive", {})
    free = str(entry["free"]).split(" ")
    assert isinstance(decisive, dict)
    defaults = {each.name: each.default for each in parameters(path, generation) or ()}
    chosen: dict[str, object] = {}
    for name, value in variant.items():
        if name == "dtype" or name in _WRAPPED:
            continue
        if value is not OPAQUE and name in defaults and _same(defaults[name], value):
            continue
        if name in free:
            if value is OPAQUE and name in called_parameters(path):
                return None
            continue
        if name not in decisive or not any(_same(each, value) for each in decisive[name]):
            return None
        chosen[name] = value
    return "" if not chosen else json.dumps(chosen, sort_keys=True, separators=(",", ":"))


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _rule_for(rules: Mapping[str, object], dtypes: Sequence[str]) -> object | None:
    different = sorted(set(dtypes))
    if len(different) == 1:
        dtype = different[0]
        if dtype in _FLOATS:
            return rules.get(dtype, rules.get("float"))
        if dtype in _INTEGERS:
            return rules.get(dtype, rules.get("int") if dtype in _MEASURED_INTEGERS else None)
        return rules.get(dtype)
    kinds = {"float" if dtype in _FLOATS else "int" if dtype in _INTEGERS else dtype for dtype in different}
    if kinds == {"float"}:
        rule = rules.get("float,float", rules.get("float"))
        return None if rule == "i" else rule
    return rules.get(
        ",".join(sorted(kinds, key=("float", "int", "bool").index)) if kinds <= {"float", "int", "bool"} else ""
    )


def _outcome(rule: object, own: bool, compute_dtype: str, input_dtype: str | None) -> Result | None:
    """What a rule of the table says of one point."""
    if not isinstance(rule, dict) or "=" in rule:
        return _value(rule, compute_dtype, input_dtype)
    prefix = "dtype=" if own else ""
    forms = (f"{prefix}{compute_dtype}", f"{prefix}mixed_{compute_dtype}")
    if "at" in rule:
        # The points of the pure and of the mixed policy that compute in this dtype; where both work they must agree.
        found = [rule["at"][form] for form in forms if form in rule["at"]]
        found = [result for result in found if result != _RAISES] or found[:1]
        same = bool(found) and all(result == found[0] for result in found)
        return _value(found[0], compute_dtype, input_dtype) if same else None
    if all(form in rule.get("raises", ()) for form in forms if form in _FORMS):
        return _RAISES
    expression = rule["all"] if "all" in rule else rule["own" if own else "global"]
    return _value(expression, compute_dtype, input_dtype)


def _value(expression: object, compute_dtype: str, input_dtype: str | None) -> Result | None:
    if isinstance(expression, str):
        if expression == "w":
            return None if input_dtype is None else _wider(compute_dtype, input_dtype)
        return compute_dtype if expression == "c" else input_dtype if expression == "i" else expression
    if isinstance(expression, list):
        parts = [_value(part, compute_dtype, input_dtype) for part in expression]
        return None if None in parts else tuple(part for part in parts if part is not None)
    assert isinstance(expression, dict)
    named = {key: _value(part, compute_dtype, input_dtype) for key, part in expression["="].items()}
    return None if None in named.values() else {key: part for key, part in named.items() if part is not None}


def _wider(one: str, other: str) -> str:
    if one == other or other not in _FLOATS:
        return one
    if one not in _FLOATS:
        return other
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    return max(one, other, key=("float16", "bfloat16", "float32", "float64").index)
