"""Edits on one call: add, replace or remove an argument, and keep everything else as it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from mplint.codemods.layout import comments_in, indentation, line_start, newline, separator
from mplint.findings import Edit, Span
from mplint.keras_api import parameters
from mplint.source.file import SourceFile
from mplint.source.lexer import Kind, strings_and_comments

_LINE_END: Final = re.compile(r"[ \t]*\\?(?:\r\n?|\n)")
_TAIL: Final = re.compile(r"[ \t]*(?P<comma>,)?(?:[ \t]*(?P<comment>#[^\r\n]*))?")
"""What may follow an item on its line: a comma, a comment."""
_LEADING: Final = re.compile(r"(?<=[\r\n])[ \t]*,[ \t]*$")
"""A comma in front of the item on a line."""


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The keyword argument `name`."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def argument_of(call: cst.Call, path: str, name: str, generation: str) -> cst.Arg | None:
    """The argument for the parameter `name` of what the library has at `path`, by keyword or by its position."""
    parameter_names = [parameter.name for parameter in parameters(path, generation) or ()]
    if name not in parameter_names:
        return argument(call, name)
    return argument_at(call, name, parameter_names.index(name))


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


def added(source: SourceFile, call: cst.Call, arguments: Sequence[str]) -> Edit:
    """The edit that adds `arguments` to the call, laid out as it is; what `**` passes stays last."""
    plain = [source.span(arg) for arg in call.args if arg.star != "**"]
    if plain:
        return appended(source, plain, _opening(source, call), arguments)
    if not call.args:
        at = _opening(source, call)
        return Edit(source.path, Span(at, at), ", ".join(arguments))
    at = source.span(call.args[0]).start
    between = separator(source, at)
    return Edit(source.path, Span(at, at), "".join(f"{argument}{between}" for argument in arguments))


def appended(source: SourceFile, items: Sequence[Span], opening: int, more: Sequence[str]) -> Edit:
    """The edit that adds `more` behind the last of the comma-separated `items`, laid out as they are.

    `opening` is the offset behind the bracket.  Where the last item has a line to itself so have the new ones; the
    comment behind it stays with it.
    """
    text, last = source.text, items[-1]
    before = text[items[-2].end if len(items) > 1 else opening : last.start]
    tail = _TAIL.match(text, last.end)
    assert tail is not None  # it matches nothing, too
    line = line_start(source, last.start)
    leading = _LEADING.search(before)
    if leading is not None and not tail["comma"]:  # the comma stands in front
        content = "".join(f"{newline(source, last.start)}{leading[0]}{item}" for item in more)
        return Edit(source.path, Span(tail.end(), tail.end()), content)
    if line < opening or text[line : last.start].strip():
        return Edit(source.path, Span(last.end, last.end), "".join(f", {item}" for item in more))
    start = newline(source, last.start) + indentation(source, last.start)
    content = f",{start}".join(("", *more))
    if not tail["comment"]:
        return Edit(source.path, Span(last.end, last.end), content)
    if tail["comma"]:
        return Edit(source.path, Span(tail.end(), tail.end()), f"{content[1:]},")
    return Edit(source.path, Span(last.end, tail.end()), f",{text[last.end : tail.end()]}{content[1:]}")


def set_argument(source: SourceFile, call: cst.Call, name: str, value: str) -> Edit:
    """Give the call `name=value`: its present value is replaced, else the argument is added."""
    present = argument(call, name)
    if present is None:
        return added(source, call, [f"{name}={value}"])
    outer, inner = source.span(present.value, parentheses=True), source.span(present.value)
    if not comments_in(source.text[outer.start : outer.end]):
        return Edit(source.path, outer, value)
    comments = comments_in(source.text[inner.start : inner.end])
    return Edit(source.path, inner, value + "".join(f"  {comment}{newline(source, inner.end)}" for comment in comments))


def left_out(source: SourceFile, call: cst.Call, gone: cst.Arg) -> list[Edit] | None:
    """The edits that take the argument `gone` out of the call; None where a comment would go, too."""
    edits, comments = without(source, call, gone)
    return None if comments else edits


def without(source: SourceFile, call: cst.Call, gone: cst.Arg) -> tuple[list[Edit], list[str]]:
    """Edits that take the argument `gone` out of the call with one comma, and the comments that go with it.

    Only an argument that has its lines to itself takes comments along: the one behind it and those right above.
    """
    text, here = source.text, source.span(gone)
    index = list(call.args).index(gone)
    previous = source.span(call.args[index - 1]) if index > 0 else None
    following = source.span(call.args[index + 1]) if index + 1 < len(call.args) else None
    opening = previous.end if previous is not None else _opening(source, call)
    before = text[opening : here.start]
    tail = _TAIL.match(text, here.end)
    assert tail is not None  # it matches nothing, too
    line = line_start(source, here.start)
    newline_behind = _LINE_END.match(text, tail.end())
    comma_before = opening + _comma(before) if previous is not None and "," in before else None
    if newline_behind is not None and line > opening and not text[line : here.start].strip(" \t\f,"):
        above = _comments_above(source, opening, line)
        start = above[0][0] if above else line
        edits = [Edit(source.path, Span(start, newline_behind.end()), "")]
        if not tail["comma"] and following is None and comma_before is not None and comma_before < start:
            edits.append(Edit(source.path, Span(comma_before, comma_before + 1), ""))
        return edits, [*(comment for _, comment in above), *([tail["comment"]] if tail["comment"] else [])]
    if previous is not None and not comments_in(before) and (following is None or newline_behind is not None):
        return [Edit(source.path, Span(previous.end, here.end), "")], []
    end = tail.end("comma") if tail["comma"] else here.end
    space = 0 if tail["comment"] else len(text[end:]) - len(text[end:].lstrip(" \t"))
    return [Edit(source.path, Span(here.start, end + space), "")], []


def _opening(source: SourceFile, call: cst.Call) -> int:
    """The offset behind the opening parenthesis."""
    space = cst.Module([]).code_for_node(call.whitespace_after_func)
    return source.span(call.func, parentheses=True).end + len(space) + 1


def _comma(text: str) -> int:
    """The offset of the first comma that stands in no comment."""
    comments = [(start, end) for kind, start, end in strings_and_comments(text) if kind is Kind.COMMENT]
    return next(
        match.start()
        for match in re.finditer(",", text)
        if not any(start <= match.start() < end for start, end in comments)
    )


def _comments_above(source: SourceFile, start: int, end: int) -> list[tuple[int, str]]:
    """The comments on lines of their own right above `end`, back to `start`, and where their lines start."""
    found: list[tuple[int, str]] = []
    while end > start and (line := line_start(source, end - 1)) > start:
        content = source.text[line:end].strip()
        if not content.startswith("#"):
            break
        found.insert(0, (line, content))
        end = line
    return found
