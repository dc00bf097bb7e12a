"""Classes of the program and a random walk over their objects."""

from __future__ import annotations

from tests.generator.language.author import INT, Author
from tests.generator.language.expressions import expression, fill

FIELDS = ("units", "rate", "name", "extra")


def _methods(a: Author, cls: str) -> None:
    """Some of what classes have: accessors, hooks and operators."""
    wanted = [
        ("@property\ndef doubled(self):", 'return getattr(self, "units", 1) * 2'),
        ("@classmethod\ndef create(cls, **kwargs):", 'made = cls()\nmade.extra = kwargs\nreturn made'),
        ("@staticmethod\ndef helper(x):", "return x + 1"),
        ("def set(self, value):", "self.rate = value\nreturn self"),
        ("def bump(self, by=1):", f"{cls}.count += by\nself.units = by"),
        ("def __call__(self, x=1):", "return x + 1"),
        ("def __len__(self):", "return 0" if a.chance(0.3) else "return 2"),
        ("def __bool__(self):", f"return {a.pick(('True', 'False'))}"),
        ("def __eq__(self, other):", a.pick(("return isinstance(other, type(self))", "return True"))),
        ("def __getitem__(self, key):", "return key"),
        ("def __contains__(self, key):", f"return key in {a.pick(('(1, 2)', '(3,)'))}"),
        ("def __iter__(self):", a.pick(("return iter([1, 2])", "yield 1\nyield 5"))),
        ("def __add__(self, other):", "return 40"),
        ("def __repr__(self):", f"return '{cls}()'"),
        ("def __lt__(self, other):", "return True"),
        ("def __hash__(self):", "return 7"),
        ("def __getattr__(self, name):", "if name.startswith('_'):\n    raise AttributeError(name)\nreturn 'made ' + name"),
        ("def __setattr__(self, name, value):", a.pick((
            "object.__setattr__(self, name, value)", "super().__setattr__(name, [value])", "self.__dict__[name] = value",
            "super().__setattr__('_' + name, value)",
        ))),
        ("def __getattribute__(self, name):", "if name == 'rate':\n    return 99\nreturn super().__getattribute__(name)"),
        ("def __delattr__(self, name):", "pass"),
    ]  # fmt: skip
    for header, body in a.choices.shuffled(wanted)[: a.choices.below(7)]:
        *decorators, header = header.split("\n")
        a.do(*decorators)
        with a.function(header):
            a.do(body)
    if a.chance(0.3):
        a.do("@property")
        with a.function("def level(self):"):
            a.do('return self.__dict__.get("_level", 0)')
        a.do("@level.setter")
        with a.function("def level(self, value):"):
            a.do('self.__dict__["_level"] = value + 1' if a.chance(0.5) else "self._level = value + 1")


def walk(a: Author) -> None:
    """One or two classes, some objects, and what programs do to them."""
    base, cls = a.fresh("Base"), a.fresh("Config")
    with a.inside(f"class {base}:"):
        a.do(f"units = {expression(a, INT)}", "count = 0", "shared = []")
        with a.function("def __init__(self, rate=0.5, **kwargs):"):
            a.do("self.rate = rate")
            a.do(
                a.pick(
                    (
                        "self.__dict__.update(kwargs)",
                        "for key, value in kwargs.items():\n    setattr(self, key, value)",
                        "self.options = kwargs",
                        'self.name = kwargs.get("name", "base")',
                        "vars(self).update(kwargs)",
                    )
                )
            )
        _methods(a, base)
    with a.inside(f"class {cls}({base}):"):
        if a.chance(0.5):
            a.do(f"units = {expression(a, INT)}")
        if a.chance(0.5):
            with a.function("def __init__(self, *args, name='x', **kwargs):"):
                a.do("super().__init__(*args, name=name, **kwargs)", "self.made = len(args)")
        if a.chance(0.4):
            _methods(a, cls)
    first, second = a.fresh("obj"), a.fresh("obj")
    a.do(
        f"{first} = {cls}()", fill(a, f"{second} = {a.pick((cls, base))}({a.pick(('', '<f>', 'rate=<i>, extra=<i>'))})")
    )
    alias = a.fresh("alias")
    a.do(f"{alias} = {a.pick((first, second, f'[{first}, {second}][0]'))}")
    objects, classes = (first, second, alias), (base, cls)

    def step() -> None:
        one, kind, field = a.pick(objects), a.pick(classes), a.pick(FIELDS)
        a.do(fill(a, a.choices.weighted((
            (4, f"{one}.{field} = <i>"), (2, f"{kind}.{field} = <i>"), (1, f"setattr({one}, '{field}', <i>)"),
            (1, f"{one}.__dict__['{field}'] = <i>"), (1, f"vars({one}).update({field}=<i>)"),
            (1, f"vars({one}).pop('{field}', None)"), (1, f"d = vars({one})\nd |= {{'{field}': <i>}}"),
            (1, f"d = vars({one})\nd['{field}'] = <i>"), (1, f"{one}.__dict__.setdefault('{field}', <i>)"),
            (1, f"{one}.shared.append(<i>)"), (1, f"{kind}.count += 1"), (1, f"{one}.count += 1"),
            (2, f"if '{field}' in vars({one}):\n    del {one}.{field}"), (1, f"delattr({one}, '{field}') if '{field}' in {one}.__dict__ else None"),
            (1, f"for key in ('units', 'extra'):\n    setattr({one}, key, <i>)"),
            (1, f"try:\n    del {kind}.{field}\nexcept AttributeError:\n    pass"), (1, f"{one}.level = <i>"),
            (1, f"setattr({kind}, '{field}', <i>)"), (1, f"{kind}.doubled = 3"),
            (1, f"vars({one}).clear()"),
            (1, f"getattr({one}, 'set', print)(<i>)"), (1, f"getattr({one}, 'bump', print)()"),
            (1, f"{kind}.helper = lambda *a: 6"), (1, f"{one}.helper = lambda *a: 5"), (1, f"object.__setattr__({one}, '{field}', <i>)"),
            (1, f"import copy\n{one} = copy.copy({one})"), (1, f"import copy\n{one} = copy.deepcopy({one})"),
        ))))  # fmt: skip

    def look() -> None:
        one, kind, field = a.pick(objects), a.pick(classes), a.pick(FIELDS)
        a.look(fill(a, a.choices.weighted((
            (3, f"getattr({one}, '{field}', None)"), (2, f"hasattr({one}, '{field}')"), (2, f"getattr({kind}, '{field}', 'none')"),
            (1, f"sorted(vars({one}))"), (1, f"vars({one}).get('{field}')"), (1, f"'{field}' in {one}.__dict__"), (1, f"dict(vars({one}))"),
            (1, f"{one}.units"), (1, f"{one}.rate"), (1, f"{kind}.units"), (1, f"{one}.count"), (1, f"{one}.shared"), (1, f"{kind}.count"),
            (1, f"isinstance({one}, {kind})"), (1, f"issubclass({cls}, {kind})"), (1, f"type({one}) is {kind}"), (1, f"{one}.__class__.__name__"),
            (1, f"({one} is {a.pick(objects)})"), (1, f"({one} == {a.pick(objects)})"), (1, f"bool({one})"), (1, f"callable({one})"),
            (1, f"getattr({one}, 'doubled', 0)"), (1, f"getattr({one}, 'level', 0)"), (1, f"{one}.helper(1) if hasattr({one}, 'helper') else 0"),
            (1, f"{one}() if callable({one}) else 0"), (1, f"len({one}) if hasattr({one}, '__len__') else -1"),
            (1, f"{one}[<i>] if hasattr(type({one}), '__getitem__') else -1"), (1, f"list({one}) if hasattr(type({one}), '__iter__') else -1"),
            (1, f"(1 in {one}) if hasattr(type({one}), '__contains__') else -1"), (1, f"hasattr({kind}, 'doubled')"), (1, f"hasattr({one}, 'made')"),
            (1, f"({one} + 1) if hasattr(type({one}), '__add__') else -1"), (1, f"1 if {one} else 2"), (1, f"{one} in [{first}]"),
            (1, f"{kind}.__name__"), (1, f"{kind}.__mro__[1].__name__"),
            (1, f"getattr({one}, 'options', None)"), (1, f"{one}.made if hasattr({one}, 'made') else None"),
            (1, f"getattr({one}, 'name', 'none')"), (1, f"sorted(k for k in {kind}.__dict__ if k == '{field}')"), (1, f"'{field}' in dir({one})"),
        ))))  # fmt: skip

    a.walk(((3, step), (2, look)), 6 + a.choices.below(8))
    for one in (first, second):
        a.look(f"getattr({one}, 'units', None)", f"getattr({one}, 'rate', None)", f"dict(vars({one}))")
    a.look(f"{cls}.units", f"{base}.count")


TOPICS = ((6, walk),)
