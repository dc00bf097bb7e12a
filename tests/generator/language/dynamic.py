"""Names that are made at run time: globals, exec, imported modules, attributes put on libraries."""

from __future__ import annotations

from tests.generator.language.author import INT, TEXT, Author
from tests.generator.language.expressions import expression, fill, one_of


def namespaces(a: Author) -> None:
    """`globals()`, `locals()`, `vars()` and what is done to them."""
    name, other = a.bind(INT, expression(a, INT), "g"), a.fresh("g")
    a.do(one_of(a,
        f"globals()['{name}'] = <i>", f"globals().update({name}=<i>)", f"globals()['{other}'] = <i>", f"vars()['{name}'] = <i>",
        f"globals().setdefault('{name}', <i>)", f"locals()['{name}'] = <i>", f"space = globals()\nspace['{name}'] = <i>",
        f"globals().pop('{name}')\n{name} = <i>", f"for key in ('{name}', '{other}'):\n    globals()[key] = <i>",
        f"globals()['{name}'] += 1", f"globals().update({{'{name}': <i>, '{other}': <i>}})",
    ))  # fmt: skip
    a.look(
        name,
        f"globals().get('{name}')",
        f"'{other}' in globals()",
        f"globals().get('{other}', None)",
        f"globals()['{name}']",
    )
    if a.chance(0.4):
        function = a.fresh("f")
        with a.function(f"def {function}(x):", x=INT):
            a.do(
                a.pick(
                    (
                        f"globals()['{name}'] = x",
                        "y = 3\nreturn sorted(locals())",
                        "return locals().get('x')",
                        "return dict(locals())",
                        "del x\nreturn 'x' in locals()",
                    )
                )
            )
        a.look(fill(a, f"{function}(<i>)"), name)


def executed(a: Author) -> None:
    """exec and eval: nothing that they may touch is known behind them."""
    name = a.bind(INT, expression(a, INT), "e")
    a.do(one_of(a,
        f'exec("{name} = 41")', f'exec("{name} += 1")', f'exec(compile("{name} = 5", "x", "exec"))', f'exec("{name} = 1", globals())',
        f'exec("{name} = 1", {{}})', f'space = {{}}\nexec("{name} = 8", space)\n{name} = space["{name}"]', f"code = '{name} = ' + str(<i>)\nexec(code)",
        f'{name} = eval("<i> + 1")', f'eval("globals().update({name}=3)")', f'def runs():\n    exec("global {name}\\n{name} = 9")\nruns()',
        f'class Holder:\n    value = 1\nexec("Holder.value = 2")\n{name} = Holder.value',
    ))  # fmt: skip
    a.look(name, f"{name} + 1", f"[{name}]")


def libraries(a: Author) -> None:
    """Attributes of modules, by import statement and by name."""
    a.needs("import importlib")
    a.needs("import math")
    a.look(a.pick((
        'importlib.import_module("json").dumps([1])', 'importlib.import_module("math").floor(2.5)', 'getattr(math, "ceil")(1.2)', "math.pi > 3",
        'hasattr(math, "nothing")', '__import__("math").sqrt(4)', "math.prod([2, 3])", "math.gcd(4, 6)", "math.isclose(1.0, 1.0)", "math.inf > 5", "math.log2(8)",
        'importlib.import_module("json") is importlib.import_module("json")', "math.__name__", "round(math.e, 1)", "math.floor(-1.5)", "math.sqrt(16)",
    )))  # fmt: skip
    field = a.fresh("patched")
    a.do(one_of(a, f"math.{field} = <i>", f"setattr(math, '{field}', <i>)"))
    with a.inside(f"if {a.unknown() if a.chance(0.6) else 'False'}:"):
        a.do(fill(a, f"math.{field} = <i>"))
    a.look(f"math.{field}", f"getattr(math, '{field}', None)", f"hasattr(math, '{field}')")
    if a.chance(0.4):
        a.do(f"del math.{field}")
        a.look(f"getattr(math, '{field}', 'gone')")


def environment(a: Author) -> None:
    """Variables of the environment, which the program may set itself."""
    a.needs("import os")
    policy = a.fresh("policy")
    a.do(a.pick((
        f'{policy} = os.environ.get("FLAG_A", "float32")', f'{policy} = os.getenv("FLAG_B") or "float32"', f'os.environ["OWN"] = "mixed_float16"\n{policy} = os.environ["OWN"]',
        f'os.environ.setdefault("OWN", "1")\n{policy} = os.environ.get("OWN", "0")', f'{policy} = "mixed_float16" if os.environ.get("FLAG_A") else "float32"',
        f'os.environ["FLAG_A"] = "1"\n{policy} = os.environ.get("FLAG_A")', f'os.environ.pop("FLAG_B", None)\n{policy} = os.environ.get("FLAG_B", "none")',
    )))  # fmt: skip
    a.look(policy, f'{policy} == "float32"', f'{policy}.startswith("mixed")', f'"on" if {policy} == "1" else "off"')
    a.names[TEXT].append(policy)
    cls = a.fresh("Flags")
    with a.inside(f"class {cls}:"):
        a.do('policy = "float32"', "amp = False")
    with a.inside(f"if {a.unknown()}:"):
        a.do(
            a.pick(
                (
                    f'{cls}.policy = "mixed_float16"',
                    f"{cls}.amp = True",
                    f"{cls}.late = 1",
                    f"setattr({cls}, 'amp', True)",
                    f"del {cls}.amp",
                )
            )
        )
    a.look(
        f"{cls}.policy",
        f"getattr({cls}, 'amp', None)",
        f"hasattr({cls}, 'late')",
        f"{cls}().policy",
        f"getattr({cls}(), 'late', 5)",
    )


def abstract(a: Author) -> None:
    """abc, typing noise, class keywords, metaclass hooks, slots, descriptors."""
    a.needs("import abc")
    a.needs("import typing")
    base, cls = a.fresh("Abstract"), a.fresh("Concrete")
    log = a.bind("log", "[]", "log")
    with a.inside(
        f"class {base}({a.pick(('abc.ABC', 'metaclass=abc.ABCMeta', 'typing.Generic[typing.TypeVar(chr(84))]'))}):"
    ):
        if a.chance(0.4):
            with a.function("def __init_subclass__(cls, **kwargs):"):
                a.do(f"{log}.append(cls.__name__)", "cls.tag = 'sub'")
        if a.chance(0.3):
            with a.function("def __new__(cls, *args):"):
                a.do("self = super().__new__(cls)", "self.born = 1", "return self")
        a.do("@abc.abstractmethod")
        with a.function("def build(self):"):
            a.do("...")
        with a.function("def run(self, x: 'int' = 1) -> typing.Any:"):
            a.do("return self.build() + x")
        if a.chance(0.3):
            a.do("@property\ndef kind(self):\n    return type(self).__name__")
    with a.inside(f"class {cls}({base}):"):
        a.do("limit: typing.ClassVar[int] = 3", "unset: int")
        with a.function("def build(self):"):
            a.do(f"return {a.pick(('self.limit', '10', 'type(self).limit + 1'))}")
        if a.chance(0.4):
            with a.inside("class Inner:"):
                a.do("value = 4")
        if a.chance(0.3):
            a.do("@staticmethod\ndef make():\n    return 5", "made = [n for n in range(3)]")
    one = a.bind("object", f"{cls}()", "one")
    a.look(f"{one}.run()", fill(a, f"{one}.run(<i>)"), log, f"hasattr({cls}, 'unset')", f"getattr({one}, 'tag', None)", f"getattr({one}, 'born', 0)",
           f"getattr({cls}, 'made', None)", f"isinstance({one}, {base})", f"typing.cast(int, {one}.limit)", f"{cls}.limit", f"getattr({one}, 'kind', '')")  # fmt: skip


TOPICS = ((2, namespaces), (2, executed), (2, libraries), (2, environment), (2, abstract))
