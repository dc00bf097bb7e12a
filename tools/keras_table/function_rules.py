"""Turns what was measured of functions into entries of the table; equal matrices are written once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any


class Matrices:
    """Matrices by a short name that depends on their content only, so that one new function changes one line."""

    def __init__(self) -> None:
        self.by_name: dict[str, str] = {}

    def name(self, letters: str) -> str:
        """The name of a matrix."""
        name = hashlib.sha256(letters.encode()).hexdigest()[:8]
        if self.by_name.setdefault(name, letters) != letters:
            raise ValueError(f"two matrices are called {name}")
        return name

    def reference(self, leaves: Any) -> Any:
        """A measured matrix as the table holds it: a name, a list of names for several results, or the word it is."""
        if leaves is None or isinstance(leaves, str):
            return leaves
        names = [self.name(letters) for letters in leaves]
        return names[0] if len(names) == 1 else names


def function_entries(second: Mapping[str, Any], third: Mapping[str, Any], matrices: Matrices) -> dict[str, Any]:
    """Canonical path -> {"2" | "3" | "23": entry}. An entry's "symbolic" is by generation."""
    found: dict[str, Any] = {}
    for path in sorted({*second, *third}):
        one, other = second.get(path), third.get(path)
        if path.startswith("tensorflow."):
            if other is not None:
                # Real tensors know no generation, KerasTensors do.
                symbolic = {"2": one["symbolic"] if one is not None else None, "3": other["symbolic"]}
                found[path] = {"23": _entry(other, symbolic, matrices)}
            continue
        entries = {
            generation: _entry(measured, {generation: measured["symbolic"]}, matrices)
            for generation, measured in (("2", one), ("3", other))
            if measured is not None
        }
        bare = [{key: value for key, value in entry.items() if key != "symbolic"} for entry in entries.values()]
        if len(bare) == 2 and bare[0] == bare[1]:
            symbolic = {**entries["2"].get("symbolic", {}), **entries["3"].get("symbolic", {})}
            entries = {"23": bare[0] | ({"symbolic": symbolic} if symbolic else {})}
        found[path] = entries
    return {path: entries for path, entries in found.items() if any("real" in entry for entry in entries.values())}


def _entry(measured: Mapping[str, Any], symbolic: Mapping[str, Any], matrices: Matrices) -> dict[str, Any]:
    entry: dict[str, Any] = {"operands": measured["operands"]}
    if measured["real"] is not None:
        entry["real"] = matrices.reference(measured["real"])
    for key in ("indices", "given", "free"):
        if measured[key]:
            entry[key] = " ".join(sorted(measured[key]))
    for key in ("listed", "many", "folds", "carries", "joins"):
        if measured.get(key):
            entry[key] = True
    if measured["dtype"] is not None:
        entry["dtype"] = measured["dtype"]["name"]
    # Most functions do with KerasTensors as with tensors: only the others are written.
    different = {generation: matrices.reference(found) for generation, found in symbolic.items() if found != "real"}
    if different:
        entry["symbolic"] = different
    return entry
