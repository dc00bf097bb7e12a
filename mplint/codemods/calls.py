"""Edits on one call: add, replace or remove an argument, and keep everything else as it stands."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from mplint.findings import Edit, Span
from mplint.source.file import SourceFile


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The keyword argument `name`."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def argument_at(call: cst.Call, name: str, position: int) -> cst.Arg | None:
    """The argument `name`, whether given by keyword or at `position`."""
    found = argument(call, name)
    if found is not None:
        return found
    for index, arg in enumerate(call.args):
        if arg.star or arg.keyword is not None:
            return None
        if index == position:
            return arg
    return None


def has_star(call: cst.Call, star: str) -> bool:
    """Whether the call passes `*…` (or `**…`)."""
    return any(arg.star == star for arg in call.args)


def code(source: SourceFile, node: cst.CSTNode) -> str:
    """The text of `node`, its parentheses included."""
    span = source.span(node, parentheses=True)
    return source.text[span.start : span.end]


def insertion_point(source: SourceFile, call: cst.Call) -> int:
    """The offset behind the last argument (and before its trailing comma), or inside the empty parentheses."""
    plain = [arg for arg in call.args if arg.star != "**"]
    if plain:
        return source.span(plain[-1]).end
    if call.args:  # only **keywords: in front of them
        return source.span(call.args[0]).start
    return source.span(call).end - 1


def added(source: SourceFile, call: cst.Call, arguments: Sequence[str]) -> str:
    """The text that adds `arguments` at `insertion_point`, laid out as the call is."""
    plain = [arg for arg in call.args if arg.star != "**"]
    if not plain:
        return ", ".join(arguments) + (", " if call.args else "")
    separator = ", "
    last = source.span(plain[-1])
    start = source.text.rfind("\n", 0, last.start) + 1
    if len(plain) > 1:
        between = source.text[source.span(plain[-2]).end : last.start]
    else:
        between = source.text[source.span(call.func, parentheses=True).end : last.start]
    if "\n" in between and not source.text[start : last.start].strip():
        separator = "," + newline(source) + source.text[start : last.start]
    return "".join(separator + argument for argument in arguments)


def newline(source: SourceFile) -> str:
    """The file's own line ending."""
    first = source.text.find("\n")
    return "\r\n" if first > 0 and source.text[first - 1] == "\r" else "\n"


def set_argument(source: SourceFile, call: cst.Call, name: str, value: str) -> Edit:
    """Give the call `name=value`: its present value is replaced, else the argument is added."""
    present = argument(call, name)
    if present is not None:
        return Edit(source.path, source.span(present.value, parentheses=True), value)
    at = insertion_point(source, call)
    return Edit(source.path, Span(at, at), added(source, call, [f"{name}={value}"]))


def without(source: SourceFile, call: cst.Call, gone: Sequence[cst.Arg]) -> list[Edit]:
    """Edits that take the arguments `gone` out of the call, each with one comma beside it; comments stay."""
    edits: list[Edit] = []
    args = list(call.args)
    kept = [arg for arg in args if arg not in gone]
    for arg in gone:
        index = args.index(arg)
        here = source.span(arg)
        later = next((other for other in args[index + 1 :] if other in kept), None)
        if later is not None:
            following = source.span(args[index + 1]).start
            between = source.text[here.end : following]
            end = following if "#" not in between else here.end + between.index(",") + 1
            edits.append(Edit(source.path, Span(here.start, end), ""))
        elif index > 0:
            before = source.span(args[index - 1]).end
            between = source.text[before : here.start]
            start = before if "#" not in between else here.start
            end = here.end
            if start == here.start:  # the comma of the one before stays as a trailing comma; ours goes
                tail = source.text[here.end :]
                end += len(tail) - len(tail.lstrip(" ,")) if tail.lstrip(" ").startswith(",") else 0
            edits.append(Edit(source.path, Span(start, end), ""))
        else:
            tail = source.text[here.end : source.span(call).end - 1]
            end = here.end + (tail.index(",") + 1 if "," in tail.partition("#")[0] else 0)
            edits.append(Edit(source.path, Span(here.start, end), ""))
    return edits


def quoted(source: SourceFile, text: str) -> str:
    """`text` as a string literal in the quotes that the file uses."""
    quote = "'" if source.text.count("'") > source.text.count('"') else '"'
    return f"{quote}{text}{quote}"
