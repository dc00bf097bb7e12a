"""Turns measured points of layers into rules, each checked against every point it stands for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

RAISES = "!"
INPUT = "i"
COMPUTED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int32", "int64", "uint8")


def wider(one: str, other: str) -> str:
    """The float dtype that holds both."""
    if one == other or other not in FLOATS:
        return one
    if one not in FLOATS:
        return other
    return "float32" if {one, other} == {"float16", "bfloat16"} else max(one, other, key=FLOATS.index)


LEAVES: dict[str, Callable[[str, str], str]] = {
    "c": lambda given, compute: compute,
    INPUT: lambda given, compute: given,
}
"""Expressions: the compute dtype, the input's dtype."""
WIDER = "w"


def compute_dtype(form: str) -> str:
    """The compute dtype of a form of `layers.Form.key`."""
    name = form.removeprefix("dtype=")
    return COMPUTED.get(name, name)


def layer_entry(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """One layer of one generation, as the table holds it; None where it could not be called at all."""
    if "raises" in found:
        return None
    entry: dict[str, Any] = {"free": " ".join(found["free"]), "results": {}}
    if found["decisive"]:
        entry["decisive"] = found["decisive"]
    for variant, points in found["points"]:
        real = _rules((form, dtypes, traced) for form, dtypes, traced, _ in points)
        symbolic = _rules((form, dtypes, result) for form, dtypes, _, result in points if result is not None)
        if set(map(str, real.values())) <= {RAISES}:
            continue
        rules = {"real": real}
        if not _covers(real, points):
            rules["symbolic"] = symbolic
        entry["results"][variant_key(variant)] = rules
    if found["carries"]:
        entry["carries"] = found["breaking"]
    if found["joins"]:
        entry["joins"] = True
    if found["wraps"] in ("own", "inner"):
        entry["wraps"] = found["wraps"]
    if found["keeps"]:
        entry["keeps"] = True
    return entry


def _covers(real: Mapping[str, Any], points: Iterable[Any]) -> bool:
    """Whether what Keras says while a model is built is what it does."""
    return bool(real) and all(symbolic in (None, traced, RAISES) for _, _, traced, symbolic in points)


def variant_key(variant: Mapping[str, Any]) -> str:
    """The arguments that decide, as a key."""
    return "" if not variant else json.dumps(variant, sort_keys=True, separators=(",", ":"))


def _rules(points: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """Kind of input -> rule.

    A rule is an expression, or {"all" | "global" | "own": expression, "raises": [forms]}, or {"at": {form: result}}.
    """
    by_input: dict[str, dict[str, Any]] = {}
    for form, dtypes, result in points:
        by_input.setdefault(dtypes, {})[form] = result
    rules: dict[str, Any] = {}
    _group(rules, "float", FLOATS, by_input)
    _group(rules, "int", INTEGERS, by_input)
    for key in ("bool", "string"):
        _group(rules, key, (key,), by_input)
    for key, orders in (
        ("float,float", ("float16,float32",)),
        ("float,int", ("float32,int32", "int32,float32")),
        ("float,bool", ("float32,bool", "bool,float32")),
    ):
        together: list[tuple[str, Mapping[str, Any]]] = [
            (order.split(",")[0], by_input[order]) for order in orders if order in by_input
        ]
        rule = _rule(together) if together else None
        if rule is not None and rule != INPUT and not (key == "float,float" and rule == rules.get("float")):
            rules[key] = rule
    return rules


def _group(rules: dict[str, Any], key: str, dtypes: Iterable[str], by_input: Mapping[str, Mapping[str, Any]]) -> None:
    """One rule for a kind of input where one fits all its dtypes, else a rule for each."""
    measured: list[tuple[str, Mapping[str, Any]]] = []
    for dtype in dtypes:
        spellings = (dtype, f"{dtype},{dtype}")
        measured += [(dtype, by_input[spelled]) for spelled in spellings if spelled in by_input]
    if not measured:
        return
    together = _rule(measured)
    if together is not None and not (isinstance(together, dict) and "at" in together):
        rules[key] = together
        return
    for dtype, forms in measured:
        rule = _rule([(dtype, forms)])
        if rule is not None:
            rules[dtype] = rule


def _rule(measured: list[tuple[str, Mapping[str, Any]]]) -> Any:
    """The rule that gives every one of these points; None where some point is not known."""
    points = [(given, form, result) for given, forms in measured for form, result in forms.items()]
    if any(result is None for _, _, result in points):
        return None
    raising = sorted({form for _, form, result in points if result == RAISES})
    working = [(given, form, result) for given, form, result in points if result != RAISES]
    if not working:
        return RAISES
    if any(form in raising for _, form, _ in working):
        return {"at": dict(measured[0][1])} if len(measured) == 1 else None
    everywhere = _expression(working)
    if everywhere is not None:
        return everywhere if not raising else {"all": everywhere, "raises": raising}
    parts = {
        name: _expression([point for point in working if point[1].startswith("dtype=") is own])
        for name, own in (("global", False), ("own", True))
    }
    if None not in parts.values():
        return parts | ({"raises": raising} if raising else {})
    return {"at": dict(measured[0][1])} if len(measured) == 1 else None


def _expression(points: list[tuple[str, str, Any]]) -> Any:
    """An expression for (input dtype, form, result) points, within the results' structure; None where none fits."""
    results = [result for _, _, result in points]
    if not results:
        return RAISES
    if all(isinstance(result, str) for result in results):
        for name, rule in LEAVES.items():
            if all(rule(given, compute_dtype(form)) == result for given, form, result in points):
                return name
        if all(result == results[0] for result in results):
            return results[0]
        return WIDER if all(wider(given, compute_dtype(form)) == result for given, form, result in points) else None
    if all(isinstance(result, list) and len(result) == len(results[0]) for result in results):
        places = range(len(results[0]))
        parts = [_expression([(given, form, result[place]) for given, form, result in points]) for place in places]
        return None if None in parts else parts
    if all(isinstance(result, dict) and result.keys() == results[0].keys() for result in results):
        keys = results[0]
        named = {key: _expression([(given, form, result[key]) for given, form, result in points]) for key in keys}
        return None if None in named.values() else {"=": named}
    return None
