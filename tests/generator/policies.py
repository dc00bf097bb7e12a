"""The global policy: which, and how and where the program sets it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from tests.generator.author import Author

_NAMES = [(20, "mixed_float16"), (10, "mixed_bfloat16"), (2, "float32"), (1, "float16"), (1, "bfloat16")]
_SETTERS = {
    "2": ("mixed_precision.set_global_policy",),
    "3": ("mixed_precision.set_global_policy", "mixed_precision.set_dtype_policy", "config.set_dtype_policy"),
}
_GETTERS = {
    "2": ("mixed_precision.global_policy",),
    "3": ("mixed_precision.global_policy", "mixed_precision.dtype_policy", "config.dtype_policy"),
}
_POLICIES = {
    "2": ("mixed_precision.Policy",),
    "3": ("mixed_precision.Policy", "mixed_precision.DTypePolicy", "DTypePolicy", "dtype_policies.DTypePolicy"),
}


@dataclass(frozen=True)
class Plan:
    """What is written before the models, between the first and the second, and around them all."""

    before: Callable[[], None]
    between: Callable[[], None]
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    in_main: bool = False


def draw(a: Author) -> Plan:
    """A plan."""
    name = a.choices.weighted(_NAMES)
    second = a.choices.weighted(_NAMES)
    if a.choices.chance(0.08):
        return _in_context(a, name)
    placement = a.choices.weighted(
        [
            (20, set_policy),
            (4, nothing),
            (6, in_function),
            (6, behind_flag),
            (2, behind_false_flag),
            (4, twice),
            (3, by_name),
            (3, conditional),
            (3, from_class),
            (1, from_parser),
            (1, in_try),
        ]
    )
    between = a.choices.weighted([(8, nothing), (1, set_policy), (1, back_to_float32)])
    return Plan(lambda: _part(a, placement, name), lambda: _part(a, between, second), in_main=a.choices.chance(0.15))


def _part(a: Author, write: Callable[[Author, str], None], name: str) -> None:
    with a.choices.part("policy"):
        write(a, name)


def nothing(a: Author, name: str) -> None:
    """No policy."""


def set_policy(a: Author, name: str) -> None:
    """Set it here."""
    form = a.choices.weighted(
        [(8, "string"), (2, "policy"), (2, "variable"), (1, "f-string"), (1, "keyword"), (1, "concatenated")]
    )
    setter = a.keras(a.choices.pick(_SETTERS[a.generation]))
    value = a.text(name)
    if form == "policy":
        value = policy_object(a, name)
    elif form == "variable":
        target = a.fresh("policy")
        a.page.assign(target, policy_object(a, name))
        value = target
    elif form == "f-string" and name.startswith("mixed_"):
        target = a.fresh("half")
        a.page.assign(target, a.text(name.removeprefix("mixed_")))
        value = f'f"mixed_{{{target}}}"'
    elif form == "concatenated" and name.startswith("mixed_"):
        value = f"{a.text('mixed_')} + {a.text(name.removeprefix('mixed_'))}"
    elif form == "keyword":
        a.page.do(a.page.call(a.keras(_SETTERS[a.generation][0]), policy=value))
        return
    a.page.do(a.page.call(setter, value))


def back_to_float32(a: Author, name: str) -> None:
    """The second model is float32."""
    set_policy(a, "float32")


def policy_object(a: Author, name: str) -> str:
    """`Policy(name)`."""
    return a.page.call(a.keras(a.choices.pick(_POLICIES[a.generation])), a.text(name))


def _set(a: Author, value: str) -> None:
    """The setter's call with a finished argument."""
    a.page.do(f"{a.keras(a.choices.pick(_SETTERS[a.generation]))}({value})")


def in_function(a: Author, name: str) -> None:
    """A function sets it, and is called."""
    function = a.fresh("set_up")
    if a.choices.chance(0.5):
        parameter = a.choices.pick((f"name={a.text(name)}", f"name: str = {a.text(name)}"))
        with a.page.inside(f"def {function}({parameter}):"):
            _set(a, "name")
    else:
        with a.page.inside(f"def {function}():"):
            set_policy(a, name)
    a.page.blank(2)
    a.page.do(f"{function}()")


def behind_flag(a: Author, name: str) -> None:
    """A constant switches it on."""
    flag = a.fresh("MIXED")
    a.page.assign(flag, a.choices.pick(("True", "1", "not False", a.text("on"))))
    with a.page.inside(a.choices.pick((f"if {flag}:", f"if bool({flag}):", f"if not (not {flag}):"))):
        set_policy(a, name)


def behind_false_flag(a: Author, name: str) -> None:
    """A constant keeps it off."""
    flag = a.fresh("MIXED")
    a.page.assign(flag, a.choices.pick(("False", "0", "None", a.text(""))))
    with a.page.inside(f"if {flag}:"):
        set_policy(a, name)


def twice(a: Author, name: str) -> None:
    """Set, and set again to something else."""
    set_policy(a, name)
    set_policy(a, a.choices.pick(("float32", "mixed_bfloat16", "mixed_float16")))


def by_name(a: Author, name: str) -> None:
    """The name comes out of a mapping."""
    table = a.fresh("POLICIES")
    a.page.assign(table, a.mapping({"fast": a.text(name), "exact": a.text("float32")}))
    _set(a, a.choices.pick((f"{table}[{a.text('fast')}]", f"{table}.get({a.text('fast')})")))


def conditional(a: Author, name: str) -> None:
    """A conditional expression over a constant."""
    flag = a.fresh("use_half")
    a.page.assign(flag, "True")
    _set(a, f"{a.text(name)} if {flag} else {a.text('float32')}")


def from_class(a: Author, name: str) -> None:
    """An attribute of a class, or a field of a dataclass, holds the name."""
    owner = a.fresh("Config")
    if a.choices.chance(0.5):
        with a.page.inside(f"class {owner}:"):
            a.page.assign("precision", a.text(name))
        a.page.blank(2)
        _set(a, f"{owner}.precision")
        return
    a.spelling.standard("import dataclasses")
    with a.page.inside(f"@dataclasses.dataclass\nclass {owner}:"):
        a.page.do(f"precision: str = {a.text(name)}")
    a.page.blank(2)
    config = a.fresh("chosen")
    a.page.assign(config, f"{owner}()")
    _set(a, f"{config}.precision")


def from_parser(a: Author, name: str) -> None:
    """The default of a command line option."""
    a.several_worlds = True
    a.spelling.standard("import argparse")
    parser, options = a.fresh("parser"), a.fresh("options")
    a.page.assign(parser, "argparse.ArgumentParser()")
    a.page.do(a.page.call(f"{parser}.add_argument", a.text("--policy"), default=a.text(name)))
    a.page.assign(options, f"{parser}.parse_args([])")
    _set(a, f"{options}.policy")


def in_try(a: Author, name: str) -> None:
    """An older name of the setter where this one is missing."""
    a.several_worlds = True
    with a.page.inside("try:"):
        set_policy(a, name)
    with a.page.inside("except AttributeError:"):
        a.page.do("pass")


def _in_context(a: Author, name: str) -> Plan:
    """A context manager sets it, and puts the old one back."""
    manager = a.fresh("precision")

    def before() -> None:
        a.spelling.standard("import contextlib")
        with a.page.inside(f"@contextlib.contextmanager\ndef {manager}(name):"):
            a.page.assign("before", f"{a.keras(a.choices.pick(_GETTERS[a.generation]))}()")
            _set(a, "name")
            a.page.do("yield")
            _set(a, "before")
        a.page.blank(2)

    @contextmanager
    def around() -> Iterator[None]:
        with a.page.inside(f"with {manager}({a.text(name)}):"):
            yield

    return Plan(before, lambda: None, around)
