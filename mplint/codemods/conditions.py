"""The conditions under which a place of the program is run, as they are written around it."""

from __future__ import annotations

import libcst as cst

from mplint.codemods import layout
from mplint.interpreter.scaling import Course
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile


def is_scaled_under_more(course: Course, at: Place) -> bool:
    """Whether a loss is scaled under a condition that does not hold wherever the program comes to `at`.

    Then the optimizer may be a plain one at `at`, and in Keras 2 that has none of the methods for it.
    """
    here = _around(at.source, at.node)
    return any(
        not _around(factor.place.source, factor.place.node) <= here
        for factor in course.factors
        if factor.power > 0 and factor.place is not None
    )


def _around(source: SourceFile, node: cst.CSTNode) -> frozenset[str]:
    """The conditions around a node, inside its function."""
    found: set[str] = set()
    inner, outer = node, source.parent(node)
    while outer is not None and not isinstance(outer, (cst.FunctionDef, cst.ClassDef)):
        if isinstance(outer, (cst.If, cst.IfExp)) and inner is not outer.test:
            test = layout.code(source, outer.test)
            found.add(test if inner is outer.body else f"not ({test})")
        inner, outer = outer, source.parent(outer)
    return frozenset(found)
