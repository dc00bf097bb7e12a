"""What stands around an expression of the program: an import, a longer name, a call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from mplint.interpreter.program import Program
from mplint.interpreter.values import Place


def is_imported(at: Place) -> bool:
    """Whether a name is what an import asks for."""
    return isinstance(at.node, cst.ImportAlias)


def import_from(program: Program, at: Place) -> Place | None:
    """The statement `from … import` that asks for a name."""
    statement = at.source.parent(at.node) if is_imported(at) else None
    return program.place(at.source, statement) if isinstance(statement, cst.ImportFrom) else None


def owner(node: cst.CSTNode | None) -> cst.CSTNode | None:
    """`a.b` of `a.b.c`."""
    return node.value if isinstance(node, cst.Attribute) else None


def member(at: Place) -> cst.CSTNode | None:
    """`a.b.c` around `a.b`."""
    parent = at.source.parent(at.node)
    return parent if isinstance(parent, cst.Attribute) else None


def callee(at: Place) -> cst.CSTNode | None:
    """What a call calls; None of anything else."""
    return at.node.func if isinstance(at.node, cst.Call) else None


def call_of(program: Program, at: Place) -> Place | None:
    """The call itself, or that of what is read."""
    if isinstance(at.node, cst.Call):
        return at
    call = at.source.parent(at.node)
    return program.place(at.source, call) if isinstance(call, cst.Call) and call.func is at.node else None


def whole(at: Place) -> Iterator[cst.CSTNode]:
    """The expression, and the longer names and the calls that it is a part of."""
    node: cst.CSTNode | None = at.node
    while isinstance(node, (cst.Attribute, cst.Call, cst.Arg)):
        yield node
        node = at.source.parent(node)
