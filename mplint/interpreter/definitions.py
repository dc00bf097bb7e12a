"""The functions that a module defines."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst


def functions(tree: cst.Module) -> Iterator[tuple[cst.ClassDef | None, cst.FunctionDef]]:
    """The functions of a module and the methods of its classes, wherever conditional blocks put them."""
    stack: list[tuple[cst.ClassDef | None, cst.CSTNode]] = [(None, node) for node in reversed(tree.body)]
    while stack:
        owner, node = stack.pop()
        match node:
            case cst.FunctionDef():
                yield owner, node
            case cst.ClassDef():
                stack.extend((node, inner) for inner in reversed(node.body.body))
            case cst.If() | cst.Try() | cst.With() | cst.Else():
                stack.extend((owner, inner) for inner in reversed(node.body.body))
                orelse = getattr(node, "orelse", None)
                if orelse is not None:
                    stack.append((owner, orelse))
            case _:
                pass
