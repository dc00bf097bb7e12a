"""Calling contexts and frames: where a binding lives.  Both are interned, so that they compare by identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mplint.interpreter.code import Code
    from mplint.interpreter.values import Class, Place
    from mplint.source.file import SourceFile


class Context:
    """A chain of call sites and loop passes that leads to what is being executed."""

    __slots__ = ("children", "depth", "index", "parent", "site")

    def __init__(self, parent: Context | None, site: Place | None, index: int) -> None:
        self.parent = parent
        self.site = site
        self.index = index
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[tuple[int, int], Context] = {}

    def at(self, site: Place, index: int = 0) -> Context:
        """The context one call (or loop pass `index`) deeper, through `site`."""
        key = (id(site.node), index)
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = Context(self, site, index)
        return found

    def is_within(self, outer: Context) -> bool:
        """Whether this is `outer`, or a context below it."""
        here = self
        while here.depth > outer.depth and here.parent is not None:
            here = here.parent
        return here is outer

    def sites(self) -> list[Place]:
        """The call sites from the outermost to the innermost."""
        found: list[Place] = []
        here: Context | None = self
        while here is not None:
            if here.site is not None:
                found.append(here.site)
            here = here.parent
        return found[::-1]


class Frame:
    """The namespace of one module, class body or function activation; its bindings are `(frame, name)` in the state."""

    __slots__ = ("bound", "code", "context", "kind", "names", "owner", "parent", "source")

    def __init__(
        self,
        kind: str,
        source: SourceFile,
        code: Code | None,
        context: Context,
        parent: Frame | None,
        names: frozenset[str] | None,
        owner: Class | None = None,
    ) -> None:
        self.kind = kind  # module, class, function
        self.source = source
        self.code = code
        self.context = context
        self.parent = parent
        self.names = names  # the local names of a function; None: every name is local (module, class)
        self.bound: dict[str, None] = {}  # the names that some run bound in a module, in order
        self.owner = owner  # the class in whose body a method was defined: what super() starts from

    @property
    def module(self) -> Frame:
        """The frame of the module that this frame's code stands in."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def __repr__(self) -> str:
        return f"Frame({self.kind}, {self.source.path.name})"
