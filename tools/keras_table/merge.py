"""Makes one table of names out of the two generations: aliases, kinds, parameters, source paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from keras_table.function_rules import Matrices, function_entries
from keras_table.kinds import ATOMS, CODES
from keras_table.layer_rules import layer_entry

Names = Mapping[str, Mapping[str, Any]]

KIND_ORDER = ("policy_setter", "policy_getter", "loss", "metric", "activation", "function")
"""An object that several modules show has the kind of the first that fits."""
NAMESPACES = ("activations", "losses", "metrics", "initializers", "regularizers", "optimizers", "layers", "models")


def files_of(second: Mapping[str, Any], third: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The files of the table, from what the process for Keras 2 and the one for Keras 3 measured."""
    table = merged(*({name["path"]: name for name in found["names"]} for found in (second, third)))
    matrices = Matrices()
    functions = function_entries(
        *(_by_canonical(found["functions"], table) for found in (second, third)), matrices=matrices
    )
    return {
        "names.json": {
            "versions": {**second["versions"], **third["versions"]},
            **{key: table[key] for key in ("aliases", "different_in_v1", "names", "spelled")},
        },
        "sources.json": {"sources": table["sources"]},
        "methods.json": {"methods": table["methods"]},
        "layers.json": {"layers": _layers(second["layers"], third["layers"], table)},
        "operations.json": {
            "atoms": list(ATOMS),
            "letters": CODES,
            "functions": functions,
            "matrices": matrices.by_name,
        },
        "activations.json": {"activations": _activations(second["activations"], third["activations"], table)},
        "policies.json": _policies(second["policies"], third["policies"], table),
    }


def _policies(second: Mapping[str, Any], third: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Name of a policy, or canonical path of a layer -> generation -> what was measured."""
    sections: dict[str, Any] = {}
    for section in ("names", "variables", "own"):
        found = sections[section] = defaultdict(dict)
        for generation, measured in (("2", second), ("3", third)):
            for key, value in measured[section].items():
                found[key if section == "names" else _canonical(key, table)][generation] = value
    return sections


def _by_canonical(found: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    return {_canonical(path, table): value for path, value in found.items()}


def _canonical(path: str, table: Mapping[str, Any]) -> str:
    alias = table["aliases"].get(path)
    return path if alias is None else str(alias.split(" ")[1])


def _activations(second: Mapping[str, str], third: Mapping[str, str], table: Mapping[str, Any]) -> dict[str, str]:
    """String or canonical path -> name; what is one in one generation and another in the other is none."""
    found: dict[str, set[str]] = defaultdict(set)
    for measured in (second, third):
        for path, name in measured.items():
            found[_canonical(path, table)].add(_canonical(f"keras.activations.{name}", table).rpartition(".")[2])
    return {path: names.pop() for path, names in found.items() if len(names) == 1}


def _layers(second: Mapping[str, Any], third: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Canonical path -> generation -> entry."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for generation, layers in (("2", second), ("3", third)):
        for path, measured in layers.items():
            entry = layer_entry(measured)
            if entry is not None:
                found[_canonical(path, table)][generation] = entry
    return found


def merged(second: Names, third: Names) -> dict[str, Any]:
    """`second` and `third` map paths to what `names.measure` found in Keras 2 and in Keras 3."""
    generations = {"2": second, "3": third}
    groups = _groups(generations)
    canonical: dict[str, str] = {}
    for group in groups:
        best = min(group, key=lambda path: _preference(path, generations))
        for path in group:
            canonical[path] = best
    entries: dict[str, Any] = {}
    aliases: dict[str, str] = {}
    spelled: dict[str, str] = {}
    methods: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for group in groups:
        best = canonical[group[0]]
        if best.startswith("tensorflow.compat.v1.") and not _kept_from_v1(best):
            continue
        entries[best] = _entry(group, generations)
        living = _living(best, generations)
        if living != entries[best][1]:
            spelled[best] = living
        for path in group:
            if path != best and not _same_by_rule(path, canonical):
                aliases[path] = f"{_living(path, generations)} {best}"
        for generation, names in generations.items():
            for path in group:
                found = names.get(path, {}).get("methods")
                if found:
                    methods[best][generation] = found
    return {
        "names": entries,
        "aliases": aliases,
        "spelled": spelled,
        "different_in_v1": _different_in_v1(generations, canonical),
        "sources": _sources(generations, canonical, entries),
        "methods": _own_methods(methods, entries),
    }


def _living(path: str, generations: Mapping[str, Names]) -> str:
    return "".join(generation for generation, names in generations.items() if path in names)


def _groups(generations: Mapping[str, Names]) -> list[list[str]]:
    """Paths of one object; never two paths that are different objects in a generation that has both."""
    parent: dict[str, str] = {}

    def root(path: str) -> str:
        while parent.setdefault(path, path) != path:
            path = parent[path]
        return path

    members: dict[str, set[str]] = {}

    def join(one: str, other: str) -> None:
        left, right = root(one), root(other)
        if left == right:
            return
        both = members.get(left, {left}) | members.get(right, {right})
        for names in generations.values():
            if len({names[path]["thing"] for path in both if path in names}) > 1:
                return
        parent[right] = left
        members[left] = both

    for names in generations.values():
        same: dict[int, list[str]] = defaultdict(list)
        for path, name in names.items():
            root(path)
            if path in ("keras", "tensorflow"):
                continue
            if name["kind"] == "dtype" or name["kind"] == "module" or name["called"]:
                same[name["thing"]].append(path)
        for paths in same.values():
            ordered = sorted(paths, key=lambda path: _preference(path, generations))
            for path in ordered[1:]:
                join(ordered[0], path)
    groups: dict[str, list[str]] = defaultdict(list)
    for path in sorted(parent):
        groups[root(path)].append(path)
    return sorted(groups.values())


def _preference(path: str, generations: Mapping[str, Names]) -> tuple[Any, ...]:
    found = [names[path] for names in generations.values() if path in names]
    called = {name["called"] for name in found}
    exported = [name["exported"][0] for name in found if name["exported"]]
    parts = path.split(".")
    namespace = NAMESPACES.index(parts[1]) if len(parts) > 2 and parts[1] in NAMESPACES else len(NAMESPACES)
    return (
        path.startswith("tensorflow.compat."),
        not path.startswith("keras."),
        path not in exported,
        parts[-1] not in called,
        "legacy" in parts or "experimental" in parts,
        len(parts),
        namespace,
        path,
    )


def _kept_from_v1(path: str) -> bool:
    return path.startswith(
        ("tensorflow.compat.v1.mixed_precision.", "tensorflow.compat.v1.train.", "tensorflow.compat.v1.layers.")
    )


def _same_by_rule(path: str, canonical: Mapping[str, str]) -> bool:
    """A path of compat.v1 whose namesake of v2 is the same object is not listed: the face knows this rule."""
    prefix = "tensorflow.compat.v1."
    if not path.startswith(prefix):
        return False
    return canonical.get("tensorflow." + path[len(prefix) :]) == canonical[path]


def _different_in_v1(generations: Mapping[str, Names], canonical: Mapping[str, str]) -> list[str]:
    """Names of compat.v1 that are other objects than their namesakes."""
    prefix = "tensorflow.compat.v1."
    found = set()
    for names in generations.values():
        for path in names:
            if path.startswith(prefix):
                namesake = "tensorflow." + path[len(prefix) :]
                if namesake in canonical and canonical[namesake] != canonical[path]:
                    found.add(path[len(prefix) :])
    return sorted(found)


def _entry(group: list[str], generations: Mapping[str, Names]) -> list[Any]:
    """[kind, generations, parameters] or [kind, generations, parameters in 2, parameters in 3]."""
    kinds: set[str] = set()
    living = ""
    texts: list[str | None] = []
    for generation, names in generations.items():
        found = [names[path] for path in group if path in names]
        kinds |= {name["kind"] for name in found}
        living += generation if found else ""
        texts.append(found[0]["parameters"] if found else None)
    kind = next((kind for kind in KIND_ORDER if kind in kinds), None) or min(kinds)
    if len(living) == 2 and texts[0] != texts[1]:
        return [kind, living, *texts]
    return [kind, living, texts[0] if living[0] == "2" else texts[1]]


def _sources(
    generations: Mapping[str, Names], canonical: Mapping[str, str], entries: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Module where an object is defined -> name there -> canonical path."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for names in generations.values():
        for path, name in names.items():
            if name["source"] is None or canonical[path] not in entries:
                continue
            module, _, last = name["source"].rpartition(".")
            if module.startswith("tf_keras."):
                module = module.removeprefix("tf_")
            if "._api." not in module:
                found[module][last].add(canonical[path])
    return {
        module: {last: next(iter(paths)) for last, paths in sorted(names.items()) if len(paths) == 1}
        for module, names in sorted(found.items())
    }


def _own_methods(methods: Mapping[str, Any], entries: Mapping[str, Any]) -> dict[str, Any]:
    """Methods of the base classes, and of others only where they differ from their base's."""
    bases = ("keras.Layer", "keras.Model", "keras.Optimizer", "keras.Loss", "keras.Metric")
    by_kind = {"layer": 0, "cell": 0, "wrapper": 0, "model": 1, "optimizer": 2, "loss": 3, "metric": 4}
    kept: dict[str, Any] = {}
    for path, by_generation in methods.items():
        kind = entries[path][0]
        base = bases[by_kind[kind]] if kind in by_kind else None
        own: dict[str, dict[str, str | None]] = {}
        for generation, found in by_generation.items():
            inherited = methods.get(base, {}).get(generation, {}) if base is not None and base != path else {}
            differing: dict[str, str | None] = {
                method: text for method, text in found.items() if inherited.get(method) != text
            }
            differing.update({method: None for method in inherited if method not in found})
            if differing:
                own[generation] = differing
        if own:
            kept[path] = own
    return kept
