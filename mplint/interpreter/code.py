"""What is fixed about a function or class of the program: parameters, local names, body.  Read once per node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import libcst as cst

from mplint.source.file import SourceFile
from mplint.source.walk import children


class Parameter:
    """One parameter of a function; `kind` is positional_only, positional, star, keyword_only or star_star."""

    __slots__ = ("annotation", "default", "kind", "name")

    def __init__(
        self, name: str, kind: str, default: cst.BaseExpression | None, annotation: cst.Annotation | None
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation


class Code:
    """A function, lambda or class of the program as it stands in the source."""

    __slots__ = ("name", "node", "qualname", "source")

    def __init__(self, node: cst.CSTNode, source: SourceFile, name: str, qualname: str) -> None:
        self.node = node
        self.source = source
        self.name = name
        self.qualname = qualname

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.qualname})"


HOOKS: Final = frozenset(
    {
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__get__",
        "__set__",
        "__new__",
        "__init_subclass__",
    }
)
"""Methods that Python calls where a program only reads or sets an attribute, or makes an object or a class."""


class ClassCode(Code):
    """A class statement."""

    __slots__ = ("body", "checks", "decorators", "hooks")

    node: cst.ClassDef

    def __init__(self, node: cst.ClassDef, source: SourceFile, qualname: str) -> None:
        super().__init__(node, source, node.name.value, qualname)
        self.body = block(node.body)
        self.decorators = tuple(decorator.decorator for decorator in node.decorators)
        defined = {statement.name.value for statement in self.body if isinstance(statement, cst.FunctionDef)}
        for statement in self.body:
            if isinstance(statement, cst.Assign):
                defined.update(name for target in statement.targets for name in target_names(target.target))
        self.hooks = defined & HOOKS
        """What of `HOOKS` it defines."""
        self.checks = tuple(
            statement.name.value
            for statement in self.body
            if isinstance(statement, cst.FunctionDef) and any(map(_checks_afterwards, statement.decorators))
        )
        """Its methods that pydantic runs on an object when that has all of its fields."""


def _checks_afterwards(decorator: cst.Decorator) -> bool:
    """Whether this is `@model_validator(mode="after")`."""
    node = decorator.decorator
    if not isinstance(node, cst.Call) or dotted(node.func).rpartition(".")[2] != "model_validator":
        return False
    return any(isinstance(arg.value, cst.SimpleString) and arg.value.raw_value == "after" for arg in node.args)


class FunctionCode(Code):
    """A function or a lambda."""

    node: cst.FunctionDef | cst.Lambda

    def __init__(self, node: cst.FunctionDef | cst.Lambda, source: SourceFile, qualname: str) -> None:
        name = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
        super().__init__(node, source, name, qualname)
        self.parameters = tuple(_parameters(node.params))
        self.decorators: tuple[cst.BaseExpression, ...] = ()
        if isinstance(node, cst.FunctionDef):
            self.decorators = tuple(decorator.decorator for decorator in node.decorators)

    @cached_property
    def body(self) -> tuple[cst.CSTNode, ...]:
        """The statements; none of a lambda."""
        return () if isinstance(self.node, cst.Lambda) else block(self.node.body)

    @property
    def is_abstract(self) -> bool:
        """Whether it only says that a subclass has to define it."""
        last = self.body[-1] if self.body else None
        return isinstance(last, cst.Raise) and "NotImplemented" in dotted(
            last.exc.func if isinstance(last.exc, cst.Call) else last.exc
        )

    @cached_property
    def expression(self) -> cst.BaseExpression | None:
        """What a lambda gives."""
        return self.node.body if isinstance(self.node, cst.Lambda) else None

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names of its variables."""
        names = {parameter.name for parameter in self.parameters}
        return frozenset((names | self._scan.bound) - self._scan.foreign)

    @cached_property
    def is_generator(self) -> bool:
        """Whether it yields."""
        return self._scan.yields

    @cached_property
    def calls_itself(self) -> bool:
        """Whether something of its name is called in its body, which may be itself; `super().f()` is not."""
        return self.name in self._scan.called_directly

    @property
    def calls(self) -> AbstractSet[str]:
        """The names of what is called in it, methods among them."""
        return self._scan.called

    @property
    def foreign(self) -> AbstractSet[str]:
        """The names that it declares global or nonlocal."""
        return self._scan.foreign

    @property
    def touched(self) -> AbstractSet[str]:
        """The variables, and attributes of variables, whose objects it writes to, or calls a method of."""
        return self._scan.touched

    @cached_property
    def has_closures(self) -> bool:
        """Whether something made in the body may read its variables later."""
        return self._scan.holds_functions

    @cached_property
    def _scan(self) -> _Scan:
        return _Scan(self.body)

    @property
    def first(self) -> str | None:
        """The name of the first positional parameter (`self`, `cls`)."""
        for parameter in self.parameters:
            return parameter.name if parameter.kind.startswith("positional") else None
        return None


def block(body: cst.BaseSuite | cst.Module) -> tuple[cst.CSTNode, ...]:
    """The statements of a suite, whether it is indented or stands on the line of its header; small ones unpacked."""
    statements: list[cst.CSTNode] = []
    for statement in body.body:
        if type(statement) is cst.SimpleStatementLine:
            statements.extend(statement.body)
        else:
            statements.append(statement)
    return tuple(statements)


def target_names(target: cst.CSTNode) -> Iterator[str]:
    """The variables that assigning to `target` binds."""
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from target_names(element.value)
    elif isinstance(target, cst.StarredElement):
        yield from target_names(target.value)


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` for a name or a chain of attributes, else the empty string."""
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        left = dotted(node.value)
        return f"{left}.{node.attr.value}" if left else ""
    return ""


def _parameters(parameters: cst.Parameters) -> Iterator[Parameter]:
    groups: tuple[tuple[str, Sequence[cst.Param]], ...] = (
        ("positional_only", parameters.posonly_params),
        ("positional", parameters.params),
        ("star", [parameters.star_arg] if isinstance(parameters.star_arg, cst.Param) else []),
        ("keyword_only", parameters.kwonly_params),
        ("star_star", [parameters.star_kwarg] if parameters.star_kwarg else []),
    )
    for kind, group in groups:
        for parameter in group:
            yield Parameter(parameter.name.value, kind, parameter.default, parameter.annotation)


class _Scan:
    """What a walk over a body has met: names bound in it, names that belong elsewhere, yields, functions."""

    def __init__(self, body: Iterable[cst.CSTNode]) -> None:
        self.bound: set[str] = set()
        self.foreign: set[str] = set()
        self.called: set[str] = set()
        self.called_directly: set[str] = set()
        self.touched: set[str] = set()
        self.yields = False
        self.holds_functions = False
        self.left: list[cst.CSTNode] = list(body)
        while self.left:
            node = self.left.pop()
            handler = _SCANNED.get(type(node))
            if handler is None:
                self.left.extend(children(node))
            else:
                handler(self, node)

    def definition(self, node: cst.FunctionDef | cst.ClassDef) -> None:
        self.bound.add(node.name.value)
        self.holds_functions = True
        self.left.extend(decorator.decorator for decorator in node.decorators)

    def function(self, node: cst.Lambda) -> None:
        self.holds_functions = True

    def declaration(self, node: cst.Global | cst.Nonlocal) -> None:
        self.foreign.update(item.name.value for item in node.names)

    def binding(self, node: cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For | cst.NamedExpr) -> None:
        self.bound.update(target_names(node.target))
        if not isinstance(node.target, cst.Name):
            self.touched.update(_roots(node.target))
        self.left.extend(children(node))

    def deletion(self, node: cst.Del) -> None:
        self.touched.update(_roots(node.target))
        self.left.extend(children(node))

    def clause(self, node: cst.CompFor) -> None:
        self.left.append(node.iter)
        self.left.extend(condition.test for condition in node.ifs)
        if node.inner_for_in:
            self.left.append(node.inner_for_in)

    def alias(self, node: cst.AsName) -> None:
        self.bound.update(target_names(node.name))

    def imported(self, node: cst.ImportAlias) -> None:
        if node.asname is None:
            self.bound.add(dotted(node.name).partition(".")[0])
        else:
            self.left.append(node.asname)

    def capture(self, node: cst.MatchAs | cst.MatchStar | cst.MatchMapping) -> None:
        name = node.rest if isinstance(node, cst.MatchMapping) else node.name
        if name is not None:
            self.bound.add(name.value)
        self.left.extend(children(node))

    def call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute):
            self.called.add(node.func.attr.value)
            if not _is_super(node.func.value):
                self.called_directly.add(node.func.attr.value)
            self.touched.update(_roots(node.func.value))
        elif isinstance(node.func, cst.Name):
            self.called.add(node.func.value)
            self.called_directly.add(node.func.value)
        self.left.extend(children(node))

    def giving(self, node: cst.Yield) -> None:
        self.yields = True
        self.left.extend(children(node))


def _is_super(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def _roots(node: cst.CSTNode) -> Iterator[str]:
    """The variables at the left of attributes and items, or an attribute of them: `a.x` and `b` of `a.x[0], b[1]`."""
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        yield dotted(node)
    elif isinstance(node, (cst.Attribute, cst.Subscript, cst.StarredElement)):
        yield from _roots(node.value)
    elif isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from _roots(element.value)
    elif isinstance(node, cst.Name):
        yield node.value


_SCANNED: Final[dict[type[cst.CSTNode], Callable[..., None]]] = {
    cst.FunctionDef: _Scan.definition,
    cst.ClassDef: _Scan.definition,
    cst.Lambda: _Scan.function,
    cst.Global: _Scan.declaration,
    cst.Nonlocal: _Scan.declaration,
    cst.AssignTarget: _Scan.binding,
    cst.AnnAssign: _Scan.binding,
    cst.AugAssign: _Scan.binding,
    cst.For: _Scan.binding,
    cst.NamedExpr: _Scan.binding,
    cst.Del: _Scan.deletion,
    cst.CompFor: _Scan.clause,
    cst.AsName: _Scan.alias,
    cst.ImportAlias: _Scan.imported,
    cst.MatchAs: _Scan.capture,
    cst.MatchStar: _Scan.capture,
    cst.MatchMapping: _Scan.capture,
    cst.Call: _Scan.call,
    cst.Yield: _Scan.giving,
}
