"""Python itself: what the interpreter knows after running a program."""

from __future__ import annotations

import pytest

from tests.interpreter.programs import variables, worlds

PROGRAMS: dict[str, tuple[str, dict[str, object]]] = {
    "members of an enum": (
        "import enum\nclass P(enum.Enum):\n    FULL = 1\n    HALF = 2\nclass S(str, enum.Enum):\n    A = 'a'\n"
        "p = P.HALF\na = p is P.FULL\nb = p == P.HALF\nc = S.A == 'a'\nd = p == 2",
        {"a": False, "b": True, "c": True, "d": False},
    ),
    "arithmetic": ("x = 2 ** 5 + 3 * (7 // 2) - -1", {"x": 42}),
    "kinds of constants stay apart": ("a = 1 == True\nb = [1, True, 1.0]", {"a": True, "b": [1, True, 1.0]}),
    "strings": ("n = 3\ns = f'box_{n}' + '_x'.upper() + 'a' 'b'", {"n": 3, "s": "box_3_Xab"}),
    "percent formatting": ("s = 'block%d_%s' % (2, 'conv')", {"s": "block2_conv"}),
    "tuples": ("a, (b, *c) = 1, (2, 3, 4)", {"a": 1, "b": 2, "c": [3, 4]}),
    "slices": (
        "w = [16, 32, 64]\nr = w[::-1]\nl = w[-1]\nt = (1, 2, 3)[1:]",
        {"w": [16, 32, 64], "r": [64, 32, 16], "l": 64, "t": (2, 3)},
    ),
    "lists are shared": ("a = []\nb = a\nb.append(1)\na += [2]", {"a": [1, 2], "b": [1, 2]}),
    "list methods": (
        "a = [3, 1]\na.insert(0, 9)\na.extend((4,))\nlast = a.pop()\na.reverse()",
        {"a": [1, 3, 9], "last": 4},
    ),
    "dicts": (
        "d = dict(a=1, **{'b': 2})\nd['c'] = 3\nd.update(a=4)\nv = d.get('z', 0)\nw = d.pop('b')",
        {"d": {"a": 4, "c": 3}, "v": 0, "w": 2},
    ),
    "for over items": (
        "d = {'a': 1, 'b': 2}\nout = []\nfor i, (k, v) in enumerate(d.items()):\n    out.append((i, k, v))",
        {"out": [(0, "a", 1), (1, "b", 2)]},
    ),
    "zip and range": ("out = [a * b for a, b in zip(range(3), [5, 6, 7]) if a]", {"out": [6, 14]}),
    "nested comprehensions": (
        "out = [(a, b) for a in (1, 2) for b in 'xy']",
        {"out": [(1, "x"), (1, "y"), (2, "x"), (2, "y")]},
    ),
    "dict comprehensions": ("out = {k: v for k, v in [('a', 1)]}", {"out": {"a": 1}}),
    "while": ("n = 20\nc = 0\nwhile n > 1:\n    n //= 2\n    c += 1", {"n": 1, "c": 4}),
    "break and else": (
        "for i in range(9):\n    if i == 3:\n        break\nelse:\n    i = 100\nfor j in range(2):\n    pass\n"
        "else:\n    j = 50",
        {"i": 3, "j": 50},
    ),
    "continue": ("out = []\nfor i in range(4):\n    if i % 2:\n        continue\n    out.append(i)", {"out": [0, 2]}),
    "defaults, stars and keywords": (
        "def f(a, b=2, *c, d=4, **e):\n    return a, b, c, d, e\nx = f(1)\ny = f(1, 3, 5, d=6, z=7)",
        {"x": (1, 2, (), 4, {}), "y": (1, 3, (5,), 6, {"z": 7})},
    ),
    "passing stars on": (
        "def f(*a, **k):\n    return g(*a, **k)\ndef g(x, y=0):\n    return x - y\nr = f(5, y=2)",
        {"r": 3},
    ),
    "closures": (
        "def outer(n):\n    def inner(k):\n        return n * k\n    return inner\ndouble = outer(2)\nr = double(21)",
        {"r": 42},
    ),
    "nonlocal": (
        "def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n        return n\n    up()\n"
        "    return up()\nr = counter()",
        {"r": 2},
    ),
    "global": ("n = 1\ndef f():\n    global n\n    n = 5\nf()", {"n": 5}),
    "recursion is bounded": ("def f(n):\n    return 1 if n == 0 else n * f(n - 1)\nr = f(50)", {"r": ...}),
    "lambdas": ("f = lambda x, k=3: x * k\nr = f(2)", {"r": 6}),
    "partial": (
        "from functools import partial\ndef f(a, b, c=0):\n    return (a, b, c)\nr = partial(f, 1, c=9)(2)",
        {"r": (1, 2, 9)},
    ),
    "decorators": (
        "import functools\ndef twice(fn):\n    @functools.wraps(fn)\n    def inner(*a):\n        return fn(*a) * 2\n"
        "    return inner\n"
        "@twice\ndef f(x):\n    return x\nr = f(4)",
        {"r": 8},
    ),
    "classes": (
        "class A:\n    k = 1\n    def __init__(self, n):\n        self.n = n\n    def get(self):\n"
        "        return self.n + self.k\n"
        "class B(A):\n    k = 10\n    def get(self):\n        return super().get() * 2\nr = B(5).get()",
        {"r": 30},
    ),
    "properties, static and class methods": (
        "class A:\n    n = 3\n    @property\n    def p(self):\n        return self.n\n    @staticmethod\n"
        "    def s(x):\n        return x + 1\n"
        "    @classmethod\n    def c(cls):\n        return cls.n\na = A()\nr = (a.p, A.s(1), a.c())",
        {"r": (3, 2, 3)},
    ),
    "call": ("class A:\n    def __call__(self, x):\n        return x * 2\nr = A()(4)", {"r": 8}),
    "dataclasses": (
        "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    units: int = 8\n"
        "    sizes: list = field(default_factory=lambda: [1, 2])\n"
        "c = C(units=16)\nr = (c.units, c.sizes)",
        {"r": (16, [1, 2])},
    ),
    "named tuples": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    a: int\n    b: int = 2\nr = (P(1).a, P(1).b)",
        {"r": (1, 2)},
    ),
    "enums": ("import enum\nclass E(enum.Enum):\n    A = 'x'\nr = (E.A.value, E('x').name)", {"r": ("x", "A")}),
    "isinstance": (
        "r = (isinstance(3, int), isinstance('a', (list, str)), isinstance([], dict))",
        {"r": (True, True, False)},
    ),
    "getattr and setattr": (
        "class A:\n    pass\na = A()\nsetattr(a, 'n', 4)\nr = (getattr(a, 'n'), hasattr(a, 'n'))",
        {"r": (4, True)},
    ),
    "match": (
        "def f(x):\n    match x:\n        case 'a' | 'b':\n            return 1\n        case int(n):\n"
        "            return 2\n        case _:\n            return 3\n"
        "r = f('b')",
        {"r": 1},
    ),
    "walrus": ("r = (n := 4) + n", {"r": 8, "n": 4}),
    "conditional": ("r = 'a' if 3 > 2 else 'b'\ns = None or 5\nt = 0 and 1", {"r": "a", "s": 5, "t": 0}),
    "chained comparison": ("r = 1 < 2 <= 2", {"r": True}),
    "generators": ("def g():\n    yield 1\n    yield 2\nr = list(g())", {"r": [1, 2]}),
    "context managers": (
        "import contextlib\nlog = []\n@contextlib.contextmanager\ndef m():\n    log.append('in')\n    yield 7\n"
        "    log.append('out')\n"
        "with m() as x:\n    log.append(x)",
        {"log": ["in", 7, "out"]},
    ),
    "with on objects": (
        "class M:\n    def __enter__(self):\n        return 5\n    def __exit__(self, *a):\n        return None\n"
        "with M() as x:\n    pass",
        {"x": 5},
    ),
    "try that imports": ("try:\n    import json\n    ok = True\nexcept ImportError:\n    ok = False", {"ok": True}),
    "unknown branches join": ("import os\nx = 1\nif os.environ.get('A'):\n    x = 2", {"x": {"one of": [2, 1]}}),
    "one arm leaves": (
        "import os\ndef f():\n    if os.environ.get('A'):\n        return 1\n    return 2\nr = f()",
        {"r": {"one of": [1, 2]}},
    ),
    "a raise ends an arm": (
        "import os\nx = 1\nif os.environ.get('A'):\n    x = 2\n    raise ValueError",
        {"x": 1},
    ),
    "the same condition stays the same": (
        "import os\nflag = os.environ.get('A')\nif flag:\n    a = 1\n    if flag:\n        b = 1\n    else:\n"
        "        b = 2\nelse:\n    b = 1",
        {"b": 1},
    ),
    "narrowing": (
        "import os\nx = None\nif os.environ.get('A'):\n    x = 4\nif x is None:\n    x = 8\ny = x",
        {"y": {"one of": [8, 4]}},
    ),
    "what an unknown call may change is not known": ("import foo\na = foo.bar()\nr = a + 1", {"r": ...}),
    "loops of unknown length": (
        "import os\nout = []\nn = 0\nfor p in os.listdir('.'):\n    out.append(3)\n    n = 1",
        {"out": ["and more"], "n": {"one of": [0, 1]}},
    ),
    "deletion": ("d = {'a': 1, 'b': 2}\ndel d['a']", {"d": {"b": 2}}),
    "semicolons": ("a = 1; b = a + 1", {"a": 1, "b": 2}),
    "math": ("import math\nr = int(math.ceil(math.sqrt(10)))", {"r": 4}),
    "type checking": ("from typing import TYPE_CHECKING\nx = 1\nif TYPE_CHECKING:\n    x = 2", {"x": 1}),
    "simple namespace": ("from types import SimpleNamespace\nc = SimpleNamespace(a=1)\nr = c.a", {"r": 1}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_known(name: str) -> None:
    source, expected = PROGRAMS[name]
    found = variables(source)
    assert {key: found.get(key, "unbound") for key in expected} == expected


def test_calls_across_files() -> None:
    found = variables(
        "from pkg import make\nfrom pkg.sizes import BASE as B\nimport pkg.sizes\nr = make(2)\ns = pkg.sizes.BASE\n",
        **{
            "pkg/__init__": "from .build import make\n",
            "pkg/build": "from . import sizes\nfrom .sizes import *\ndef make(n):\n    return sizes.BASE * n + BASE\n",
            "pkg/sizes": "BASE = 16\n_hidden = 1\n",
        },
    )
    assert found["r"] == 48
    assert (found["B"], found["s"]) == (16, 16)


def test_circular_imports() -> None:
    found = variables(
        "import a\nr = a.f()",
        a="import b\nX = 1\ndef f():\n    return b.g()\n",
        b="import a\ndef g():\n    return a.X\n",
    )
    assert found["r"] == 1


def test_a_file_that_is_no_python_is_unknown() -> None:
    assert variables("import broken\nr = broken.x", broken="def f(:\n")["r"] is ...


def test_budget_ends_an_endless_program() -> None:
    source = (
        "def f(n):\n    for i in range(30):\n        for j in range(30):\n            for k in range(30):\n"
        "                n = [i, j, k, n]\n    return n\n"
    )
    _, found = worlds(main=source + "".join(f"a{i} = f({i})\n" for i in range(12)))
    assert [world.trace.cut for world in found] == [True]
