"""LossScaleOptimizers around optimizers, as a file can write them."""

from __future__ import annotations

import libcst as cst

from mplint.codemods import names
from mplint.codemods.expressions import enclosed
from mplint.findings import Edit
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api import canonical, copy_of, kind
from mplint.keras_api.optimizers import LOSS_SCALE
from mplint.source.file import SourceFile


def wrapped(world: World, place: Place) -> list[Edit] | None:
    """A LossScaleOptimizer around what the call at `place` makes."""
    call, source = place.node, place.source
    if not isinstance(call, cst.Call):
        return None
    written = wrapper(world, source, call.func)
    if written is None:
        return None
    name, imported = written
    return [*imported, *enclosed(source, call, f"{name}(", ")")]


def wrapper(world: World, source: SourceFile, beside: cst.BaseExpression | None) -> tuple[str, tuple[Edit, ...]] | None:
    """How a file writes LossScaleOptimizer, and what it must import for it.

    Of the copy of Keras that the optimizer `beside` comes from; None of it: of the one that the file uses.
    """
    spelled = names.spelled(world, source, beside) if beside is not None else None
    copy = copy_of(spelled) if spelled is not None and kind(canonical(spelled)) is not None else None
    start = dotted(beside).partition(".")[0] if beside is not None else ""
    module = "mixed_precision" if world.generation == "2" else "optimizers"
    short = LOSS_SCALE.rpartition(".")[2]
    found: list[tuple[bool, bool, int, str]] = []
    for name, value in names.bound(world, source).items():
        if copy is not None and copy_of(value.spelled or value.path) != copy and name != start:
            continue
        rest = {
            LOSS_SCALE: "",
            f"keras.{module}": f".{short}",
            "keras.mixed_precision": f".{short}",
            "keras": f".{module}.{short}",
            "tensorflow": f".keras.{module}.{short}",
        }.get(value.path)
        if rest is not None:
            found.append((rest != "", name != start, rest.count("."), f"{name}{rest}"))
    if found:
        return min(found)[3], ()
    if beside is None:
        return None
    if world.generation == "3":
        return names.sibling(source, beside, short)
    edit = names.imported_from(source, copy, "mixed_precision") if copy is not None else None
    edit = edit or names.imported_beside(source, beside, ["mixed_precision"])
    return (f"mixed_precision.{short}", (edit,)) if edit is not None else None
