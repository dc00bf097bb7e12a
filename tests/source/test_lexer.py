"""Strings and comments, compared with Python's tokenizer."""

from __future__ import annotations

import io
import re
import sys
import time
import tokenize

import pytest

from mplint.source.lexer import Kind, strings_and_comments
from tests.source.corpus import keras_sources


def pieces(text: str) -> list[str]:
    return [text[start:end] for _, start, end in strings_and_comments(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", []),
        ("x = 'a' # b", ["'a'", "# b"]),
        ("# 'a'\n'# b'\n", ["# 'a'", "'# b'"]),
        ('"""a\n"b" # c\n""" # d', ['"""a\n"b" # c\n"""', "# d"]),
        (r"'a\'# b' # c", [r"'a\'# b'", "# c"]),
        (r"r'a\' # b' # c", [r"'a\' # b'", "# c"]),
        ("'a\\\r\nb' # c", ["'a\\\r\nb'", "# c"]),
        ("'' '' # a", ["''", "''", "# a"]),
        ("'unclosed # a\n# b", ["'unclosed # a", "# b"]),
        ('"""unclosed # a\n# b', ['"""unclosed # a\n# b']),
        ("f'{x:#06x}' # a", ["'{x:#06x}'", "# a"]),
        ("f'{x!r:#>{n}}' # a", ["'{x!r:#>{n}}'", "# a"]),
        ("f'{{#}}' # a", ["'{{#}}'", "# a"]),
        ("f'{x[\"#\"]}' # a", ["'{x[\"#\"]}'", "# a"]),
        ("f'{x['#']}' # a", ["'{x['#']}'", "# a"]),
        ("f'{f'{f'#'}'}' # a", ["'{f'{f'#'}'}'", "# a"]),
        ("rf'\\{x}' # a", ["'\\{x}'", "# a"]),
        ("f'\\N{NUMBER SIGN}' # a", ["'\\N{NUMBER SIGN}'", "# a"]),
        ('f"""{x # b\n}""" # a', ['"""{x # b\n}"""', "# a"]),
        ("f'{x:%H:%M}' # a", ["'{x:%H:%M}'", "# a"]),
        ("f'{ {1: 2}[1] }' # a", ["'{ {1: 2}[1] }'", "# a"]),
        ("f'{a != b}' # a", ["'{a != b}'", "# a"]),
        ("f'unclosed {x}\n# a", ["'unclosed {x}", "# a"]),
        ("t'{x}' # a", ["'{x}'", "# a"]),
        ("if'a':pass # b", ["'a'", "# b"]),
    ],
)
def test_strings_and_comments(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_kinds() -> None:
    assert [kind for kind, _, _ in strings_and_comments("'a' F'b' # c")] == [
        Kind.STRING,
        Kind.FORMATTED,
        Kind.COMMENT,
    ]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tokenize takes f-strings apart")
def test_real_programs_agree_with_tokenize() -> None:
    for path in keras_sources(10):
        text = path.read_text(encoding="utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        expected = [
            re.sub(r"^[A-Za-z]+", "", token.string)
            for token in tokens
            if token.type in (tokenize.STRING, tokenize.COMMENT)
        ]
        assert pieces(text) == expected, path


@pytest.mark.parametrize(
    "hostile",
    ["'" * 200_001, '"' * 200_000, "f'{" * 60_000, "\\" * 200_000, "f'" + "{{" * 100_000, "'''" + "\\'" * 100_000],
    ids=range(6),
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    start = time.process_time()
    list(strings_and_comments(hostile))
    assert time.process_time() - start < 5
