"""Functions that are given the optimizer, too: one more parameter, and what their calls pass for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, receivers, variables
from mplint.codemods.rewrite import Evidence
from mplint.codemods.tapes import Taken
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.loops import Step
from mplint.interpreter.values import Place
from mplint.interpreter.world import World


@dataclass(frozen=True)
class Handed:
    """A parameter for the optimizer, and what calls give for it."""

    name: str
    edits: tuple[Edit, ...]


def hand_on(evidence: Evidence, taken: Taken, alike: Sequence[tuple[World, Step]]) -> Handed | None:
    """Give the function that takes the gradient its optimizer, which its callers have.

    Where each of its calls is known, and nothing else names it.
    """
    source, function = taken.source, variables.function_of(taken.source, taken.call)
    if not isinstance(function, cst.FunctionDef) or not _takes_one_more(function):
        return None
    name = function.name.value
    sites: dict[Place, str] = {}
    for world, step in alike:
        context = step.gradient.context
        site = next(variables.callers(context), None) if context is not None else None
        found = (
            receivers.optimizer_in(world, step, site) if site is not None and _calls(site.place.node, name) else None
        )
        if site is None or found is None or sites.setdefault(site.place, found) != found:
            return None
    others = {place.source.path for place in sites if place.source is not source}
    named = evidence.count(source.path, re.compile(rb"\b%s\b" % re.escape(name.encode())))
    words = {text.rpartition(".")[2] for text in sites.values()}
    if named not in (1 + len(sites), 1 + len(sites) + len(others)) or len(words) != 1:
        return None
    word = words.pop()
    given = variables.free(source, taken.call, word if word.isidentifier() else "optimizer")
    parameters = function.params.params
    at = source.span(parameters[-1]).end if parameters else source.text.index("(", source.span(function.name).end) + 1
    edits = [Edit(source.path, Span(at, at), f", {given}" if parameters else given)]
    for place, text in sites.items():
        if isinstance(place.node, cst.Call):
            is_keyword = any(arg.keyword is not None for arg in place.node.args)
            edits.append(calls.added(place.source, place.node, [f"{given}={text}" if is_keyword else text]))
    return Handed(given, tuple(edits))


def _takes_one_more(function: cst.FunctionDef) -> bool:
    """Whether one more parameter can stand behind those of a function."""
    params = function.params
    plain = not isinstance(params.star_arg, cst.Param) and not params.kwonly_params and params.star_kwarg is None
    bare = all(isinstance(one.decorator, (cst.Name, cst.Attribute)) for one in function.decorators)
    return plain and bare and not any(param.default is not None for param in params.params)


def _calls(call: cst.CSTNode, name: str) -> bool:
    """Whether a call is one of a function by its name, with each argument written out."""
    if not isinstance(call, cst.Call) or any(arg.star for arg in call.args):
        return False
    return dotted(call.func).rpartition(".")[2] == name
