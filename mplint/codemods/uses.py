"""Where a number of the program goes that is written down once: whether all that reads it is known.

A number is followed by the names that it goes under: a variable, an argument, an attribute, an item of a list or of a
dict, the default of an option.  Two names that are spelled alike in the files of a program are taken for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import libcst as cst

from mplint.interpreter.code import target_names
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_SHOWS: Final = frozenset({"print", "len", "info", "debug", "warning", "format"})
"""Functions that may be given any number, whose results decide on no shape."""
_WALKS: Final = frozenset({"reversed", "list", "tuple", "iter"})
"""Functions that hand on what a sequence holds."""
_COMPUTES: Final = frozenset({"int", "round"})
_SCALES: Final = (cst.Multiply, cst.FloorDivide, cst.Divide, cst.Power)
_ANY: Final = object()
"""The key of an item that is not known."""
_Keys: TypeAlias = tuple[object, ...]
"""How to get at a number in what holds it, from the outside in: the text, or the position, of each item."""


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

    def _from(self, source: SourceFile, node: cst.CSTNode, keys: _Keys = ()) -> Iterator[Place]:
        """The uses, of what `node` is or holds under `keys`, that are not known."""
        while True:
            parent = source.parent(node)
            match parent:
                case cst.Arg():
                    yield from self._argument(source, parent, keys)
                    return
                case cst.Assign(value=value) if value is node:
                    for target in parent.targets:
                        yield from self._bound(source, target.target, keys)
                    return
                case cst.AnnAssign(value=value, target=target) if value is node:
                    yield from self._bound(source, target, keys)
                    return
                case cst.Param(default=default, name=name) if default is node:
                    yield from self._parameter(source, parent, name.value, keys)
                    return
                case cst.DictElement(key=cst.SimpleString() as name) if parent.value is node:
                    node, keys = source.parent(parent) or parent, (name.evaluated_value, *keys)
                    continue
                case cst.Element():
                    held = source.parent(parent)
                    at = held.elements.index(parent) if isinstance(held, (cst.Tuple, cst.List)) else _ANY
                    node, keys = held or parent, (at, *keys)
                    continue
                case cst.BinaryOperation(operator=operator) if isinstance(operator, _SCALES) and not keys:
                    node = parent
                    continue
                case cst.Subscript() if parent.value is node:
                    taken = _item(parent)
                    if not keys or not _may_be_same(taken, keys[0]):
                        return
                    node, keys = parent, keys if taken is _ANY else keys[1:]
                    continue
                case cst.For(iter=walked, target=target) | cst.CompFor(iter=walked, target=target) if walked is node:
                    for variable, inner in _unpacked(target, keys[1:]):
                        yield from self._named(source, variable, _turns(source, parent, variable), inner)
                    return
                case cst.Attribute(value=value) if value is node and keys:
                    call = source.parent(parent)
                    found = _asked_of(parent.attr.value, call, keys) if isinstance(call, cst.Call) else None
                    if found is None or call is None:
                        return  # another method of a list or dict
                    node, keys = call, found
                    continue
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

    def _argument(self, source: SourceFile, arg: cst.Arg, keys: _Keys) -> Iterator[Place]:
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
            yield from self._attribute(source, _option(call), keys)
        elif function in ("zip", "enumerate") and keys and not arg.star:
            at = call.args.index(arg) if function == "zip" else 1
            yield from self._from(source, call, (_ANY, at, *keys[1:]))
        elif (function in _WALKS and keys) or (function in _COMPUTES and not keys):
            yield from self._from(source, call, (_ANY, *keys[1:]) if keys else ())
        else:
            yield from self._handed(source, call, arg, function, keys)

    def _handed(self, source: SourceFile, call: cst.Call, arg: cst.Arg, function: str, keys: _Keys) -> Iterator[Place]:
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
        if not isinstance(definition, cst.FunctionDef):
            fields = _fields(definition)
            name = _name_for(call, arg, fields)
            yield from self._attribute(other, name if name in fields else "", keys)
            return
        method = isinstance(other.parent(other.parent(definition) or definition), cst.ClassDef)
        names = [param.name.value for param in (*definition.params.posonly_params, *definition.params.params)]
        names = names[1:] if method else names
        name = _name_for(call, arg, names)
        if name not in [*names, *(param.name.value for param in definition.params.kwonly_params)]:
            yield Place(source, arg)
            return
        yield from self._named(other, name, definition, keys)

    def _bound(self, source: SourceFile, target: cst.CSTNode, keys: _Keys) -> Iterator[Place]:
        """The uses under the name, or the attribute, that it is assigned to."""
        match target:
            case cst.Name(value=name):
                scope = _scope(source, target)
                if isinstance(scope, cst.ClassDef):
                    yield from self._attribute(source, name, keys)
                elif scope is source.module:
                    for other in self._files(source.path, name):
                        yield from self._named(other, name, other.module, keys)
                    yield from self._attribute(source, name, keys)
                else:
                    yield from self._named(source, name, scope, keys)
            case cst.Attribute(attr=cst.Name(value=name)):
                yield from self._attribute(source, name, keys)
            case cst.Tuple() | cst.List() if keys and not any(
                isinstance(each, cst.StarredElement) for each in target.elements
            ):
                for at, element in enumerate(target.elements):
                    if _may_be_same(at, keys[0]):
                        yield from self._bound(source, element.value, keys[1:])
            case _:
                yield Place(source, target)

    def _parameter(self, source: SourceFile, parameter: cst.Param, name: str, keys: _Keys) -> Iterator[Place]:
        function = source.enclosing(parameter, cst.FunctionDef)
        if function is None:
            yield Place(source, parameter)
        else:
            yield from self._named(source, name, function, keys)

    def _named(self, source: SourceFile, name: str, scope: cst.CSTNode, keys: _Keys) -> Iterator[Place]:
        """The uses of the variable `name` in a scope."""
        if (name, id(scope), keys) in self._seen:
            return
        self._seen.add((name, id(scope), keys))
        for node in walk(scope):
            if isinstance(node, cst.Name) and node.value == name and _is_read(source, node):
                yield from self._from(source, node, keys)

    def _attribute(self, source: SourceFile, name: str, keys: _Keys = ()) -> Iterator[Place]:
        """The uses of all attributes of a name."""
        if not name:
            yield Place(source, source.module)
            return
        if (name, None, keys) in self._seen:
            return
        self._seen.add((name, None, keys))
        for other in self._files(source.path, name):
            for node in walk(other.module):
                if isinstance(node, cst.Attribute) and node.attr.value == name and _is_read(other, node):
                    yield from self._from(other, node, keys)


def _name(node: cst.CSTNode) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _name_for(call: cst.Call, arg: cst.Arg, names: Sequence[str]) -> str:
    """Which of the parameters `names` an argument is for."""
    if arg.keyword is not None:
        return arg.keyword.value
    position = next(index for index, each in enumerate(call.args) if each is arg)
    return names[position] if position < len(names) else ""


def _item(node: cst.Subscript) -> object:
    """The key that a subscript takes; None where it is not known, `_ANY` where it takes several items."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]:
            return text.evaluated_value
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as number))]:
            return number.evaluated_value
        case [cst.SubscriptElement(slice=cst.Index())]:
            return None
        case _:
            return _ANY


def _may_be_same(taken: object, key: object) -> bool:
    """Whether two keys may stand for one item, each as far as it is known."""
    return taken is None or taken is _ANY or key is _ANY or taken == key


def _asked_of(method: str, call: cst.Call, keys: _Keys) -> _Keys | None:
    """The keys of a number in what a method of the dict or list gives that holds it; None where it does not give it."""
    if method == "items":
        return (_ANY, 1, *keys[1:])
    if method in ("values", "copy"):
        return (_ANY, *keys[1:]) if method == "values" else keys
    if method in ("get", "pop") and call.args:
        asked = call.args[0].value
        same = not isinstance(asked, cst.SimpleString) or _may_be_same(asked.evaluated_value, keys[0])
        return keys[1:] if same else None
    return None


def _unpacked(target: cst.BaseExpression, keys: _Keys) -> Iterator[tuple[str, _Keys]]:
    """The names among the targets of a loop that hold a number, and the keys under which each does."""
    if isinstance(target, (cst.Tuple, cst.List)) and keys:
        for at, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement) or _may_be_same(at, keys[0]):
                yield from _unpacked(element.value, keys[1:])
    else:
        for name in target_names(target):
            yield name, keys


def _turns(source: SourceFile, loop: cst.For | cst.CompFor, name: str) -> cst.CSTNode:
    """Where a name that a loop binds means what the loop gives it: the loop, where all others bind it by themselves."""
    if isinstance(loop, cst.CompFor):
        around = source.parent(loop)
        while isinstance(around, cst.CompFor):
            around = source.parent(around)
        return around or loop
    scope = _scope(source, loop)
    reads = (
        node for node in walk(scope) if isinstance(node, cst.Name) and node.value == name and _is_read(source, node)
    )
    return loop if all(_is_bound_by_loop(source, node, name) for node in reads) else scope


def _is_bound_by_loop(source: SourceFile, node: cst.CSTNode, name: str) -> bool:
    """Whether a name is read in a loop over something else that binds it."""
    here: cst.CSTNode | None = source.parent(node)
    while here is not None and not isinstance(here, (cst.FunctionDef, cst.ClassDef, cst.Module)):
        if isinstance(here, cst.For) and name in target_names(here.target):
            return True
        if isinstance(here, cst.BaseComp) and name in target_names(here.for_in.target):
            return True
        here = source.parent(here)
    return False


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


def _definitions(source: SourceFile, name: str) -> Iterator[cst.FunctionDef | cst.ClassDef | cst.Call]:
    """The functions and methods of a name; of a class, its constructor, or the class where that has none.

    Of a named tuple, the call that makes its class.
    """
    for node in walk(source.module):
        if isinstance(node, cst.FunctionDef) and node.name.value == name:
            yield node
        elif isinstance(node, cst.ClassDef) and node.name.value == name:
            constructors = (each for each in node.body.body if isinstance(each, cst.FunctionDef))
            yield next((each for each in constructors if each.name.value == "__init__"), node)
        elif isinstance(node, cst.Assign) and isinstance(node.value, cst.Call):
            named = any(_name(target.target) == name for target in node.targets)
            if named and _fields(node.value):
                yield node.value


def _fields(node: cst.ClassDef | cst.Call) -> list[str]:
    """The fields of a dataclass, or of the named tuples of a class that is made by a call."""
    if isinstance(node, cst.Call):
        made_by = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        told = node.args[1].value if _name(made_by) == "namedtuple" and len(node.args) > 1 else None
        if isinstance(told, cst.SimpleString):
            return str(told.evaluated_value).replace(",", " ").split()
        texts = [each.value for each in told.elements] if isinstance(told, (cst.List, cst.Tuple)) else []
        return [str(each.evaluated_value) for each in texts if isinstance(each, cst.SimpleString)]
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
