"""Data that stay float32 up to the model."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls
from mplint.codemods.named_dtypes import other_dtype
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Fix
from mplint.interpreter.feeding import HalfData, Origin
from mplint.interpreter.world import World


@dataclass(frozen=True)
class KeepFloat32(Rewrite):
    """Make float32 of `data` where they are made half precision: the model casts by itself."""

    world: World
    data: HalfData

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype that the call names, and that of what meets the data; nothing where one is not written out."""
        if self.data.together is None:
            return None
        changed = [origin for origin in self.data.together if not _follows(origin)]
        edits = [other_dtype(self.world, origin.at, origin.by, "float32") for origin in changed]
        kept = [edit for edit in edits if edit is not None]
        if len(kept) < len(edits) or not kept:
            return None
        return Fix("keep it float32", Applicability.SAFE, tuple(dict.fromkeys(kept)))


def _follows(origin: Origin) -> bool:
    """Whether the dtype is written as that of another tensor: `x.dtype`."""
    call = origin.at.node
    if not isinstance(call, cst.Call) or not call.args:
        return False
    named = calls.argument(call, "dtype") or call.args[-1]
    return isinstance(named.value, cst.Attribute) and named.value.attr.value == "dtype"
