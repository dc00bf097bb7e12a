"""Where every node of a tree is, and under which node: one pass of LibCST's own code generation.

LibCST nodes carry no positions. Its metadata providers compute them at the price of several parses; here the code
generation that they are built on runs once, with a state that only counts characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, cast

import libcst as cst
from libcst._nodes.internal import CodegenState


@dataclass(frozen=True)
class Positions:
    """What is known of each node, by `id(node)`: valid as long as the module lives.

    A span is the syntactic one: nodes that say where their syntax begins and ends (LibCST's
    `record_syntactic_position`) are taken at their word, the rest spans everything they generate.
    """

    spans: dict[int, tuple[int, int]]
    parents: dict[int, cst.CSTNode]
    text: str
    """The generated text, in which the offsets count."""


def locate(module: cst.Module) -> Positions:
    """Spans and parents of all nodes of `module`. Recursive, so that it may raise RecursionError."""
    state = _State(module)
    cast(_Generates, module)._codegen(state)
    return Positions(state.spans, state.parents, "".join(state.tokens))


class _Generates(Protocol):
    def _codegen(self, state: CodegenState) -> None: ...


class _State(CodegenState):
    __slots__ = ("_offsets", "_stack", "offset", "parents", "spans")

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.offset = 0
        self.spans: dict[int, tuple[int, int]] = {}
        self.parents: dict[int, cst.CSTNode] = {}
        self._stack: list[cst.CSTNode] = []
        self._offsets: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.tokens.append(token)
            self.offset += len(token)

    def pop_trailing_newline(self) -> None:
        if self.tokens:
            self.offset -= len(self.tokens.pop())

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self._stack:
            self.parents[id(node)] = self._stack[-1]
        self._stack.append(node)
        self._offsets.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self._stack.pop()
        start = self._offsets.pop()
        key = id(node)
        if key not in self.spans:
            self.spans[key] = (start, self.offset)

    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Any:
        return _Recording(self, node, start_node, end_node)


class _Recording:
    """The context manager that LibCST opens around a node's syntax; a class because a generator costs twice as much."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(
        self, state: _State, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self._state = state
        self._node = node
        self._start_node = start_node
        self._end_node = end_node

    def __enter__(self) -> None:
        self._start = self._state.offset

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        spans = self._state.spans
        start = self._start if self._start_node is None else spans[id(self._start_node)][0]
        end = self._state.offset if self._end_node is None else spans[id(self._end_node)][1]
        spans[id(self._node)] = (start, end)
