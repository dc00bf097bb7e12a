"""Where a number of the program goes that is written down once: whether all that reads it is known.

A number is followed by the names that it goes under: a variable, an argument, an attribute, an item of a list or of a
dict, the default of an option.  Two names that are spelled alike in the files of a program are taken for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter.code import target_names
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_SHOWS: Final = frozenset({"print", "len", "info", "debug", "warning", "format"})
"""Functions that may be given any number, whose results decide on no shape."""
_WALKS: Final = frozenset({"zip", "enumerate", "reversed", "list", "tuple", "iter"})
"""Functions that hand on what a sequence holds."""
_COMPUTES: Final = frozenset({"int", "round"})
_SCALES: Final = (cst.Multiply, cst.FloorDivide, cst.Divide, cst.Power)


class Uses:
    """What is done with the number at one place."""

    def __init__(self, files: Callable[[Path, str], Collection[SourceFile]], known: Collection[cst.Arg]) -> None:
        self._files = files
        """Which files contain a word, of the programs that a file belongs to."""
        self._known = set(map(id, known))
        """The arguments that may change with it."""
        self._seen: set[tuple[object, ...]] = set()

    def stray(self, literal: Place) -> Place | None:
        """The first use that is not known; None where all are."""
        return next(self._from(literal.source, literal.node), None)

    def _from(self, source: SourceFile, node: cst.CSTNode, key: object = None) -> Iterator[Place]:
        """The uses, of what `node` is, that are not known; it is an item under `key` where that is not None."""
        while True:
            parent = source.parent(node)
            match parent:
                case cst.Arg():
                    yield from self._argument(source, parent, key)
                    return
                case cst.Assign(value=value) if value is node:
                    for target in parent.targets:
                        yield from self._bound(source, target.target, key)
                    return
                case cst.AnnAssign(value=value, target=target) if value is node:
                    yield from self._bound(source, target, key)
                    return
                case cst.Param(default=default, name=name) if default is node:
                    yield from self._parameter(source, parent, name.value)
                    return
                case cst.DictElement(key=cst.SimpleString() as name) if parent.value is node and key is None:
                    node, key = source.parent(parent) or parent, name.evaluated_value
                    continue
                case cst.Element():
                    node, key = source.parent(parent) or parent, _ANY if key is None else key
                    continue
                case cst.BinaryOperation(operator=operator) if isinstance(operator, _SCALES) and key is None:
                    node = parent
                    continue
                case cst.Subscript() if parent.value is node:
                    taken = _item(parent)
                    if key is None or (taken is not None and key is not _ANY and taken != key):
                        return
                    node, key = parent, _ANY if taken is _ANY else None
                    continue
                case cst.For(iter=walked, target=target) | cst.CompFor(iter=walked, target=target) if walked is node:
                    for variable in target_names(target):
                        yield from self._named(source, variable, _scope(source, parent), None)
                    return
                case cst.Attribute(value=value) if value is node and key is not None:
                    return  # a method of a list or dict
                case cst.FormattedStringExpression() | cst.Expr():
                    return
                case cst.ComparisonTarget():
                    node = parent
                    continue
                case cst.Comparison() if _is_equality(parent):
                    return
                case _:
                    if not _is_config(source, node):
                        yield Place(source, node)
                    return

    def _argument(self, source: SourceFile, arg: cst.Arg, key: object) -> Iterator[Place]:
        call = source.parent(arg)
        if not isinstance(call, cst.Call):
            yield Place(source, arg)
            return
        function = call.func.attr.value if isinstance(call.func, cst.Attribute) else _name(call.func)
        if id(arg) in self._known:
            return
        if function in _SHOWS or _is_config(source, call):
            return
        if function == "add_argument" and arg.keyword is not None and arg.keyword.value == "default":
            yield from self._attribute(source, _option(call))
        elif (name := _walked(source, call, arg, function)) is not None:
            yield from self._named(source, name, _scope(source, call), None)
        elif function in _WALKS or (function in _COMPUTES and key is None):
            yield from self._from(source, call, key)
        else:
            yield from self._handed(source, call, arg, function, key)

    def _handed(self, source: SourceFile, call: cst.Call, arg: cst.Arg, function: str, key: object) -> Iterator[Place]:
        """What a function of the program does with what it is given."""
        found = [
            (other, definition)
            for other in self._files(source.path, function)
            for definition in _definitions(other, function)
        ]
        if len(found) != 1 or arg.star:
            yield Place(source, arg)
            return
        other, definition = found[0]
        if isinstance(definition, cst.ClassDef):
            fields = _fields(definition)
            name = _name_for(call, arg, fields)
            yield from self._attribute(other, name if name in fields else "")
            return
        method = isinstance(other.parent(other.parent(definition) or definition), cst.ClassDef)
        names = [param.name.value for param in (*definition.params.posonly_params, *definition.params.params)]
        names = names[1:] if method else names
        name = _name_for(call, arg, names)
        if name not in [*names, *(param.name.value for param in definition.params.kwonly_params)]:
            yield Place(source, arg)
            return
        yield from self._named(other, name, definition, key)

    def _bound(self, source: SourceFile, target: cst.CSTNode, key: object) -> Iterator[Place]:
        """The uses under the name, or the attribute, that it is assigned to."""
        match target:
            case cst.Name(value=name):
                scope = _scope(source, target)
                if isinstance(scope, cst.ClassDef):
                    yield from self._attribute(source, name, key)
                elif scope is source.module:
                    for other in self._files(source.path, name):
                        yield from self._named(other, name, other.module, key)
                    yield from self._attribute(source, name, key)
                else:
                    yield from self._named(source, name, scope, key)
            case cst.Attribute(attr=cst.Name(value=name)):
                yield from self._attribute(source, name, key)
            case _:
                yield Place(source, target)

    def _parameter(self, source: SourceFile, parameter: cst.Param, name: str) -> Iterator[Place]:
        function = source.enclosing(parameter, cst.FunctionDef)
        if function is None:
            yield Place(source, parameter)
        else:
            yield from self._named(source, name, function, None)

    def _named(self, source: SourceFile, name: str, scope: cst.CSTNode, key: object) -> Iterator[Place]:
        """The uses of the variable `name` in a scope."""
        if (name, id(scope), key) in self._seen:
            return
        self._seen.add((name, id(scope), key))
        for node in walk(scope):
            if isinstance(node, cst.Name) and node.value == name and _is_read(source, node):
                yield from self._from(source, node, key)

    def _attribute(self, source: SourceFile, name: str, key: object = None) -> Iterator[Place]:
        """The uses of all attributes of a name."""
        if not name:
            yield Place(source, source.module)
            return
        if (name, None, key) in self._seen:
            return
        self._seen.add((name, None, key))
        for other in self._files(source.path, name):
            for node in walk(other.module):
                if isinstance(node, cst.Attribute) and node.attr.value == name and _is_read(other, node):
                    yield from self._from(other, node, key)


_ANY: Final = object()
"""The key of an item of a list, or one that is not known."""


def _name(node: cst.CSTNode) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _name_for(call: cst.Call, arg: cst.Arg, names: Sequence[str]) -> str:
    """Which of the parameters `names` an argument is for."""
    if arg.keyword is not None:
        return arg.keyword.value
    position = next(index for index, each in enumerate(call.args) if each is arg)
    return names[position] if position < len(names) else ""


def _item(node: cst.Subscript) -> object:
    """The key that a subscript takes, where it is a text; `_ANY` where it takes several items."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]:
            return text.evaluated_value
        case [cst.SubscriptElement(slice=cst.Index())]:
            return None
        case _:
            return _ANY


def _walked(source: SourceFile, call: cst.Call, arg: cst.Arg, function: str) -> str | None:
    """The variable that takes an item of `arg` in each pass of a loop over `zip(…)` or `enumerate(…)`."""
    match source.parent(call):
        case cst.For(target=cst.Tuple() as target) | cst.CompFor(target=cst.Tuple() as target):
            position = next(index for index, each in enumerate(call.args) if each is arg)
            position = {"zip": position, "enumerate": 1}.get(function, len(target.elements))
            return _name(target.elements[position].value) or None if position < len(target.elements) else None
        case _:
            return None


def _is_equality(node: cst.Comparison) -> bool:
    return all(isinstance(part.operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot)) for part in node.comparisons)


def _is_config(source: SourceFile, node: cst.CSTNode) -> bool:
    """Whether it is what a layer tells of itself."""
    function = source.enclosing(node, cst.FunctionDef)
    return function is not None and function.name.value == "get_config"


def _scope(source: SourceFile, node: cst.CSTNode) -> cst.CSTNode:
    """The function, class or module that a name in `node` is bound in."""
    here = source.parent(node)
    while here is not None and not isinstance(here, (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Module)):
        here = source.parent(here)
    return here or source.module


def _is_read(source: SourceFile, node: cst.CSTNode) -> bool:
    """Whether a name, or an attribute, is read here, and is no keyword, parameter or part of a longer name."""
    parent = source.parent(node)
    while isinstance(parent, (cst.Element, cst.Tuple, cst.List)):
        node, parent = parent, source.parent(parent)
    match parent:
        case cst.Arg(keyword=keyword):
            return keyword is not node
        case cst.Param(name=name):
            return name is not node
        case cst.Attribute(attr=attr):
            return attr is not node
        case cst.AssignTarget() | cst.ImportAlias() | cst.AsName() | cst.FunctionDef() | cst.ClassDef():
            return False
        case cst.AnnAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target):
            return target is not node
        case _:
            return True


def _definitions(source: SourceFile, name: str) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """The functions and methods of a name; of a class, its constructor, or the class where that has none."""
    for node in walk(source.module):
        if isinstance(node, cst.FunctionDef) and node.name.value == name:
            yield node
        elif isinstance(node, cst.ClassDef) and node.name.value == name:
            constructors = (each for each in node.body.body if isinstance(each, cst.FunctionDef))
            yield next((each for each in constructors if each.name.value == "__init__"), node)


def _fields(node: cst.ClassDef) -> list[str]:
    """The fields of a dataclass."""
    lines = (line.body for line in node.body.body if isinstance(line, cst.SimpleStatementLine))
    return [_name(each.target) for line in lines for each in line if isinstance(each, cst.AnnAssign)]


def _option(call: cst.Call) -> str:
    """The attribute under which a command line option is read."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == "dest":
            return str(arg.value.evaluated_value) if isinstance(arg.value, cst.SimpleString) else ""
    names = [str(arg.value.evaluated_value) for arg in call.args if isinstance(arg.value, cst.SimpleString)]
    name = next((each for each in names if each.startswith("--")), names[0] if names else "")
    return name.lstrip("-").replace("-", "_")
