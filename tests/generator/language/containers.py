"""Containers that are shared, nested, subclassed, consumed; what itertools and collections make of them."""

from __future__ import annotations

from tests.generator.language.author import INTS, MAPPING, TEXTS, Author
from tests.generator.language.expressions import fill, one_of


def shared(a: Author) -> None:
    """One list under several names, in several containers."""
    inner, outer, table = a.fresh("inner"), a.fresh("outer"), a.fresh("table")
    a.do(
        fill(a, f"{inner} = <is>"),
        f"{outer} = [{inner}, {inner}, 5]",
        f"{table} = {{'x': {inner}, 'y': {{'z': {inner}}}}}",
    )
    if a.chance(0.4):
        a.needs("import copy")

    def step() -> None:
        a.do(one_of(a,
            f"{inner}.append(<i>)", f"{outer}[0].append(<i>)", f"{table}['x'].append(<i>)", f"{table}['y']['z'] += [<i>]", f"{inner} = [*{inner}]",
            f"{outer}.append({inner})", f"{outer}[0] = <is>", f"{table}['new'] = {outer}", f"{table}['y'] = dict({table}['y'], w=<i>)",
            f"for each in {outer}[:2]:\n    each.append(<i>)", f"{outer} = {outer} * 2", f"{outer}.append({outer})", f"{inner}.clear()",
            f"{table}.setdefault('x', []).append(<i>)", f"{table}.setdefault('q', []).append(<i>)", f"{outer}, {inner} = {outer}[:], {inner}[:]",
            f"({table}.get('n') or {inner}).append(<i>)", f"{table}['me'] = {table}", f"{outer}[0], {outer}[1] = {outer}[1], {outer}[0]",
            f"import copy\n{outer} = copy.copy({outer})", f"import copy\n{outer} = copy.deepcopy({outer})", f"{table} = {{**{table}}}",
            f"del {table}['x'][:]", f"{inner}[:0] = [<i>]", f"{table}.pop('x', [0]).append(1)\n{table}['x'] = {inner}",
        ))  # fmt: skip

    def look() -> None:
        a.look(a.pick((
            f"{inner}", f"len({outer})", f"{outer}[0] is {inner}", f"{table}['x'][-1:]", f"{table}['y']['z'] == {inner}", f"{outer}[0] is {outer}[1]",
            f"sorted({table})", f"{table}.get('q')", f"5 in {outer}", f"[x is {inner} for x in {outer}]", f"len({table}['x'])", f"{outer}.count(5)",
        )))  # fmt: skip

    a.walk(((3, step), (2, look)), 5 + a.choices.below(5))
    a.look(f"list({inner})", f"len({outer})", f"list({table}['y']['z'])")


def sets(a: Author) -> None:
    """Sets, whose order nobody knows."""
    one, other = a.bind("set", fill(a, "set(<is>)"), "group"), a.bind("set", fill(a, "{<i>, <i>, 2}"), "group")

    def step() -> None:
        a.do(one_of(a,
            f"{one}.add(<i>)", f"{one}.discard(<i>)", f"{one}.update(<is>)", f"{one} |= {other}", f"{one} &= {{<i>, 2}}", f"{one} -= {{1}}",
            f"{one} = {one} | {{<i>}}", f"{one} = {one} - {other}", f"{other} = frozenset({one})", f"{one}.clear()", f"{one} ^= {{2}}",
        ))  # fmt: skip

    def look() -> None:
        a.look(one_of(a,
            f"sorted({one})", f"len({one})", f"<i> in {one}", f"{one} == {other}", f"{one} <= {one} | {other}", f"bool({one})", f"{one}.union({{4}})",
            f"sorted({one} & {other})", f"{one}.isdisjoint({other})", f"{{n % 2 for n in {one}}}", f"max({one}, default=0)", f"isinstance({other}, set)",
        ))  # fmt: skip

    a.walk(((3, step), (3, look)), 4 + a.choices.below(5))
    a.look(f"sorted({one})")


def iterators(a: Author) -> None:
    """Iterators are used up."""
    made = a.bind("iterator", one_of(a,
        "iter(<is>)", "map(abs, <is>)", "zip(<is>, <ss>)", "enumerate(<ss>)", "filter(None, <is>)", "(n + 1 for n in <is>)", "reversed(<is>)",
        "iter(<d>.items())", "iter(<d>)", "(s for s in <ss> if s)",
    ), "it")  # fmt: skip
    for _ in range(1 + a.choices.below(3)):
        if a.chance(0.3):
            a.do(f"for item in {made}:\n    {a.pick(('break', 'pass', 'last = item'))}")
        else:
            a.look(
                a.pick(
                    (
                        f"next({made}, 'over')",
                        f"list({made})",
                        f"len(list({made}))",
                        f"tuple({made})",
                        f"[x for x in {made}]",
                        f"5 in {made}",
                    )
                )
            )
    items = a.fresh("v")
    a.do(fill(a, f"{items} = [1, *<is>, 2]"))
    a.names[INTS].append(items)
    if a.chance(0.5):
        a.needs("import itertools")
        a.look(one_of(a,
            "list(itertools.chain(<is>, <is>))", "list(itertools.product([1, 2], 'ab'))", "list(itertools.islice(itertools.count(<i>), 3))",
            "list(itertools.chain.from_iterable([<is>, <is>]))", "list(itertools.zip_longest([1], [2, 3]))", "next(itertools.cycle([4, 5]))",
            "[(k, len(list(g))) for k, g in itertools.groupby([1, 1, 2])]", "list(itertools.repeat(7, 2))", "list(itertools.accumulate([1, 2, 3]))",
            "list(itertools.takewhile(lambda n: n < 3, [1, 2, 3, 1]))", "list(itertools.combinations([1, 2, 3], 2))", "list(itertools.starmap(max, [(1, 2)]))",
        ))  # fmt: skip


def collected(a: Author) -> None:
    """OrderedDict, defaultdict, Counter, ChainMap, deque."""
    a.needs("import collections")
    kind = a.pick(
        (
            "defaultdict(list)",
            "defaultdict(int)",
            "OrderedDict()",
            "Counter()",
            "OrderedDict(a=1)",
            "Counter('abca')",
            "ChainMap({'a': 1}, {'b': 2})",
        )
    )
    one = a.bind("collection", f"collections.{kind}", "coll")
    steps = {
        "defaultdict(list)": ("{0}['a'].append(<i>)", "{0}['b'] += [<i>]", "{0}['c']", "{0}.pop('a', None)"),
        "defaultdict(int)": ("{0}['a'] += <i>", "{0}[<s>] += 1", "{0}['c']", "{0}.update(<d>)"),
    }.get(kind, ("{0}['a'] = <i>", "{0}.update(<d>)", "{0}.pop('a', None)", "{0}.setdefault('b', <i>)"))
    for _ in range(2 + a.choices.below(4)):
        a.do(fill(a, a.pick(steps).format(one)))
        a.look(
            one_of(
                a,
                f"{one}.get('a')",
                f"'c' in {one}",
                f"dict({one})",
                f"len({one})",
                f"list({one})",
                f"{one} == {{}}",
                f"isinstance({one}, dict)",
                f"type({one}).__name__",
                f"sorted({one}.items())" if "list" not in kind else f"sorted({one})",
                f"{one}.get('b', <i>)",
            )
        )
    if "Counter" in kind:
        a.look(f"{one}['missing']", f"{one}.most_common(1)", f"sum({one}.values())")
    queue = a.bind("deque", fill(a, "collections.deque(<is>, maxlen=3)"), "queue")
    a.do(fill(a, f"{queue}.append(<i>)"), fill(a, f"{queue}.appendleft(<i>)"))
    a.look(f"list({queue})", f"len({queue})", f"{queue}[0]", f"{queue}.popleft()")


def subclassed(a: Author) -> None:
    """A class of the program that is a dict or a list, with its own access."""
    cls = a.fresh("Table")
    base = a.pick(("dict", "dict", "list"))
    with a.inside(f"class {cls}({base}):"):
        if base == "dict":
            with a.function("def __getattr__(self, name):"):
                a.do("try:\n    return self[name]\nexcept KeyError:\n    raise AttributeError(name)")
            if a.chance(0.6):
                with a.function("def __setattr__(self, name, value):"):
                    a.do("self[name] = value")
            if a.chance(0.3):
                with a.function("def __missing__(self, key):"):
                    a.do("return 'missing'")
            if a.chance(0.3):
                with a.function("def __setitem__(self, key, value):"):
                    a.do("super().__setitem__(key, [value])")
        else:
            with a.function("def first(self):"):
                a.do("return self[0] if self else None")
    if base == "list":
        one = a.bind("object", fill(a, f"{cls}(<is>)"), "table")
        a.do(fill(a, f"{one}.append(<i>)"))
        a.look(
            f"{one}.first()",
            f"len({one})",
            f"{one}[-1]",
            f"list({one})",
            f"isinstance({one}, list)",
            f"bool({one})",
            f"{one} == [1]",
        )
        return
    one = a.bind("object", fill(a, f"{cls}({a.pick(('', 'units=<i>', '<d>'))})"), "table")
    for _ in range(1 + a.choices.below(3)):
        a.do(
            one_of(
                a,
                f"{one}.units = <i>",
                f"{one}['rate'] = <i>",
                f"{one}.update(a=<i>)",
                f"{one}.pop('a', None)",
                f"{one}.setdefault('b', <i>)",
            )
        )
    a.look(f"{one}.get('units')", f"'units' in {one}", f"getattr({one}, 'units', None)", f"hasattr({one}, 'b')", f"dict({one})", f"len({one})",
           f"getattr({one}, 'rate', 0)", f"isinstance({one}, dict)", f"vars({one})", f"bool({one})", f"sorted({one})")  # fmt: skip


def merged(a: Author) -> None:
    """Settings from several places, as training scripts put them together."""
    defaults, user = (
        a.bind(MAPPING, fill(a, "{'units': <i>, 'rate': <i>, **<d>}"), "defaults"),
        a.bind(MAPPING, fill(a, "<d>"), "user"),
    )
    name = a.fresh("config")
    a.do(a.pick((
        f"{name} = {{**{defaults}, **{user}}}", f"{name} = {defaults} | {user}", f"{name} = dict({defaults})\n{name}.update({user})",
        f"{name} = {defaults}.copy()\nfor key, value in {user}.items():\n    {name}[key] = value", f"{name} = dict({defaults}, **{user})",
        f"{name} = {defaults}\n{name} |= {user}", f"{name} = {{k: {user}.get(k, v) for k, v in {defaults}.items()}}",
    )))  # fmt: skip
    with a.inside(f"if {a.unknown()}:"):
        a.do(
            one_of(
                a,
                f"{name}['units'] = <i>",
                f"{name}['late'] = <i>",
                f"{name}.pop('rate', None)",
                f"{name} = {{}}",
                f"{name}.update(late=1)",
            )
        )
    a.names[MAPPING].append(name)
    a.look(f"{name}.get('units')", f"'late' in {name}", f"{name}.get('late', 0)", f"sorted({name})", f"len({name})", f"{defaults}", f"'rate' in {name}",
           f"{name} == {defaults}", f"list({name}.items())[:1]", f"{name}.get('rate', -1)")  # fmt: skip
    a.names[TEXTS].append(a.bind("texts", f"[key for key in {name} if key != 'late']", "keys"))


TOPICS = ((3, shared), (2, sets), (2, iterators), (2, collected), (2, subclassed), (3, merged))
