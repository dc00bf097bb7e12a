"""Expressions of a wanted kind, over the variables in scope."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator.language.author import BOOL, FLOAT, INT, INTS, MAPPING, PAIR, TEXT, TEXTS, Author

WORDS = ("relu", "mixed_float16", "float32", "adam", "a", "b", "units", "Dense_1", " x ", "")
KEYS = ("a", "b", "units", "rate", "name")


def expression(a: Author, kind: str, depth: int = 2) -> str:
    """A new expression of a kind."""
    names = a.names[kind]
    if names and a.chance(0.45):
        return a.pick(names[::-1])
    if depth <= 0 or a.chance(0.2):
        return _LITERALS[kind](a)
    return a.choices.weighted(_COMPOUND[kind])(a, depth - 1)


def literal(a: Author, kind: str) -> str:
    """A display of constants."""
    return _LITERALS[kind](a)


def _int(a: Author) -> str:
    return a.pick(("0", "1", "2", "3", "7", "-1", "16", "100"))


def _pairs(a: Author) -> str:
    return ", ".join(f'"{key}": {_int(a)}' for key in a.choices.shuffled(KEYS)[: a.choices.below(4)])


_LITERALS: dict[str, Callable[[Author], str]] = {
    INT: _int,
    FLOAT: lambda a: a.pick(("0.5", "1.0", "2.5", "-0.25", "1e-3")),
    TEXT: lambda a: repr(a.pick(WORDS)),
    BOOL: lambda a: a.pick(("True", "False")),
    INTS: lambda a: f"[{', '.join(_int(a) for _ in range(a.choices.below(5)))}]",
    TEXTS: lambda a: f"[{', '.join(repr(a.pick(WORDS)) for _ in range(a.choices.below(4)))}]",
    MAPPING: lambda a: f"{{{_pairs(a)}}}",
    PAIR: lambda a: f"({_int(a)}, {_int(a)})",
}


def _filled(*templates: str) -> Callable[[Author, int], str]:
    """One of some templates, whose braces name the kinds that stand there."""
    return lambda a, depth: _fill(a, a.pick(templates), depth)


def _fill(a: Author, template: str, depth: int) -> str:
    text = template
    for mark, kind in _MARKS.items():
        while mark in text:
            text = text.replace(mark, expression(a, kind, depth), 1)
    return text


_MARKS = {
    "<i>": INT, "<f>": FLOAT, "<s>": TEXT, "<b>": BOOL, "<is>": INTS, "<ss>": TEXTS, "<d>": MAPPING, "<p>": PAIR,
}  # fmt: skip


def fill(a: Author, template: str) -> str:
    """A template with expressions for `<i>`, `<f>`, `<s>`, `<b>`, `<is>`, `<ss>`, `<d>` and `<p>`."""
    return _fill(a, template, 2)


def one_of(a: Author, *templates: str) -> str:
    """One of some templates, filled."""
    return fill(a, a.pick(templates))


def _called(a: Author, depth: int) -> str:
    return f"{a.pick(a.functions)}({expression(a, INT, depth)})" if a.functions else expression(a, INT, depth)


def _lookup(a: Author, depth: int) -> str:
    return f'{expression(a, MAPPING, depth)}.get("{a.pick(KEYS)}", {expression(a, INT, depth)})'


_COMPOUND: dict[str, list[tuple[int, Callable[[Author, int], str]]]] = {
    INT: [
        (4, _filled("(<i> + <i>)", "(<i> - <i>)", "(<i> * <i> % 97)", "(<i> // 3)", "(<i> % 7)", "-(<i>)", "abs(<i>)")),
        (
            2,
            _filled(
                "(<i> & 15)", "(<i> | 1)", "(<i> ^ 3)", "(<i> << 2) % 1000", "~<i>", "(<i> >> 1)", "divmod(<i>, 4)[1]"
            ),
        ),
        (
            2,
            _filled("len(<s>)", "len(<is>)", "len(<d>)", "len(<ss>)", "int(<f>)", "int(<b>)", "round(<f>)", "ord('a')"),
        ),
        (
            2,
            _filled(
                "sum(<is>)", "max(<is>, default=0)", "min([*<is>, <i>])", "max(<i>, <i>)", "min(<p>)", "sum(<is>, <i>)"
            ),
        ),
        (2, _filled("(<i> if <b> else <i>)", "(<i> or <i>)", "(<i> and <i>)", "<s>.count('a')", "<s>.find('e')")),
        (
            2,
            _filled(
                "<p>[0]",
                "<p>[-1]",
                "[*<is>, <i>][0]",
                "(<is> or [4])[-1]",
                "sorted(<d>.values() or [3])[0]",
                "(*<p>, <i>)[1]",
            ),
        ),
        (1, _filled("(lambda x, y=<i>: x + y)(<i>)", "next(iter(<is>), <i>)", "next((n for n in <is> if n > 1), 5)")),
        (1, _filled("sum(n for n in <is> if n % 2)", "len([n for n in range(5) if n > <i>])", "sum(map(abs, <is>))")),
        (
            1,
            _filled(
                "len(set(<is>))",
                "len(list(zip(<is>, <ss>)))",
                "int('%d' % <i>)",
                "int(str(<i>))",
                "sum(range(<i> % 5))",
            ),
        ),
        (
            1,
            _filled(
                "<is>.count(<i>)",
                "len(<s>.split('_'))",
                "[1, 2, 3].index(2)",
                "(1, 2).count(<i>)",
                "len({*<is>, *<p>})",
            ),
        ),
        (2, _lookup),
        (2, _called),
    ],
    FLOAT: [
        (2, _filled("(<f> + <i>)", "(<f> * 2)", "(<i> / 4)", "(<f> - <f>)", "abs(<f>)", "float(<i>)", "<i> * 0.5")),
        (
            1,
            _filled(
                "round(<f>, 2)", "max(<f>, <f>)", "(<f> if <b> else <f>)", "float('1.5')", "min(<f>, 1.0)", "<f> / 3"
            ),
        ),
    ],
    TEXT: [
        (
            3,
            _filled("(<s> + <s>)", "<s>.upper()", "<s>.lower()", "<s>.strip()", "<s>.replace('a', 'o')", "<s>.title()"),
        ),
        (
            3,
            _filled(
                "f'{<i>}_{<i>}'", "f'block{<i>}'", "'%s-%d' % (<s>, <i>)", "'{}/{}'.format(<s>, <i>)", "'%05.1f' % <f>"
            ),
        ),
        (
            2,
            _filled(
                "f'{<i>:03d}'",
                "f'{<f>:.2f}'",
                "'{0}{0}'.format(<i>)",
                "'{n}'.format(n=<i>)",
                "f'{<i>!r:>4}'",
                "f'{<i>=}'",
            ),
        ),
        (
            2,
            _filled(
                "str(<i>)", "str(<f>)", "str(<b>)", "repr(<i>)", "'_'.join(<ss>)", "','.join(str(n) for n in <is>)"
            ),
        ),
        (
            1,
            _filled(
                "<s>[::-1]", "<s>[:2]", "<s>[-1:]", "(<s> or 'none')[0]", "<s>.split('_')[0]", "<s>.partition('_')[2]"
            ),
        ),
        (
            1,
            _filled(
                "(<s> if <b> else <s>)", "max(<s>, <s>)", "(<ss> or ['none'])[0]", "<s>.removeprefix('m')", "<s> * 2"
            ),
        ),
        (
            1,
            _filled(
                "''.join(sorted(<s>))",
                "<s>.zfill(4)",
                "<s>.center(9, '*')",
                "str(<is>)",
                "str(<p>)",
                "repr(<s>)",
                "str(<d>)",
            ),
        ),
        (
            1,
            _filled(
                "type(<i>).__name__",
                "<s>.ljust(3, '.')",
                "chr(97 + <i> % 5)",
                "str(None)",
                "''.join(reversed(<s>))",
                "f'{<s>}'",
            ),
        ),
    ],
    BOOL: [
        (4, _filled("(<i> < <i>)", "(<i> == <i>)", "(<i> != <i>)", "(0 <= <i> < 9)", "(<f> > <i>)", "(<i> >= 2)")),
        (2, _filled("(<s> == <s>)", "<s>.startswith('m')", "('a' in <s>)", "<s>.endswith(('16', 'u'))", "(<s> < <s>)")),
        (
            2,
            _filled(
                "(<i> in <is>)", "('a' in <d>)", "(<s> not in <ss>)", "(<is> == <is>)", "(<p> == <p>)", "(<d> == <d>)"
            ),
        ),
        (
            2,
            _filled(
                "not <b>",
                "(<b> and <b>)",
                "(<b> or <b>)",
                "bool(<is>)",
                "bool(<s>)",
                "(<i> is None)",
                "(None is not <is>)",
            ),
        ),
        (
            1,
            _filled(
                "isinstance(<i>, int)", "isinstance(<s>, (int, float))", "isinstance(<b>, int)", "isinstance(<d>, dict)"
            ),
        ),
        (
            1,
            _filled(
                "any(n > 2 for n in <is>)",
                "all(<is>)",
                "any(<is>)",
                "all(n < 9 for n in <is>)",
                "(<i> == <f>)",
                "(<p> < <p>)",
            ),
        ),
        (
            1,
            _filled(
                "callable(<i>)",
                "callable(len)",
                "issubclass(bool, int)",
                "(type(<i>) is int)",
                "(type(<b>) == int)",
                "(<i>, 1) == <p>",
            ),
        ),
        (
            1,
            _filled(
                "<s>.isdigit()",
                "({1, 2} <= {1, 2, <i>})",
                "(<is> > [1])",
                "([<i>] in [[1], [2]])",
                "(1 == 1.0)",
                "(True == <i>)",
            ),
        ),
    ],
    INTS: [
        (
            3,
            _filled(
                "(<is> + <is>)",
                "<is>[1:]",
                "<is>[::-1]",
                "[<i>, *<is>]",
                "list(range(<i> % 6))",
                "sorted(<is>)",
                "[0] * (<i> % 4)",
            ),
        ),
        (
            3,
            _filled(
                "[n * 2 for n in <is>]",
                "[n for n in <is> if n > 1]",
                "list(map(abs, <is>))",
                "list(<p>)",
                "list(<d>.values())",
            ),
        ),
        (
            2,
            _filled(
                "sorted(<is>, reverse=True)",
                "list(filter(None, <is>))",
                "list(reversed(<is>))",
                "sorted(set(<is>))",
                "<is>[:-1]",
            ),
        ),
        (
            1,
            _filled(
                "[x + y for x, y in zip(<is>, <is>)]", "[i for i, n in enumerate(<is>) if n]", "[len(s) for s in <ss>]"
            ),
        ),
        (
            1,
            _filled(
                "sorted(<is>, key=lambda n: -n)",
                "list(dict.fromkeys(<is>))",
                "[y for x in (<is>, <is>) for y in x]",
                "<is>[<i>:<i>]",
            ),
        ),
        (
            1,
            _filled(
                "[*range(3)]",
                "<is> * 2",
                "list(range(5, 0, -2))",
                "[n if n else 9 for n in <is>]",
                "<is>.copy()",
                "list(<is>)",
            ),
        ),
    ],
    TEXTS: [
        (
            2,
            _filled(
                "<s>.split('_')",
                "sorted(<ss>)",
                "[s.upper() for s in <ss>]",
                "list(<d>)",
                "[*<ss>, <s>]",
                "list(<d>.keys())",
            ),
        ),
        (
            1,
            _filled(
                "[f'{k}={v}' for k, v in <d>.items()]",
                "list(<s>)",
                "[str(n) for n in <is>]",
                "sorted(<d>, key=len)",
                "<s>.split()",
            ),
        ),
        (
            1,
            _filled(
                "sorted(<ss>, key=str.lower)",
                "list(map(str, <is>))",
                "[s for s in <ss> if s]",
                "'a b  c'.split()",
                "'a,b'.split(',', 1)",
            ),
        ),
    ],
    MAPPING: [
        (
            2,
            _filled(
                "{**<d>, 'a': <i>}",
                "dict(<d>)",
                "dict(<d>, b=<i>)",
                "{s: len(s) for s in <ss>}",
                "<d>.copy()",
                "dict(a=<i>, b=<i>)",
            ),
        ),
        (
            2,
            _filled(
                "{k: v + 1 for k, v in <d>.items()}",
                "dict(zip(<ss>, <is>))",
                "(<d> | <d>)",
                "dict.fromkeys('ab', <i>)",
                "{**<d>}",
            ),
        ),
        (
            1,
            _filled(
                "dict([('a', <i>)])",
                "{k: v for k, v in <d>.items() if v > 1}",
                "{f'k{i}': n for i, n in enumerate(<is>)}",
            ),
        ),
        (
            1,
            _filled(
                "dict(sorted(<d>.items()))",
                "{'a': 1, **<d>, 'b': 2}",
                "dict((s, 1) for s in <ss>)",
                "{<s>: <i>, <s>: <i>}",
            ),
        ),
    ],
    PAIR: [
        (
            2,
            _filled(
                "(<i>, <i>)",
                "divmod(<i>, 5)",
                "tuple([<i>, <i>])",
                "(<i>,) + (<i>,)",
                "<p>[::-1]",
                "(1,) * 2",
                "tuple(<p>)",
            ),
        ),
        (
            1,
            _filled(
                "(<p> if <b> else <p>)",
                "tuple(sorted(<p>))",
                "(lambda *n: n)(<i>, <i>)",
                "tuple(n + 1 for n in <p>)",
                "(*<p>,)",
            ),
        ),
    ],
}
