"""What is fixed about a function or class of the program: parameters, local names, body.  Read once per node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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


class ClassCode(Code):
    """A class statement."""

    __slots__ = ("body", "decorators")

    node: cst.ClassDef

    def __init__(self, node: cst.ClassDef, source: SourceFile, qualname: str) -> None:
        super().__init__(node, source, node.name.value, qualname)
        self.body = block(node.body)
        self.decorators = tuple(decorator.decorator for decorator in node.decorators)


class FunctionCode(Code):
    """A function or a lambda."""

    __slots__ = ("body", "decorators", "expression", "has_closures", "is_generator", "locals", "parameters")

    node: cst.FunctionDef | cst.Lambda

    def __init__(self, node: cst.FunctionDef | cst.Lambda, source: SourceFile, qualname: str) -> None:
        name = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
        super().__init__(node, source, name, qualname)
        self.parameters = tuple(_parameters(node.params))
        names = {parameter.name for parameter in self.parameters}
        self.body: tuple[cst.CSTNode, ...] = ()
        self.expression: cst.BaseExpression | None = None
        self.is_generator = False
        self.has_closures = False  # whether something made in the body may read its variables later
        self.decorators: tuple[cst.BaseExpression, ...] = ()
        if isinstance(node, cst.Lambda):
            self.expression = node.body
        else:
            self.body = block(node.body)
            self.decorators = tuple(decorator.decorator for decorator in node.decorators)
            bound, foreign, self.is_generator, self.has_closures = _scan(self.body)
            names |= bound
            names -= foreign
        self.locals = frozenset(names)

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
        if isinstance(statement, cst.SimpleStatementLine):
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
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
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


def _scan(body: Iterable[cst.CSTNode]) -> tuple[set[str], set[str], bool, bool]:
    """Names bound in a body, names declared global or nonlocal, whether it yields, whether it holds functions."""
    bound: set[str] = set()
    foreign: set[str] = set()
    yields = closures = False
    stack = list(body)
    while stack:
        node = stack.pop()
        match node:
            case cst.FunctionDef() | cst.ClassDef():
                bound.add(node.name.value)
                closures = True
                stack.extend(decorator.decorator for decorator in node.decorators)
                continue
            case cst.Lambda():
                closures = True
                continue
            case cst.Global() | cst.Nonlocal():
                foreign.update(item.name.value for item in node.names)
                continue
            case cst.AssignTarget() | cst.AnnAssign() | cst.AugAssign() | cst.For() | cst.NamedExpr():
                bound.update(target_names(node.target))
            case cst.CompFor():
                stack.append(node.iter)
                stack.extend(condition.test for condition in node.ifs)
                if node.inner_for_in:
                    stack.append(node.inner_for_in)
                continue
            case cst.AsName():
                bound.update(target_names(node.name))
                continue
            case cst.ImportAlias():
                if node.asname is None:
                    bound.add(dotted(node.name).partition(".")[0])
            case cst.MatchAs() | cst.MatchStar():
                if node.name:
                    bound.add(node.name.value)
            case cst.MatchMapping():
                if node.rest:
                    bound.add(node.rest.value)
            case cst.Yield():
                yields = True
            case _:
                pass
        stack.extend(children(node))
    return bound, foreign, yields, closures
