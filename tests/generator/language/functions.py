"""Functions: parameters, closures, decorators, generators, recursion, and what calls them."""

from __future__ import annotations

from tests.generator.language.author import INT, INTS, MAPPING, Author
from tests.generator.language.expressions import expression, fill, literal
from tests.generator.language.statements import block, condition


def plain(a: Author) -> None:
    """A function of an int, with a body of its own and several ways out."""
    name = a.fresh("f")
    with a.function(f"def {name}(x, scale={literal(a, INT)}):", x=INT, scale=INT):
        block(a, 1 + a.choices.below(3), 1)
        if a.chance(0.4):
            with a.inside(f"if {condition(a)}:"):
                a.do(f"return {expression(a, INT)}")
        if a.chance(0.2):
            with a.inside("try:"):
                a.do(f"return {expression(a, INT)}")
            with a.inside("finally:"):
                block(a, 1, 0)
                if a.chance(0.4):
                    a.do(f"return {expression(a, INT)}")
        else:
            a.do(f"return {expression(a, INT)}")
    a.functions.append(name)
    a.look(fill(a, f"{name}(<i>)"), fill(a, f"{name}(<i>, <i>)"), fill(a, f"{name}(scale=<i>, x=<i>)"))


def parameters(a: Author) -> None:
    """All kinds of parameters, and stars at the call."""
    name = a.fresh("f")
    signature, result = a.choices.pick((
        ("a, b=2, *c, d=4, **e", "a, b, c, d, e"),
        ("a, b=2, /, *, d=4", "a, b, d"),
        ("*c, **e", "c, e"),
        ("a, b=[1], **e", "a, list(b), sorted(e)"),
        ("a, b={}, *c", "a, dict(b), len(c)"),
    ))  # fmt: skip
    with a.function(f"def {name}({signature}):"):
        if "b=[1]" in signature:
            a.do("b.append(a)")
        if "b={}" in signature:
            a.do("b[a] = a")
        if "**e" in signature and a.chance(0.5):
            a.do('e.setdefault("z", 5)', 'y = e.pop("y", None)')
            result += ", y"
        if "*c" in signature and a.chance(0.5):
            a.do("c = tuple(reversed(c))")
        a.do(f"return {result}")
    first = "" if signature.startswith("*") else "<i>"
    calls = [f"{name}({first})"]
    if "b=2, *c" in signature or signature.startswith("*"):
        calls += [f"{name}(<i>, <i>, <i>)", f"{name}(*<p>)", f"{name}(*<p>, *<p>)"]
    if "**e" in signature:
        calls += [
            f"{name}({first}{', ' if first else ''}**<d>)" if "a," not in signature else f"{name}(1, x=<i>, y=<s>)"
        ]
        calls += [
            f"{name}(<i>, **{{'z': <i>, 'd': <i>}})" if "*c" in signature or "b=[1]" in signature else f"{name}()"
        ]
    if "*, d" in signature:
        calls += [f"{name}(<i>, d=<i>)", f"{name}(*<p>, **dict(d=1))"]
    if "b=" in signature:
        calls += [f"{name}(<i>)"]
    for call in calls:
        a.look(fill(a, call))


def closure(a: Author) -> None:
    """Functions that remember: cells, nonlocal, loops' late binding."""
    name = a.fresh("make")
    form = a.choices.below(4)
    if form == 0:
        with a.function(f"def {name}(n):", n=INT):
            with a.function("def inner(k):", k=INT):
                a.do(*(("nonlocal n", "n += k") if a.chance(0.6) else ()), f"return {fill(a, 'n * 2 + <i>')}")
            a.do("return inner")
        first = a.bind("function", fill(a, f"{name}(<i>)"), "inner")
        second = a.bind("function", fill(a, f"{name}(<i>)"), "inner")
        a.look(*(fill(a, f"{a.pick((first, second))}(<i>)") for _ in range(3)))
    elif form == 1:
        late = a.chance(0.5)
        a.do(f"{name} = [lambda x{'' if late else ', i=i'}: x + i for i in range(3)]")
        a.look(f"{name}[0](10)", f"[f(1) for f in {name}]")
    elif form == 2:
        with a.function(f"def {name}():"):
            a.do("calls = []")
            with a.function("def note(x=None):"):
                a.do("calls.append(x)", "return len(calls)")
            a.do("note.calls = calls", "return note, calls")
        note, calls = a.fresh("note"), a.fresh("calls")
        a.do(f"{note}, {calls} = {name}()", fill(a, f"{note}(<i>)"), f"{note}()")
        a.look(calls, f"{note}.calls", f"{note}.__name__")
    else:
        total = a.bind(INT, expression(a, INT), "total")
        with a.function(f"def {name}(k=1):", k=INT):
            a.do(f"global {total}")
            if a.chance(0.4):
                with a.inside(f"if {condition(a)}:"):
                    a.do(f"{total} += k")
            else:
                a.do(f"{total} += k")
            a.do(f"return {total}")
        a.do(f"{name}()", fill(a, f"{name}(<i>)"))
        a.look(total, f"{name}(2)", total)


def decorated(a: Author) -> None:
    """Decorators: wrappers, registries, caches, partials."""
    a.needs("import functools")
    name, inner = a.fresh("deco"), a.fresh("f")
    form = a.choices.below(5)
    if form == 0:
        wraps = a.chance(0.6)
        with a.function(f"def {name}(fn):"):
            if wraps:
                a.do("@functools.wraps(fn)")
            with a.function("def wrapper(*args, **kwargs):"):
                a.do(f"return fn(*args, **kwargs) {a.pick(('+ 1', '* 2', '- 3'))}")
            a.do("return wrapper")
        a.do(f"@{name}")
        with a.function(f"def {inner}(x):", x=INT):
            a.do(f"return {expression(a, INT)}")
        a.functions.append(inner)
        a.look(fill(a, f"{inner}(<i>)"), f"{inner}.__name__")
    elif form == 1:
        registry = a.bind("registry", "{}", "registry")
        with a.function(f"def {name}(key):"):
            with a.function("def register(fn):"):
                a.do(f"{registry}[key] = fn", "return fn")
            a.do("return register")
        for key in ("a", "b"):
            a.do(f'@{name}("{key}")')
            with a.function(f"def {inner}_{key}(x):", x=INT):
                a.do(f"return {expression(a, INT)}")
        a.look(fill(a, f'{registry}["a"](<i>)'), fill(a, f'{registry}.get("b")(<i>)'), f"sorted({registry})", registry)
    elif form == 2:
        log = a.bind("log", "[]", "log")
        a.do(a.pick(("@functools.lru_cache(maxsize=None)", "@functools.cache", "@functools.lru_cache")))
        with a.function(f"def {inner}(x):", x=INT):
            a.do(f"{log}.append(x)", f"return {expression(a, INT)}")
        a.look(f"{inner}(3)", f"{inner}(3)", f"{inner}(4)", log)
    elif form == 3:
        with a.function(f"def {inner}(x, y=2, *, z=3):", x=INT, y=INT, z=INT):
            a.do("return x, y, z")
        part = a.bind("partial", fill(a, f"functools.partial({inner}, <i>, z=<i>)"), "part")
        a.look(f"{part}()", fill(a, f"{part}(<i>)"), fill(a, f"{part}(z=<i>)"), f"{part}.args", f"{part}.keywords")
    else:
        with a.function(f"def {inner}(x):", x=INT):
            a.do("return x + 1")
        a.do(f"{inner}.calls = 0", f"{inner}.calls += 1")
        a.look(f"{inner}.calls", f"hasattr({inner}, 'other')", f"getattr({inner}, 'calls', None)", f"{inner}(1)")


def generator(a: Author) -> None:
    """Generators: nothing happens until someone asks."""
    name, log = a.fresh("gen"), a.bind("log", "[]", "log")
    with a.function(f"def {name}(n=3):", n=INT):
        a.do(f'{log}.append("start")')
        form = a.choices.below(4)
        if form == 0:
            with a.inside("for i in range(n):"):
                a.do(f"{log}.append(i)", "yield i * 2")
        elif form == 1:
            a.do("yield 1", f"{log}.append(2)", "yield 2")
        elif form == 2:
            a.do("i = 0")
            with a.inside("while True:"):
                a.do("i += 1", f"{log}.append(i)", "yield i")
                with a.inside("if i >= n:"):
                    a.do(a.pick(("return", "break")))
        else:
            a.do("yield from range(n)", "yield from (7, 8)")
        a.do(f'{log}.append("end")')
    made = a.bind("generator", f"{name}({a.pick(('', '2'))})", "made")
    a.look(f"list({log})")
    uses = [
        lambda: a.look(f"list({made})"),
        lambda: a.look(f"next({made}, None)"),
        lambda: a.look(f"sum({made})"),
        lambda: a.look(f"any(x > 1 for x in {made})"),
        lambda: a.do(f"for item in {made}:\n    if item > 1:\n        break"),
        lambda: a.look(f"[x for x in {made} if x]"),
        lambda: a.look(f"list({name}())"),
        lambda: a.look(f"dict(enumerate({name}(2)))"),
    ]
    for _ in range(a.choices.below(4)):
        a.choices.pick(uses)()
        a.look(f"list({log})")


def recursion(a: Author) -> None:
    """Functions that call themselves, or each other."""
    name = a.fresh("rec")
    form = a.choices.below(4)
    if form == 0:
        with a.function(f"def {name}(n):", n=INT):
            a.do("return 1 if n <= 0 else n * " + name + "(n - 1) % 1009")
        a.look(f"{name}(4)", f"{name}(30)")
    elif form == 1:
        other = a.fresh("rec")
        with a.function(f"def {name}(n):", n=INT):
            a.do(f"return n == 0 or {other}(n - 1)")
        with a.function(f"def {other}(n):", n=INT):
            a.do(f"return n != 0 and {name}(n - 1)")
        a.look(f"{name}(6)", f"{other}(6)", f"{name}(41)")
    elif form == 2:
        with a.function(f"def {name}(tree):"):
            with a.inside("if isinstance(tree, list):"):
                a.do(f"return [{name}(t) for t in tree]")
            with a.inside("if isinstance(tree, dict):"):
                a.do(f"return {{k: {name}(v) for k, v in tree.items()}}")
            a.do("return (tree, 1)")
        a.look(fill(a, f"{name}([<i>, [<i>], {{'a': <s>}}])"))
    else:
        seen = a.bind("log", "[]", "log")
        with a.function(f"def {name}(n):", n=INT):
            a.do(f"{seen}.append(n)")
            with a.inside("if n > 0:"):
                a.do(f"{name}(n - 1)")
            a.do(f"return len({seen})")
        a.look(f"{name}({a.pick(('2', '5', '25'))})", seen)


def often(a: Author) -> None:
    """A function that is called more often than anyone will follow."""
    name, total, log = a.fresh("f"), a.bind(INT, "0", "total"), a.bind(INTS, "[]", "log")
    a.names[INTS].remove(log)
    with a.function(f"def {name}(x):", x=INT):
        a.do(f"global {total}", f"{total} += 1", f"{log}.append(x)", "return x % 5")
    times = a.pick(("30", "90", "3500"))
    form = a.choices.below(3)
    if form == 0:
        a.do(f"for i in range({times}):\n    last = {name}(i)")
        a.look("last")
    elif form == 1:
        a.look(f"sum({name}(i) for i in range({times}))")
    else:
        a.look(f"len([{name}(i) for i in range({times})])")
    a.look(total, f"len({log})", f"{log}[:3]", f"{log}[-1]")


def managed(a: Author) -> None:
    """Context managers of both kinds."""
    log = a.bind("log", "[]", "log")
    if a.chance(0.5):
        a.needs("import contextlib")
        name = a.fresh("manager")
        guarded = a.chance(0.5)
        a.do("@contextlib.contextmanager")
        with a.function(f"def {name}(x):", x=INT):
            a.do(f'{log}.append("in")')
            if guarded:
                with a.inside("try:"):
                    a.do("yield x + 1")
                with a.inside("finally:"):
                    a.do(f'{log}.append("out")')
            else:
                a.do("yield x + 1", f'{log}.append("out")')
        manager = f"{name}({expression(a, INT)})"
    else:
        name = a.fresh("Manager")
        swallows = a.chance(0.5)
        guarded = swallows
        with a.inside(f"class {name}:"):
            with a.function("def __enter__(self):"):
                a.do(f'{log}.append("in")', a.pick(("return self", "return 5")))
            with a.function("def __exit__(self, kind, error, trace):"):
                a.do(f'{log}.append("out" if kind is None else kind.__name__)', f"return {swallows}")
        manager = f"{name}()"
    result = a.bind(INT, "0", "inside")
    raises = a.chance(0.4)
    with a.inside("try:"):
        with a.inside(f"with {manager} as {a.pick(('got', 'value'))}:"):
            a.do(f"{result} = {expression(a, INT)}")
            if raises:
                a.do("raise ValueError")
                a.do(f"{result} = 77")
        a.do(f'{log}.append("behind")')
    with a.inside("except ValueError:"):
        a.do(f'{log}.append("caught")')
    a.look(log, result)


def loops_over_functions(a: Author) -> None:
    """Functions kept in containers, and mapped."""
    table = a.bind("table", fill(a, "{'double': lambda x: x * 2, 'next': lambda x, k=<i>: x + k, 'abs': abs}"), "table")
    a.look(
        fill(a, f"{table}['double'](<i>)"),
        f"[f(-3) for f in {table}.values()]",
        f"list(map({table}['next'], [1, 2]))",
        f"{table}.get('none', len)('abc')",
        f"max([3, -7], key={table}['abs'])",
        "sorted(['bb', 'a'], key=len)[0]",
    )
    a.names[MAPPING].append(a.bind("mapping", f"{{name: f(4) for name, f in {table}.items()}}", "mapped"))


TOPICS = (
    (4, plain), (2, parameters), (2, closure), (2, decorated), (2, generator), (1, recursion), (1, often), (2, managed),
    (1, loops_over_functions),
)  # fmt: skip
