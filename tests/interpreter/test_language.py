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
    "items by methods": (
        "d = {'a': 1}\nx = d.__getitem__('a')\nd.__setitem__('b', 2)\ny = dict.get(d, 'b')",
        {"d": {"a": 1, "b": 2}, "x": 1, "y": 2},
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
    "dict comprehensions over what may be there": (
        "import os\nd = {'a': 1}\nif os.environ.get('A'):\n    d['b'] = 2\nd['c'] = 3\n"
        "out = {k: v + 1 for k, v in d.items() if k != 'a'}\n"
        "there = out['c']\nmay = out.get('b', 0)\ngone = 'a' in out",
        {"there": 4, "may": {"one of": [3, 0]}, "gone": False},
    ),
    "dict comprehensions over what is known in part": (
        "import foo\nd = {**foo.bar(), 'a': 1}\nout = {k: v for k, v in d.items() if foo.takes(k)}\n"
        "all = {k: v for k, v in d.items()}\na = out.get('a', 0)\nb = all['b']",
        {"b": ...},
    ),
    "dict comprehensions over another name": (
        "d = {'a': 1}\nout = {v: k for k, v in d.items()}\nn = {k: j for k in d for j in range(2)}",
        {"out": {1: "a"}, "n": {"a": 1}},
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
    "super of a container": (
        "class D(dict):\n    def look(self, k):\n        return super().get(k, 5)\nclass E(list):\n"
        "    def __init__(self):\n        self.none = super().__init__()\n"
        "    def count(self):\n        return super().__len__()\nr = (D().look('x'), E().count())\nn = E().none",
        {"r": (5, ...), "n": None},
    ),
    "fromkeys": ("d = dict.fromkeys('aba', 0)\ne = dict.fromkeys(['c'])", {"d": {"a": 0, "b": 0}, "e": {"c": None}}),
    "filter where the number is not known": (
        "import os\nv = [0, 1]\nif os.environ.get('A'):\n    v.append(5)\nr = list(filter(None, v))[-1]",
        {"r": {"one of": [1, 5]}},
    ),
    "keys of two orders": (
        "import os\nd = {'units': 100, 'a': 7}\nif os.environ.get('A'):\n    d.clear()\n    d.update(a=1, b=2)\n"
        "e = {'x': 1}\nif os.environ.get('A'):\n    e['p'] = 2\ne['y'] = 3\nr = list(d.values())[0]\nk = list(e)[0]",
        {"r": {"one of": [100, 1, 7, 2]}, "k": "x"},
    ),
    "semicolons": ("a = 1; b = a + 1", {"a": 1, "b": 2}),
    "math": ("import math\nr = int(math.ceil(math.sqrt(10)))", {"r": 4}),
    "type checking": ("from typing import TYPE_CHECKING\nx = 1\nif TYPE_CHECKING:\n    x = 2", {"x": 1}),
    "simple namespace": ("from types import SimpleNamespace\nc = SimpleNamespace(a=1)\nr = c.a", {"r": 1}),
    # what may change behind one's back
    "an attribute is deleted": (
        "class A:\n    n = 1\na = A()\na.n = 2\ndel a.n\nr = (a.n, hasattr(a, 'm'), getattr(a, 'm', 3))",
        {"r": (1, False, 3)},
    ),
    "an attribute of the object or of its class": (
        "import os\nclass A:\n    n = 1\na = A()\nif os.environ.get('X'):\n    a.n = 2\nr = a.n",
        {"r": {"one of": [2, 1]}},
    ),
    "a class attribute in one arm": (
        "import os\nclass A:\n    n = 1\nif os.environ.get('X'):\n    A.n = 2\n    A.m = 3\n"
        "r = (A().n, hasattr(A, 'm'), getattr(A, 'k', 4))",
        {"r": ({"one of": [2, 1]}, ..., 4)},
    ),
    "a library's attribute in one arm": (
        "import os, math\nmath.own = 1\nif os.environ.get('X'):\n    math.own = 2\nr = math.own",
        {"r": {"one of": [2, 1]}},
    ),
    "vars of an object": (
        "class A:\n    pass\na = A()\nd = vars(a)\nd |= {'x': 1, 'y': 2}\nd.pop('y')\n"
        "r = (a.x, hasattr(a, 'y'), 'x' in d, len(d))",
        {"r": (1, False, True, 1)},
    ),
    "globals as a dict": (
        "x = 1\nglobals()['x'] = 2\nglobals().update(y=3)\nr = (x, y, globals().get('x'))",
        {"r": (2, 3, 2)},
    ),
    "a text that is executed": ("x = y = 1\nexec('x = 2')\nr = (x, y)", {"r": (..., 1)}),
    "a text that nobody knows": ("import foo\nx = 1\nexec(foo.text)\nr = x", {"r": ...}),
    "own setting of attributes": (
        "class A:\n    def __setattr__(self, name, value):\n"
        "        super().__setattr__(name, value * 2)\na = A()\na.x = 4\nr = a.x",
        {"r": 8},
    ),
    "own reading of attributes": (
        "class A:\n    def __getattribute__(self, name):\n        return 9\na = A()\na.x = 4\nr = a.x",
        {"r": 9},
    ),
    "descriptors": (
        "class D:\n    def __get__(self, obj, owner):\n        return 7\nclass A:\n    x = D()\nr = A().x",
        {"r": 7},
    ),
    "own making of objects": (
        "class A:\n    one = None\n    def __new__(cls):\n        if cls.one is None:\n"
        "            cls.one = super().__new__(cls)\n"
        "        return cls.one\nr = A() is A()",
        {"r": True},
    ),
    "a key in one arm": (
        "import os\nd = {'a': 1}\nif os.environ.get('X'):\n    d['b'] = 2\ndef f(a, b=0):\n    return b\n"
        "r = ('b' in d, d.get('b', 3), len(d), 'a' in d, f(**d))",
        {"r": (..., {"one of": [2, 3]}, ..., True, {"one of": [2, 0]})},
    ),
    "a key that is not known": ("import foo\nd = {'a': 1}\nd[foo.key()] = 2\nr = d['a']", {"r": {"one of": [1, 2]}}),
    "keys that are made on asking": (
        "import collections\nd = collections.defaultdict(list)\nd['a'].append(1)\nr = (len(d), d['a'], 'b' in d)",
        {"r": (1, [1], False)},
    ),
    "the environment that the program sets": (
        "import os\nos.environ['A'] = '1'\nr = (os.environ.get('A'), os.getenv('B') is None, 'A' in os.environ)",
        {"r": ("1", ..., True)},
    ),
    # loops and generators
    "counting in an endless loop": (
        "n = 0\nwhile True:\n    n += 1\n    if n >= 7:\n        break\nm = 0\nwhile True:\n"
        "    m += 1\n    if m >= 70:\n        break",
        {"n": 7, "m": ...},
    ),
    "counting in a long loop": (
        "n = 0\nout = []\nfor i in range(500):\n    n += 1\n    out.append(1)\nr = len(out)",
        {"n": ..., "r": ...},
    ),
    "a generator that nobody asks": ("log = []\ndef g():\n    log.append(1)\n    yield 2\nx = g()", {"log": []}),
    "a generator that is asked in parts": (
        "n = 0\ndef g():\n    global n\n    n += 1\n    yield 1\n    n += 1\n    yield 2\nx = g()\nr = next(x)",
        {"r": 1, "n": ...},
    ),
    "an iterator is used up": (
        "i = iter([1, 2, 3])\na = next(i)\nb = list(i)\nc = list(i)",
        {"a": 1, "b": [2, 3], "c": []},
    ),
    "called more often than is followed": (
        "n = 0\ndef f():\n    global n\n    n += 1\nfor i in range(40):\n    for j in range(40):\n"
        "        f()\n        f()\n        f()",
        {"n": ...},
    ),
    "deep recursion leaves nothing known": (
        "log = []\ndef f(n):\n    log.append(n)\n    return n and f(n - 1)\nf(50)\nr = len(log)",
        {"r": ...},
    ),
    "a cached function": (
        "import functools\nlog = []\n@functools.lru_cache(maxsize=None)\ndef f(x):\n"
        "    log.append(x)\n    return x + 1\n"
        "r = (f(1), f(1), f(2))",
        {"r": (2, 2, 3), "log": [1, 2]},
    ),
    # what failed, and what is done all the same
    "what was done before it failed": (
        "log = []\ntry:\n    log.append(1)\n    raise ValueError\nexcept ValueError:\n    pass",
        {"log": ["and more"]},
    ),
    "what a manager swallows": (
        "class M:\n    def __enter__(self):\n        return self\n    def __exit__(self, *error):\n"
        "        return True\n"
        "x = 1\nwith M():\n    x = 2\n    raise ValueError\ny = 3",
        {"x": 2, "y": 3},
    ),
    # containers
    "slices are replaced": ("a = [1, 2, 3]\nb = a\nb[1:2] = [8, 9]\ndel a[0]\na *= 2", {"a": [8, 9, 3, 8, 9, 3]}),
    "sets hold each thing once": (
        "a = {1, 2, 1}\na |= {3}\na.discard(1)\nr = (len(a), sorted(a), 3 in a)",
        {"r": (2, [2, 3], True)},
    ),
    "the order of a set": ("r = list({'a', 'b'})", {"r": [{"one of": ["a", "b"]}, {"one of": ["a", "b"]}]}),
    "sorting by a key": (
        "a = [3, -5, 1]\na.sort(key=abs)\nr = sorted(a, reverse=True)",
        {"a": [1, 3, -5], "r": [3, 1, -5]},
    ),
    "containers are compared": (
        "r = ([1, (2,)] == [1, (2,)], {'a': 1} != {'a': 1}, (1, 2) < (1, 3), [1] in [[1]])",
        {"r": (True, False, True, True)},
    ),
    "copies": (
        "import copy\na = [[1], 2]\nb = copy.copy(a)\nc = copy.deepcopy(a)\na[0].append(3)",
        {"b": [[1, 3], 2], "c": [[1], 2]},
    ),
    "copies of a namespace": (
        "import argparse, copy\na = argparse.Namespace(n=1, m=[2])\nb = copy.copy(a)\nc = copy.deepcopy(a)\n"
        "a.n = 3\na.m.append(4)\nr = (b.n, b.m, c.n, c.m)",
        {"r": (1, [2, 4], 1, [2])},
    ),
    "a list that holds itself": ("a = [1]\na.append(a)\nr = (len(a), a[1] is a)\ndel a", {"r": (2, True)}),
    "formats": ("n = 7\nr = f'{n:03d}|{0.5!r:>5}' + '{:.2f} {0}'.format(1)", {"r": ...}),
    "formats that are known": (
        "n = 7\nr = (f'{n:03d}', f'{[1, n]}', '{:.2f}'.format(0.5), '%05.1f' % 2)",
        {"r": ("007", "[1, 7]", "0.50", "002.0")},
    ),
    # records
    "command line of no words": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int, default='3')\n"
        "p.add_argument('--amp', action='store_true')\np.set_defaults(amp=True, kind='x')\na = p.parse_args([])\n"
        "r = (a.n, a.kind, hasattr(a, 'other'), vars(a).get('other', 5))",
        {"r": (3, "x", False, 5)},
    ),
    "dataclasses copied": (
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    n: int = 1\n"
        "    sizes: list = dataclasses.field(default_factory=list)\n"
        "a = C()\nb = dataclasses.replace(a, n=2)\na.sizes.append(3)\nC.n = 9\n"
        "r = (b.n, b.sizes, dataclasses.asdict(b), C().n, hasattr(C, 'sizes'))",
        {"r": (2, [3], {"n": 2, "sizes": [3]}, 1, False)},
    ),
    "an enumeration is listed": (
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\n    C = 1\nr = ([m.name for m in E], E['B'].value)",
        {"r": (["A", "B"], 2)},
    ),
    "the name of what is wrapped": (
        "import functools\ndef d(f):\n    @functools.wraps(f)\n    def inner():\n        return f()\n    return inner\n"
        "@d\ndef g():\n    return 1\ng.calls = 2\nr = (g.__name__, g.calls)",
        {"r": ("g", 2)},
    ),
    "a module by its name": (
        "import importlib\nk = importlib.import_module('keras')\nr = k.layers.Dense",
        {"k": "Api", "r": "Api"},
    ),
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


def test_a_star_brings_what_the_module_lists() -> None:
    found = variables("a = 7\nfrom listed import *\n", listed="__all__ = ['_b']\na = 1\n_b = 2\n")
    assert found["a"] == 7
    assert variables("from listed import *\nr = _b", listed="__all__ = ['_b']\n_b = 2\n")["r"] == 2


def test_circular_imports() -> None:
    found = variables(
        "import a\nr = a.f()",
        a="import b\nX = 1\ndef f():\n    return b.g()\n",
        b="import a\ndef g():\n    return a.X\n",
    )
    assert found["r"] == 1


def test_a_file_that_is_no_python_is_unknown() -> None:
    assert variables("import broken\nr = broken.x", broken="def f(:\n")["r"] is ...


@pytest.mark.parametrize("literal", ['"\\x1"', '"\\N{no such name}"', 'b"\u00e9"', "9" * 5000])
def test_a_literal_that_python_refuses_is_unknown(literal: str) -> None:
    assert variables(f"x = {literal}\ny = 2") == {"x": ..., "y": 2}


@pytest.mark.parametrize("doubled", ["a = a + a", "a += a", "a = (*a, *a)", "a.extend(a)", "a[0:0] = a"])
def test_what_doubles_again_and_again_takes_no_memory(doubled: str) -> None:
    found = variables("a = [1]\n" + f"{doubled}\n" * 50 + "n = len(a)\nb = a[3]")
    assert (found["n"], found["b"]) == (..., 1)


LONG = """
import keras

def f(n):
    {}
    for i in range(30):
        for j in range(30):
            for k in range(30):
                [i, j, k, n]
    return n

"""


def test_budget_ends_an_endless_program() -> None:
    _, found = worlds(main=LONG.format("keras.layers.Dense(n)") + "".join(f"a{i} = f({i})\n" for i in range(12)))
    assert [world.trace.cut for world in found] == [True]


def test_what_takes_long_and_comes_to_nothing_is_done_once() -> None:
    """Behind the next call nothing is known of what it gives, and of what it may write."""
    end = "log = []\na = f(1)\nb = len(log)\nc = f(1)\nlog.append(3)\nd = len(log)\n"
    source = LONG.format("log.append(n)") + end
    _, (world,) = worlds(main=source)
    assert not world.trace.cut
    held = variables(source)
    assert held["b"] == 1
    assert held["a"] is not ...
    assert held["c"] is ...
    assert held["d"] is ...
