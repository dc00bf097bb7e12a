"""Imports read from text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mplint.project.imports import Import, imports_of
from tests.source.corpus import keras_sources


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [Import("a")]),
        ("import a.b as c, d", [Import("a.b"), Import("d")]),
        ("from a.b import c as d, e", [Import("a.b", 0, ("c", "e"))]),
        ("from . import c", [Import("", 1, ("c",))]),
        ("from ...a import *", [Import("a", 3, ("*",))]),
        ("from.a import b", [Import("a", 1, ("b",))]),
        ("from a import (  # why (b)\n    b,  # noqa\n    c as d,\n)", [Import("a", 0, ("b", "c"))]),
        ("from a \\\n    import b, \\\n    c", [Import("a", 0, ("b", "c"))]),
        ("import a; import b", [Import("a"), Import("b")]),
        ("try: import a\nexcept ImportError: import b", [Import("a"), Import("b")]),
        ("def f():\n\timport a\n", [Import("a")]),
        ("'''\nimport a\n'''\n# import b\nx = 'import c'\n", []),
        ("important = 1\nfrom_a = 2\nimport_b = 3\n", []),
        ("raise E from error\nyield from a\n", []),
        ("m = importlib.import_module('a.b')\n__import__(\"c\")\nimport_module(name)\n", [Import("a.b"), Import("c")]),
        ("x = \"import_module('a')\"\n", []),
        ("print 'python 2'\nimport a\n", [Import("a")]),
        ("import a, (\n", [Import("a"), Import("(")]),
        (
            "if TYPE_CHECKING:\n    import a\n\n    from b import c\nelse:\n    import d\nimport e\n",
            [Import("d"), Import("e")],
        ),
        ("if typing.TYPE_CHECKING: import a\nimport b\n", [Import("b")]),
        ("def f():\n    if TYPE_CHECKING:\n        import a\n    import b\n", [Import("b")]),
        ("import a\nimport a\n", [Import("a")]),
        ("import a\r\nfrom b import (\r\n    c,\r\n)\r\n", [Import("a"), Import("b", 0, ("c",))]),
        ("", []),
    ],
)
def test_imports(text: str, expected: list[Import]) -> None:
    assert list(imports_of(text)) == expected


def by_syntax(path: Path) -> set[Import]:
    found: set[Import] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {Import(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(Import(node.module or "", node.level, tuple(alias.name for alias in node.names)))
    return found


def test_real_programs_agree_with_their_syntax() -> None:
    for path in keras_sources(5):
        text = path.read_text(encoding="utf-8")
        if "TYPE_CHECKING" not in text and "import_module" not in text:
            assert set(imports_of(text)) == by_syntax(path), path
