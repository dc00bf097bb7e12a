"""How one place of a program writes what another place has in a variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout
from mplint.interpreter.code import FunctionCode, dotted, target_names
from mplint.interpreter.frames import Context
from mplint.interpreter.values import Instance, Place
from mplint.interpreter.world import World
from mplint.source.file import SourceFile
from mplint.source.walk import names_in, walk

Scope = cst.FunctionDef | cst.Lambda | cst.Module
_FUNCTIONS: Final = (cst.FunctionDef, cst.Lambda)
_METHODS: Final = frozenset({"self", "cls"})


def is_plain(node: cst.CSTNode) -> bool:
    """Whether to read `node` again gives the same and does nothing: `optimizer`, `self.optimizers["d"]`."""
    match node:
        case cst.Name():
            return True
        case cst.Attribute(value=value):
            return is_plain(value)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return is_plain(value) and isinstance(index, (cst.SimpleString, cst.Integer, cst.Name))
        case _:
            return False


def root(node: cst.CSTNode) -> str:
    """The variable that a plain expression starts from."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def variables_in(node: cst.CSTNode) -> Iterator[str]:
    """The variables that a plain expression reads."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
            index = node.slice[0].slice.value
            yield from [index.value] if isinstance(index, cst.Name) else []
        node = node.value
    if isinstance(node, cst.Name):
        yield node.value


def function_of(source: SourceFile, node: cst.CSTNode) -> Scope:
    """The function in whose body `node` stands; else the module."""
    here = source.parent(node)
    while here is not None and not isinstance(here, _FUNCTIONS):
        here = source.parent(here)
    return here if isinstance(here, _FUNCTIONS) else source.module


def scope_of(source: SourceFile, node: cst.CSTNode, name: str) -> Scope:
    """Where the variable that `name` means at `node` lives."""
    scope = function_of(source, node)
    while isinstance(scope, _FUNCTIONS):
        if name in FunctionCode(scope, source, "").locals:
            return scope
        scope = function_of(source, scope)
    return scope


@dataclass(frozen=True)
class Spot:
    """A place of the program, and the context in which it was come to: what a parameter is there, its caller says."""

    place: Place
    context: Context

    @property
    def source(self) -> SourceFile:
        """The file."""
        return self.place.source


def written_at(world: World, value: Instance, expression: cst.BaseExpression, evaluated: Spot, at: Spot) -> str | None:
    """How `value`, that is the plain `expression` where it was `evaluated`, is written in the function of `at`."""
    if not is_plain(expression) or not root(expression):
        return None
    return (
        _above(world, value, expression, evaluated, at)
        or _global(world, value, at.place)
        or _below(world, value, expression, evaluated, at)
    )


def _above(world: World, value: Instance, expression: cst.BaseExpression, evaluated: Spot, at: Spot) -> str | None:
    """The same variable, or what was given for it in a call that leads to `evaluated`."""
    source, (*indices, name) = evaluated.source, variables_in(expression)
    if source is at.source and all(_is_same(source, expression, at.place.node, one) for one in (*indices, name)):
        return layout.code(source, expression)
    if indices:
        return None
    scope = scope_of(source, expression, name)
    for site in callers(evaluated.context) if isinstance(scope, cst.FunctionDef) else ():
        given = _argument(source, scope, name, site.place.node) if isinstance(scope, cst.FunctionDef) else None
        if given is not None and is_plain(given):
            found = written_at(world, value, given, site, at)
            return f"{found}{layout.code(source, expression)[len(name) :]}" if found is not None else None
    return None


def _below(world: World, value: Instance, expression: cst.BaseExpression, evaluated: Spot, at: Spot) -> str | None:
    """The parameter that a call which leads to `at` gives it for."""
    function = function_of(at.source, at.place.node)
    if not isinstance(function, cst.FunctionDef):
        return None
    for site in callers(at.context):
        given = {
            parameter.name: _argument(at.source, function, parameter.name, site.place.node)
            for parameter in FunctionCode(function, at.source, "").parameters
        }
        written = {name: layout.code(site.source, arg) for name, arg in given.items() if arg is not None}
        if not written:
            continue
        found = written_at(world, value, expression, evaluated, site)
        for name, text in written.items() if found is not None else ():
            is_it = found is not None and (found == text or found.startswith(f"{text}."))
            if found is not None and is_it and not binds(function.body, name):
                return f"{name}{found[len(text) :]}"
        return None
    return None


def _is_same(source: SourceFile, one: cst.CSTNode, other: cst.CSTNode, name: str) -> bool:
    """Whether `name` is the same variable at both nodes, or the object whose methods they stand in."""
    here, there = scope_of(source, one, name), scope_of(source, other, name)
    if here is there:
        return True
    if name not in _METHODS or not isinstance(here, cst.FunctionDef) or not isinstance(there, cst.FunctionDef):
        return False
    owner = source.enclosing(here, cst.ClassDef)
    return owner is not None and owner is source.enclosing(there, cst.ClassDef)


def callers(context: Context) -> Iterator[Spot]:
    """The calls that lead to `context`, the innermost first."""
    here: Context | None = context
    while here is not None and here.parent is not None:
        if here.site is not None and isinstance(here.site.node, cst.Call):
            yield Spot(here.site, here.parent)
        here = here.parent


def _argument(source: SourceFile, function: cst.FunctionDef, name: str, call: cst.CSTNode) -> cst.BaseExpression | None:
    """What a call of `function` by its name gives for the parameter `name`."""
    if not isinstance(call, cst.Call) or dotted(call.func).rpartition(".")[2] != function.name.value:
        return None
    code = FunctionCode(function, source, "")
    names = [parameter.name for parameter in code.parameters if parameter.kind.startswith("positional")]
    is_method = code.first in _METHODS and isinstance(call.func, cst.Attribute)
    if is_method and name == code.first and isinstance(call.func, cst.Attribute):
        return call.func.value
    if name not in names:
        found = calls.argument(call, name)
    else:
        found = calls.argument_at(call, name, names.index(name) - is_method)
    return found.value if found is not None else None


def _global(world: World, value: Instance, at: Place) -> str | None:
    """The variable of the module that holds `value`."""
    for name, held in world.module_bindings(at.source.path).items():
        if held == value and not name.startswith("@") and isinstance(scope_of(at.source, at.node, name), cst.Module):
            return name
    return None


def is_bound_between(source: SourceFile, expression: str, start: int, end: int) -> bool:
    """Whether a statement between two offsets gives a part of the plain `expression` another value."""
    read = set(variables_in(cst.parse_expression(expression)))
    for target in targets(source.module):
        if not start < source.span(target).start < end:
            continue
        written = layout.code(source, target)
        if read & set(target_names(target)) or f"{expression}.".startswith((f"{written}.", f"{written}[")):
            return True
    return False


def _target(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            return target
        case cst.For(target=target) | cst.CompFor(target=target) | cst.NamedExpr(target=target):
            return target
        case cst.AsName(name=name):
            return name
        case _:
            return None


def free(source: SourceFile, node: cst.CSTNode, wanted: str) -> str:
    """`wanted`, or with a number behind it, where the function around `node` has that name already."""
    taken = names_in(function_of(source, node))
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def targets(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What the statements in a piece of the program bind."""
    return (target for target in map(_target, walk(node)) if target is not None)


def binds(statement: cst.CSTNode, name: str) -> bool:
    """Whether a statement, or one in it, binds the variable `name`."""
    return any(name in target_names(target) for target in targets(statement))


def number_of_uses(node: cst.CSTNode, name: str) -> int:
    """How often the variable `name` stands in a piece of the program, to be read or bound."""
    return sum(1 for part in walk(node) if isinstance(part, cst.Name) and part.value == name)
