"""SourceFile: decoding, parsing, positions."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from mplint.findings import Span
from mplint.source.file import ParseFault, SourceError, SourceFile
from mplint.source.walk import walk
from tests.source.corpus import keras_sources

PATH = Path("/project/model.py")

EVERYTHING = '''\
#!/usr/bin/env python
"""Docstring."""
from __future__ import annotations
import os, sys as system
from . import (a, b as c,)
from .. import *


@decorator
@other.decorator(1, *args, key=2, **options)  # why
class Model(Base, metaclass=Meta):
    x: int = 1

    async def call(self, a, /, b=(1), *, c: int = 2, **rest) -> "Tensor":
        # a comment
        async with one as two, three:
            await ((two))
        async for i in range(3): yield i
        return  (  a  +  b ) * -c ** 2


def f[T: int](*args: T, default=lambda x, *y: (x, y)):
    if (n := len(args)) > 1 and not default or n: pass
    elif n: return [i for i in args if i if not i], {i: j for i, j in args}, {*args}
    else:
        del args[0], args[1:2:3, ...], args[::]
    while True:
        try:
            raise ValueError("x" 'y' f"{n!r:>{width}} {n=}") from None
        except (A, B) as error:
            continue
        except:
            break
        else: pass
        finally:
            global g; nonlocal_ = 1
    try: pass
    except* Group: pass
    for (x), y in z: assert x, "no"
    else:
        x += 1; y @= 2; (z) = w = 3
    match (command, 1):
        case [Point(x=0, y=0), *_] if x: pass
        case {"a": 1, **rest} | (None as q): pass
        case -1 + 2j | "a" "b": pass
    with (open(a) as b, open(c) as d,):
        print(x if y else z, a < b <= c is not d not in e, ..., 1_0, 0x1f, 1e3, 1j, b"", not a)
    type Alias[*Ts] = dict[str, int]
    (yield), (yield from x)
\t# an odd comment
'''


def source(text: str) -> SourceFile:
    return SourceFile(PATH, text)


def shown(file: SourceFile, span: Span) -> str:
    return file.text[span.start : span.end]


def only(file: SourceFile, kind: type[cst.CSTNode], at: int = 0) -> cst.CSTNode:
    return [node for node in walk(file.module) if isinstance(node, kind)][at]


def named(file: SourceFile, name: str) -> cst.CSTNode:
    return next(node for node in walk(file.module) if isinstance(node, cst.Name) and node.value == name)


# Bytes


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        (b"", "", "utf-8"),
        (codecs.BOM_UTF8 + "é = 1".encode(), "é = 1", "utf-8"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\n", "# coding: utf-8\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso-8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, "cp1252"),
        (b"x = 1\r\ny = 2\rz = 3\n", "x = 1\r\ny = 2\rz = 3\n", "utf-8"),
    ],
)
def test_bytes_are_decoded_as_python_does_and_come_back_the_same(data: bytes, text: str | None, encoding: str) -> None:
    file = SourceFile.from_bytes(PATH, data)
    assert file.encoding == encoding
    assert text is None or file.text == text
    assert file.encode(file.text) == data


@pytest.mark.parametrize(
    ("data", "says", "place"),
    [
        (b"x = 1\n\ny = '\xe9'\n", "byte 0xe9 at 3:6 is not utf-8", (3, 6)),
        (b"# coding: ascii\n\xc3\xa9", "byte 0xc3 at 2:1 is not ascii", (2, 1)),
        (b"# coding: klingon\n", "an encoding that Python does not have", (1, 1)),
        (b"# coding: hex\n00\n", "cannot be decoded as hex", (1, 1)),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "declares another encoding", (1, 1)),
        ("x = 1".encode("utf-16"), "is UTF-16", (1, 1)),
    ],
)
def test_what_cannot_be_decoded_says_where_and_what_to_do(data: bytes, says: str, place: tuple[int, int]) -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.from_bytes(PATH, data)
    assert says in str(caught.value)
    assert str(PATH) in str(caught.value)
    assert "UTF-8" in str(caught.value)
    assert (caught.value.row, caught.value.column) == place


def test_a_character_that_the_encoding_lacks_is_refused() -> None:
    file = SourceFile.from_bytes(PATH, b"# coding: latin-1\n")
    with pytest.raises(SourceError, match="'€' cannot be written in iso-8859-1"):
        file.encode("x = '€'")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    for path, says in [
        (pipe, "not a regular file"),
        (tmp_path, "is a directory"),
        (tmp_path / "none.py", "does not exist"),
        (loop, "cannot be read"),
        (tmp_path / "nul\0.py", "no valid path"),
    ]:
        with pytest.raises(SourceError, match=says):
            SourceFile.read(path)


def test_a_file_without_permission_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.py"
    path.write_text("x = 1\n")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root, who may run the tests, reads everything
    with pytest.raises(SourceError, match="may not be read"):
        SourceFile.read(path)


def test_the_path_is_absolute_and_keeps_its_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("real.py")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert SourceFile.read(Path("sub/../link.py")).path == tmp_path / "link.py"


# Parsing


def test_the_tree_is_parsed_once() -> None:
    file = source("x = 1\n")
    assert file.module is file.module


@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        ("x = (1,\n", "'(' was never closed", (1, 5)),
        ("def f():\nx = 1\n", "expected an indented block", (2, 1)),
        ("print 'x'\n", "Missing parentheses", (1, 1)),
        ("x = 1\n\0", "null bytes", (2, 1)),
        ("x = '\udc80'\n", "lone surrogates", (1, 6)),
        ("x = " + "(" * 300 + ")" * 300, "nested too deeply", (1, 205)),
        ("(" * 100_000, "nested too deeply", (1, 201)),
        ("x = " + "not " * 100_000 + "y", "nested too deeply", (1, 23_997)),
        ("f(" + "-" * 50_000 + "y)", "nested too deeply", None),
        ("x = 1" + " +\\\n 1" * 50_000, "nested too deeply", None),
        ("if x: pass\n" + "elif x: pass\n" * 50_000, "nested too deeply", None),
        ("x" + ".y" * 50_000, "nested too deeply", None),
        ("match x:\n case " + "[" * 30 + "]" * 30 + ": pass\n", "nested too deeply", (2, 15)),
        ("f'" + "{f'" * 30_000, "", None),
    ],
    ids=range(14),
)
def test_what_does_not_parse_is_a_fault_with_a_place(text: str, says: str, place: tuple[int, int] | None) -> None:
    file = source(text)
    with pytest.raises(ParseFault) as caught:
        _ = file.module
    assert says in caught.value.syntax.message
    assert place is None or (caught.value.syntax.row, caught.value.syntax.column) == place
    with pytest.raises(ParseFault) as again:
        _ = file.module
    assert again.value is caught.value


@pytest.mark.parametrize(
    "text",
    [
        "x = (" + "'a'\n" * 2500 + ")\n",
        "if x: pass\n" + "elif x: pass\n" * 2500,
        "x = 1" + " + 1" * 2500,
        "x = f" + ".g()" * 800,
        "x = " + "[" * 199 + "]" * 199,
        "x = [" + "[1, 2, 3],\n" * 20_000 + "]\n",
        "x = {" + "'key': f(1) + 2,\n" * 5000 + "}\n",
    ],
    ids=["strings", "elif", "sum", "calls", "brackets", "rows", "mapping"],
)
def test_what_python_accepts_is_parsed_and_placed_however_long(text: str) -> None:
    file = source(text)
    assert file.span(file.module).end == len(text)
    assert file.span(file.module.body[0]).start == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# only a comment",
        "x = 1",
        "x = 1  # no newline at the end",
        "if x:\n\ty = 1\n\tz = 2",
        "if x:\r\n    y = 1\r\n# end",
        "x = 1\r\ny = 2\nz = 3\rw = 4\n",
        "x = 1\ry = (2,\r3)\r",
        "\fx = 1\n\f\nclass A:\n    \f    y = 1 \f + 2\n\f    z = 3\n",
        "x = '''\f\n\f'''\n\f# \f\ny = 1\n",
        "def f():\n    pass\n    # deep\n  # shallow\n",
        "x = 1\n   \n\t\n",
        "x = (1 +\\\n\n2)\n",
        "if x:\n    y\n\\\n\n",
        "a; b;\n",
    ],
)
def test_offsets_count_in_the_text_whatever_its_whitespace(text: str) -> None:
    file = source(text)
    assert file.span(file.module) == Span(0, len(text))
    for node in walk(file.module):
        if isinstance(node, (cst.Name, cst.Integer)):
            assert shown(file, file.span(node)) == node.value


# Positions


def assert_same_as_provider(file: SourceFile) -> None:
    positions = MetadataWrapper(file.module, unsafe_skip_copy=True).resolve(PositionProvider)
    assert positions
    for node, expected in positions.items():
        span = file.span(node)
        (row, column), (end_row, end_column) = file.position(span.start), file.position(span.end)
        assert (row, column - 1) == (expected.start.line, expected.start.column), node
        assert (end_row, end_column - 1) == (expected.end.line, expected.end.column), node


def assert_parents_hold(file: SourceFile) -> None:
    waiting: list[cst.CSTNode] = [file.module]
    assert file.parent(file.module) is None
    while waiting:
        node = waiting.pop()
        for child in node.children:
            assert file.parent(child) is node
            waiting.append(child)


def test_spans_of_every_kind_of_node_are_libcsts() -> None:
    file = source(EVERYTHING)
    assert_same_as_provider(file)
    assert_parents_hold(file)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_spans_do_not_depend_on_newlines(newline: str) -> None:
    plain, other = source(EVERYTHING), source(EVERYTHING.replace("\n", newline))
    for left, right in zip(walk(plain.module), walk(other.module), strict=True):
        assert plain.position(plain.span(left).start) == other.position(other.span(right).start)


def test_spans_of_real_programs_are_libcsts() -> None:
    for path in keras_sources(60):
        file = SourceFile.read(path)
        assert_same_as_provider(file)
        assert_parents_hold(file)


def test_a_span_has_no_parentheses_of_its_own_unless_asked() -> None:
    file = source("y = ( (x + 1) )\n")
    node = only(file, cst.BinaryOperation)
    assert shown(file, file.span(node)) == "x + 1"
    assert shown(file, file.span(node, parentheses=True)) == "( (x + 1) )"
    assert shown(file, file.span(named(file, "x"), parentheses=True)) == "x"


def test_brackets_that_are_syntax_always_belong_to_the_span() -> None:
    file = source("from a import (b)\nclass C(D): pass\nwith (e): pass\nf = ()\n")
    kinds: list[tuple[type[cst.CSTNode], str]] = [
        (cst.ImportFrom, "from a import (b)"),
        (cst.ClassDef, "class C(D): pass"),
        (cst.With, "with (e): pass"),
    ]
    for kind, text in kinds:
        assert shown(file, file.span(only(file, kind), parentheses=True)) == text
    assert shown(file, file.span(only(file, cst.Tuple), parentheses=True)) == "()"


def test_a_node_of_another_tree_is_refused() -> None:
    file = source("x = 1\n")
    with pytest.raises(ValueError, match="Name is not a node of"):
        file.span(cst.Name("x"))
    with pytest.raises(ValueError, match="is not a node of"):
        file.parent(cst.Name("x"))


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("simple", "simple = f(\n    1,\n)"),
        ("first", "first; second"),
        ("second", "first; second"),
        ("Base", "class A(\n    Base,\n):"),
        ("decorator", "@decorator(\n    1)"),
        ("argument", "def f(argument=(\n        1)) -> None:"),
        ("condition", "if condition:"),
        ("alternative", "elif alternative :"),
        ("suite", "suite(); more()"),
        ("more", "suite(); more()"),
        ("caught", "except caught as error:"),
        ("item", "for item in items:"),
        ("manager", "with manager as m, \\\n        other:"),
        ("subject", "match ((subject)) :"),
        ("pattern", "case [pattern] if {1: guard}:"),
        ("guard", "case [pattern] if {1: guard}:"),
        ("looped", "while (\n    looped\n):"),
        ("spread", "async with spread:"),
    ],
)
def test_a_statement_is_the_logical_line(name: str, statement: str) -> None:
    file = source(
        """\
simple = f(
    1,
)  # noqa
first; second  # here
class A(
    Base,
):  # colon
    @decorator(
    1)  # decorated
    def f(argument=(
        1)) -> None:

        if condition: pass
        elif alternative : suite(); more()
        try: pass
        except caught as error:
            for item in items:
                with manager as m, \\
        other: pass
        match ((subject)) :
            case [pattern] if {1: guard}: pass
        while (
    looped
): pass
async def g():
    async with spread: pass
"""
    )
    assert shown(file, file.statement(named(file, name))) == statement


def test_clauses_without_an_expression_are_statements_too() -> None:
    file = source("try:  # a\n    pass\nfinally  :  # b\n    pass\nfor i in x: pass\nelse: pass\n# end\n")
    assert shown(file, file.statement(only(file, cst.Try))) == "try:"
    assert shown(file, file.statement(only(file, cst.Finally))) == "finally  :"
    assert shown(file, file.statement(only(file, cst.Else))) == "else:"
    assert shown(file, file.statement(file.module)) == file.text
    comment = file.module.footer[0]
    assert shown(file, file.statement(comment)) == shown(file, file.span(comment))


def test_rows_are_pythons_lines() -> None:
    file = source("a\r\nb\x0c\u2028\x85c\rd\n\ne")
    assert [file.line(row) for row in range(8)] == ["", "a", "b\x0c\u2028\x85c", "d", "", "e", "", ""]
    assert file.position(0) == (1, 1)
    assert file.position(3) == (2, 1)
    assert file.position(file.text.index("c")) == (2, 5)
    assert file.position(len(file.text)) == (5, 2)


def test_suppressions_of_a_file_that_does_not_parse() -> None:
    assert source("x = (  # noqa: MP101\n").suppressions.silencing("MP101", 1, 1)
