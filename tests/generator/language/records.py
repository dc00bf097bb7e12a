"""What programs keep settings in: dataclasses, named tuples, enums, namespaces, options of the command line."""

from __future__ import annotations

from tests.generator.language.author import INT, TEXT, Author
from tests.generator.language.expressions import expression, fill, one_of


def dataclass(a: Author) -> None:
    """Defaults, factories, inheritance, replace, asdict, frozen ones."""
    a.needs("import dataclasses")
    a.needs("from dataclasses import dataclass, field")
    base, cls = a.fresh("Settings"), a.fresh("Settings")
    frozen = a.chance(0.2)
    a.do(f"@dataclass{a.pick(('(frozen=True)',)) if frozen else a.pick(('', '()', '(eq=False)', '(order=True)'))}")
    with a.inside(f"class {base}:"):
        a.do(f"units: int = {expression(a, INT)}", "sizes: list = field(default_factory=list)")
        a.do(a.pick(("rate: float = 0.5", "rate: float = field(default=0.5)", "rate: 'float' = 1.0")))
        if a.chance(0.4):
            a.do("kind = 'plain'")
        if a.chance(0.3):
            a.do("total: int = field(init=False, default=3)")
        if a.chance(0.3) and not frozen:
            with a.function("def __post_init__(self):"):
                a.do("self.sizes = [*self.sizes, self.units]")
    a.do(f"@dataclass{'(frozen=True)' if frozen else ''}")
    with a.inside(f"class {cls}({base}):"):
        a.do(
            "name: str = 'x'",
            a.pick(("units: int = 9", "extra: dict = field(default_factory=lambda: {'a': 1})", "rate: float = 2.0")),
        )
    first, second = a.fresh("conf"), a.fresh("conf")
    a.do(fill(a, f"{first} = {base}({a.pick(('', '<i>', 'units=<i>', '<i>, [1]', 'rate=<f>, sizes=<is>'))})"))
    a.do(fill(a, f"{second} = {cls}({a.pick(('', '<i>', 'name=<s>', 'units=<i>, name=<s>'))})"))

    def step() -> None:
        one = a.pick((first, second))
        changes = (f"{one}.units = <i>", f"{one}.rate = <f>", f"setattr({one}, 'units', <i>)", f"{one}.new = <i>")
        always = (
            f"{one}.sizes.append(<i>)",
            f"{one} = dataclasses.replace({one}, units=<i>)",
            f"{one} = type({one})(units=<i>)",
        )
        a.do(fill(a, a.pick(always if frozen else changes + always)))

    def look() -> None:
        one = a.pick((first, second))
        a.look(a.pick((
            f"{one}.units", f"{one}.sizes", f"{one}.rate", f"dataclasses.asdict({one})", f"[f.name for f in dataclasses.fields({one})]",
            f"{one} == {base}()", f"{one} == dataclasses.replace({one})", f"dataclasses.is_dataclass({one})", f"hasattr({one}, 'name')",
            f"getattr({one}, 'kind', None)", f"{base}.units", f"vars({one})", f"dataclasses.astuple({one})", f"repr({one}.units)",
            f"hasattr({base}, 'sizes')", f"getattr({one}, 'total', 0)", f"isinstance({one}, {base})", f"{one} is {first}",
        )))  # fmt: skip

    a.walk(((2, step), (2, look)), 4 + a.choices.below(5))
    a.look(f"{first}.units", f"{second}.units", f"{first}.sizes", f"{second}.sizes", f"{second}.name")


def named(a: Author) -> None:
    """NamedTuple and namedtuple."""
    cls = a.fresh("Point")
    if a.chance(0.5):
        a.needs("from typing import NamedTuple")
        with a.inside(f"class {cls}(NamedTuple):"):
            a.do("a: int", f"b: int = {expression(a, INT)}")
            if a.chance(0.4):
                with a.function("def total(self):"):
                    a.do("return self.a + self.b")
    else:
        a.needs("import collections")
        a.do(a.pick((
            f'{cls} = collections.namedtuple("{cls}", "a b")', f'{cls} = collections.namedtuple("{cls}", ["a", "b"], defaults=(2,))',
        )))  # fmt: skip
    one = a.bind("point", fill(a, f"{cls}(<i>, b=<i>)"), "point")
    a.look(*a.choices.shuffled((
        f"{one}.a", f"{one}[1]", f"tuple({one})", f"len({one})", f"{one} == (1, 2)", f"{one}._replace(a=5).a", f"[*{one}]", f"{one}._asdict()",
        f"isinstance({one}, tuple)", f"{one}._fields", f"{one} + (1,)", f"sum({one})", f"{one}.b in {one}", f"{one}[::-1]", f"bool({one})",
        f"{cls}(a=1, b=2).b", f"{one}[-1:]", f"dict(zip({one}._fields, {one}))", f"hasattr({one}, 'c')", f"{cls}(*[3, 4]).a",
    ))[:6])  # fmt: skip
    x, y = a.fresh("v"), a.fresh("v")
    a.do(f"{x}, {y} = {one}")
    a.names[INT] += [x, y]


def enum(a: Author) -> None:
    """Members by name, by value and by attribute."""
    a.needs("import enum")
    cls = a.fresh("Kind")
    base = a.pick(("enum.Enum", "str, enum.Enum", "enum.IntEnum", "enum.Flag"))
    with a.inside(f"class {cls}({base}):"):
        if base == "str, enum.Enum":
            a.do('FULL = "float32"', 'MIXED = "mixed_float16"')
        else:
            a.do("FULL = 1", f"MIXED = {a.pick(('2', 'enum.auto()'))}")
        if a.chance(0.3) and base != "enum.Flag":
            a.do("OTHER = FULL")
        if a.chance(0.4):
            a.do("@property")
            with a.function("def is_mixed(self):"):
                a.do(f"return self is {cls}.MIXED")
        else:
            with a.function("def label(self):"):
                a.do("return self.name.lower()")
    value = '"float32"' if base.startswith("str") else "1"
    one = a.bind(
        "member",
        a.pick((f"{cls}.FULL", f'{cls}["FULL"]', f"{cls}({value})", f"{cls}.MIXED", f"list({cls})[0]")),
        "member",
    )
    a.look(*a.choices.shuffled((
        f"{one}.name", f"{one}.value", f"{one} is {cls}.FULL", f"{one} == {cls}.MIXED", f"{one} == {value}", f"len({cls})", f"[m.name for m in {cls}]",
        f"isinstance({one}, {cls})", f"{one} in (({cls}.FULL,))", f"getattr({one}, 'is_mixed', None)", f"hasattr({cls}, 'OTHER')", f"{cls}({value}).name",
        f"{{{cls}.FULL: 1}}.get({one})", f"isinstance({one}, str)", f"{cls}.FULL.value", f"{cls}.MIXED.value", f"type({one}) is {cls}", f"{one} != {cls}.FULL",
        f"'on' if {one} is {cls}.MIXED else 'off'", f"{one}.name in {cls}.__members__", f"hasattr({one}, 'label')", f"bool({one})",
    ))[:7])  # fmt: skip


def namespace(a: Author) -> None:
    """SimpleNamespace, and dicts that become attributes."""
    a.needs("from types import SimpleNamespace")
    one = a.bind(
        "namespace", fill(a, f"SimpleNamespace({a.pick(('', 'units=<i>', 'units=<i>, rate=<f>', '**<d>'))})"), "space"
    )

    def step() -> None:
        a.do(one_of(a,
            f"{one}.units = <i>", f"{one}.__dict__.update(<d>)", f"vars({one})['rate'] = <f>", f"setattr({one}, <s> or 'n', <i>)",
            f"if hasattr({one}, 'units'):\n    del {one}.units", f"vars({one}).pop('a', None)", f"vars({one}).clear()",
            f"for key, value in <d>.items():\n    setattr({one}, key, value)", f"{one} = SimpleNamespace(**vars({one}))",
            f"{one}.child = SimpleNamespace(units=<i>)", f"{one}.units = getattr({one}, 'units', 0) + 1", f"vars({one}).setdefault('b', <i>)",
        ))  # fmt: skip

    def look() -> None:
        a.look(a.pick((
            f"getattr({one}, 'units', None)", f"hasattr({one}, 'a')", f"vars({one})", f"sorted(vars({one}))", f"getattr({one}, 'rate', 1)",
            f"'units' in vars({one})", f"len(vars({one}))", f"vars({one}).get('b', 3)", f"{one} == SimpleNamespace()", f"{{**vars({one})}}",
            f"getattr(getattr({one}, 'child', {one}), 'units', 0)", f"list(vars({one}).items())", f"dict({one}.__dict__)", f"'a' in {one}.__dict__",
        )))  # fmt: skip

    a.walk(((2, step), (2, look)), 4 + a.choices.below(6))
    a.look(f"getattr({one}, 'units', None)", f"dict(vars({one}))")


def options(a: Author) -> None:
    """argparse, asked for the defaults or for a fixed command line."""
    a.needs("import argparse")
    parser = a.bind("parser", "argparse.ArgumentParser()", "parser")
    target = parser
    if a.chance(0.25):
        target = a.bind(
            "group", f"{parser}.{a.pick(('add_argument_group()', 'add_mutually_exclusive_group()'))}", "group"
        )
    added = a.choices.shuffled((
        f'{target}.add_argument("--policy", default="float32", choices=["float32", "mixed_float16"])',
        fill(a, f'{parser}.add_argument("--units", "-u", type=int, default=<i>)'),
        f'{target}.add_argument("--mixed-precision", action="store_true")',
        f'{parser}.add_argument("--no-amp", dest="amp", action="store_false")',
        f'{parser}.add_argument("--rate", type=float)',
        fill(a, f'{parser}.add_argument("--name", default=<s>)'),
        f'{parser}.add_argument("--sizes", type=int, nargs="+", default=[1, 2])',
        f'{parser}.add_argument("data", nargs="?", default="here")',
        f'{parser}.add_argument("--level", type=int, default="3")',
        f'{parser}.add_argument("--verbose", action="count", default=0)',
        f'{parser}.add_argument("--lr", type=lambda text: float(text) * 2, default="0.5")',
        f'{parser}.add_argument("--const", action="store_const", const=4)',
    ))[: 2 + a.choices.below(5)]  # fmt: skip
    for line in added:
        a.do(line)
    if a.chance(0.4):
        a.do(
            f"{parser}.set_defaults({a.pick(('units=77', 'policy=chr(109)', 'extra=1', 'mixed_precision=True', 'amp=5'))})"
        )
    given = a.pick(
        (
            "[]",
            "[]",
            '["--units", "5"]',
            '["--mixed-precision"]',
            '["--units=8", "--no-amp"]',
            '["--policy", "mixed_float16"]',
        )
    )
    options_ = {
        '"--units"': "units",
        '"--units=8"': "units",
        '"--mixed-precision"': "mixed-pre",
        '"--no-amp"': "no-amp",
        '"--policy"': "policy",
    }
    if any(key in given and not any(f"--{option}" in line for line in added) for key, option in options_.items()):
        given = "[]"
    args = a.fresh("args")
    if a.chance(0.25):
        a.do(f"{args}, rest = {parser}.parse_known_args({given})")
        a.look("rest")
    else:
        a.do(f"{args} = {parser}.parse_args({given})")
    if a.chance(0.3):
        a.do(
            one_of(
                a,
                f"{args}.units = <i>",
                f"{args}.policy = <s>",
                f"vars({args})['units'] = <i>",
                f"vars({args}).update(<d>)",
            )
        )
    for field in a.choices.shuffled(
        ("policy", "units", "mixed_precision", "amp", "rate", "name", "sizes", "data", "level", "extra", "lr", "const")
    )[:6]:
        a.look(
            a.pick(
                (
                    f"getattr({args}, '{field}', 'none')",
                    f"vars({args}).get('{field}')",
                    f"hasattr({args}, '{field}')",
                    f"'{field}' in vars({args})",
                )
            )
        )
    a.look(
        f"'mixed' if getattr({args}, 'mixed_precision', None) else 'full'",
        f"len(vars({args}))",
        f"sorted(vars({args}))",
    )
    policy = a.bind(TEXT, "'float32'", "policy")
    with a.inside(f"if getattr({args}, 'mixed_precision', False):"):
        a.do(f"{policy} = 'mixed_float16'")


TOPICS = ((3, dataclass), (2, named), (2, enum), (2, namespace), (3, options))
