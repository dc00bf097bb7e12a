"""What a configuration file says, as far as that is sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.data import MAX_BYTES, UNSURE, read_data


def read(name: str, text: str) -> object:
    data = read_data(Path(name), text.encode())
    return None if data is None else (data.tree, data.whole)


@pytest.mark.parametrize(
    ("text", "tree", "whole"),
    [
        ("a: 1\nb: x y # z\nc: 'q: #'\n", {"a": 1, "b": "x y", "c": "q: #"}, True),
        ("---\na: true\nb: No\nc: ~\nd:\n", {"a": True, "b": False, "c": None, "d": None}, True),
        ("a: 1.5\nb: -2\n", {"a": 1.5, "b": -2}, True),
        ("a:\n  b:\n    c: x\n  d: y\ne: z\n", {"a": {"b": {"c": "x"}, "d": "y"}, "e": "z"}, True),
        ("a:\n- x\n- y: z\nb: 1\n", {"a": ["x", {"y": "z"}], "b": 1}, True),
        ("a:\n- 'y' : z\n- on: z\n- 1: z\n", {"a": [{"y": "z"}, UNSURE, UNSURE]}, True),
        ("a:\n  - x\n  -\n    y: z\n", {"a": ["x", UNSURE]}, True),
        ("a: [1, 2]\nb: {c: d}\ne: &f 1\ng: *f\nh: !x y\n", dict.fromkeys("abegh", UNSURE), True),
        ("a: |\n  b: c\nd: e\n", {"a": UNSURE, "d": "e"}, True),
        ("a: x\n  y\nb: z\n", {"a": UNSURE, "b": "z"}, True),
        ("a: 1e-8\nb: 012\nc: 2020-01-01\nd: 1:30\n", dict.fromkeys("abcd", UNSURE), True),
        ("a: ${b}\nc: '${b}'\nd: \"x\\n\"\n", dict.fromkeys("acd", UNSURE), True),
        ("a: x\n---\na: y\n", {"a": UNSURE}, False),
        ("a: 'x\nb: y'\nc: z\n", {}, False),
        ("a: x\nb: [1,\n  2]\nc: z\n", {"a": UNSURE}, False),
        ("a: x\n? b\n: c\n", {"a": "x"}, False),
        ("on: x\n1: y\na: z\n", {"a": "z"}, False),
        ("a:\n  1: x\n  b: y\n", {"a": UNSURE}, True),
    ],
)  # fmt: skip
def test_yaml(text: str, tree: dict[str, object], whole: bool) -> None:
    assert read("x.yaml", text) == (tree, whole)


@pytest.mark.parametrize(
    ("name", "text", "tree"),
    [
        ("x.json", '{"a": {"b": [1, "c"]}}', {"a": {"b": [1, "c"]}}),
        ("x.toml", 'a = "b"\n[c]\nd = 1\n', {"a": "b", "c": {"d": 1}}),
        ("x.ini", "[a]\nb = c %(d)s\n", {"a": {"b": "c %(d)s"}}),
        (".env", "A=b # c\nexport C='d # e' # f\n# E=f\nG=h $A\n", {"A": "b", "C": "d # e", "G": UNSURE}),
    ],
)
def test_other_files(name: str, text: str, tree: dict[str, object]) -> None:
    assert read(name, text) == (tree, True)


def test_bindings_of_gin() -> None:
    text = "import x\nP = 'half'\na.b = %P\ns/c.d.e = 2  # f\nh.i = @j()\nk.l = [\n  1]\nm.n = True\n# o.p = 1\n"
    tree = {"P": "half", "a.b": "half", "c.d.e": 2, "h.i": UNSURE, "k.l": UNSURE, "m.n": True}
    assert read("x.gin", text) == (tree, False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", "["),
        ("x.json", "[1]"),
        ("x.json", "[" * 100_000),
        ("x.toml", "a = "),
        ("x.ini", "a = b"),
        ("x.yaml", "- a\n- b\n"),
        ("x.txt", "a: b"),
        ("x.json", " " * MAX_BYTES + "{}"),
    ],
)
def test_what_cannot_be_read(name: str, text: str) -> None:
    assert read(name, text) is None


def test_bytes_that_are_no_text() -> None:
    assert read_data(Path("x.yaml"), b"\xff\xfe\x00") is None
