"""Assignments and control flow over the variables in scope."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator.language.author import BOOL, FLOAT, INT, INTS, MAPPING, PAIR, TEXT, TEXTS, Author
from tests.generator.language.expressions import expression, fill, literal, one_of

_STORED = (INT, INT, INT, TEXT, FLOAT, BOOL, INTS, INTS, TEXTS, MAPPING, MAPPING, PAIR)


def block(a: Author, count: int, depth: int = 2) -> None:
    """Some statements; control flow is nested `depth` deep at most."""
    for _ in range(count):
        if depth > 0 and a.chance(0.4):
            a.choices.weighted(_FLOW)(a, depth - 1)
        else:
            a.choices.weighted(_SIMPLE)(a)


def _new(a: Author) -> None:
    kind = a.pick(_STORED)
    a.bind(kind, expression(a, kind))


def _again(a: Author) -> None:
    kind = a.pick(_STORED)
    names = a.names[kind]
    if names:
        a.do(f"{a.pick(names)} = {_short(a, kind)}")
    else:
        a.bind(kind, literal(a, kind))


def _short(a: Author, kind: str) -> str:
    """An expression for a variable that there is: what doubles in a loop must not go on for ever."""
    text = expression(a, kind)
    return f"({text})[:9]" if kind in (INTS, TEXTS, TEXT) else text


def _augmented(a: Author) -> None:
    kind, operator = a.choices.pick(
        ((INT, "+="), (INT, "-="), (INT, "|="), (FLOAT, "+="), (TEXT, "+="), (INTS, "+="), (MAPPING, "|="))
    )
    if a.names[kind]:
        a.do(f"{a.pick(a.names[kind])} {operator} {_short(a, kind)}")


def _unpacking(a: Author) -> None:
    first, second, third = a.fresh("v"), a.fresh("v"), a.fresh("v")
    form = a.choices.below(5)
    if form == 0:
        a.do(f"{first}, {second} = {expression(a, PAIR)}")
    elif form == 1:
        a.do(fill(a, f"{first}, *{third}, {second} = (<i>, *<is>, <i>)"))
        a.names[INTS].append(third)
    elif form == 2:
        a.do(f"{first}, ({second}, *{third}) = 1, {expression(a, PAIR)}")
        a.names[INTS].append(third)
    elif form == 3:
        a.do(f"{first} = {second} = {expression(a, INT)}")
    else:
        a.do(fill(a, f"{first}, {second} = <i>, <i>"), f"{first}, {second} = {second}, {first}")
    a.names[INT] += [first, second]


def _mutated_list(a: Author) -> None:
    if not a.names[INTS]:
        return
    name = a.pick(a.names[INTS])
    a.do(one_of(a,
        f"{name}.append(<i>)", f"{name}.extend(<is>[:4])", f"{name}.insert(<i>, <i>)", f"{name}.reverse()", f"{name}.sort()",
        f"{name}.sort(reverse=True)", f"{name}[:] = <is>", f"{name}[1:2] = <is>[:3]", f"{name}.clear()", f"del {name}[:1]",
        f"{name}.append(0)\n{name}[0] = <i>", f"{name}.append(<i>)\n{name}.pop()", f"{name}.append(5)\n{name}.remove(5)",
        f"{name}.append(1)\ndel {name}[-1]", f"{name}.append(2)\n{name}[-1] += <i>", f"{name} += (<i>,)", f"del {name}[3:]\n{name} *= 2",
        f"if {name}:\n    {name}.pop(0)", f"if <i> in {name}:\n    {name}.remove({name}[0])", f"{name} = {name}[:5]",
    ))  # fmt: skip


def _mutated_mapping(a: Author) -> None:
    if not a.names[MAPPING]:
        return
    name = a.pick(a.names[MAPPING])
    a.do(one_of(a,
        f'{name}["a"] = <i>', f"{name}[<s>] = <i>", f"{name}.update(<d>)", f"{name}.update(b=<i>)", f'{name}.pop("a", None)',
        f'{name}.setdefault("a", <i>)', f'{name}.setdefault("c", 0)\n{name}["c"] += 1', f"{name} |= <d>", f"{name}.clear()",
        f'{name}["b"] = 1\ndel {name}["b"]', f'if "a" in {name}:\n    del {name}["a"]', f'{name}["a"] = {name}.get("a", 0) + 1',
        f'{name}.update([("x", <i>)])', f"for key in list({name}):\n    {name}[key] += 1", f'{name}["n"] = {name}.pop("units", 3)',
    ))  # fmt: skip


def _observed(a: Author) -> None:
    if not a.local:
        kind = a.pick(_STORED)
        a.look(expression(a, kind, 3))


def _alias(a: Author) -> None:
    kind = a.pick((INTS, MAPPING))
    if a.names[kind]:
        a.bind(kind, a.pick(a.names[kind]))


def _deleted(a: Author) -> None:
    name = a.fresh("v")
    a.do(f"{name} = {expression(a, INT)}", f"del {name}")
    with a.inside("try:"):
        a.do(f"{name}")
    with a.inside("except NameError:"):
        a.do(f"{name} = {expression(a, INT)}")
    a.names[INT].append(name)


def _walrus(a: Author) -> None:
    name = a.fresh("v")
    with a.inside(fill(a, f"if ({name} := <i>) > 1:")):
        block(a, 1, 0)
    a.names[INT].append(name)


_SIMPLE: list[tuple[int, Callable[[Author], None]]] = [
    (6, _new), (3, _again), (3, _augmented), (2, _unpacking), (4, _mutated_list), (4, _mutated_mapping), (2, _observed),
    (1, _alias), (1, _deleted), (1, _walrus), (1, lambda a: a.do(a.pick(("pass", "...", "assert True")))),
]  # fmt: skip


# -- control flow


def condition(a: Author) -> str:
    """A test, now and then one that only the run knows."""
    if a.chance(0.3):
        unknown = a.unknown()
        return a.pick((unknown, f"not {unknown}", fill(a, f"{unknown} and <b>"), fill(a, f"{unknown} or <b>")))
    return expression(a, a.pick((BOOL, BOOL, INT, INTS, TEXT, MAPPING)))


def _if(a: Author, depth: int) -> None:
    with a.inside(f"if {condition(a)}:"):
        block(a, 1 + a.choices.below(3), depth)
    if a.chance(0.3):
        with a.inside(f"elif {condition(a)}:"):
            block(a, 1 + a.choices.below(2), depth)
    if a.chance(0.5):
        with a.inside("else:"):
            block(a, 1 + a.choices.below(2), depth)


def _leave(a: Author) -> None:
    if a.chance(0.4):
        test = fill(a, a.unknown() if a.chance(0.3) else "<b>")
        with a.inside(f"if {test}:"):
            if a.chance(0.5):
                block(a, 1, 0)
            a.do(a.pick(("break", "continue")))


def _for(a: Author, depth: int) -> None:
    """A loop over a copy: one over what its body makes longer would never end."""
    item, more = a.fresh("i"), a.fresh("i")
    header, kinds = a.choices.pick((
        (f"for {item} in range({a.pick(('3', '2', '0', '50', '300'))}):", {item: INT}),
        (f"for {item} in list(<is>):", {item: INT}),
        (f"for {item} in <ss>[:9]:", {item: TEXT}),
        (f"for {item}, {more} in enumerate(list(<is>), 1):", {item: INT, more: INT}),
        (f"for {item}, {more} in list(<d>.items()):", {item: TEXT, more: INT}),
        (f"for {item}, {more} in zip(list(<is>), list(<ss>)):", {item: INT, more: TEXT}),
        (f"for {item} in sorted(<d>):", {item: TEXT}),
        (f"for {item} in reversed(list(<is>)):", {item: INT}),
    ))  # fmt: skip
    grows = "300" in header or "50" in header
    if a.chance(0.5) and a.names[INT]:
        counter = a.pick(a.names[INT])
        with a.inside(fill(a, header)):
            a.do(f"{counter} += 1")
            _leave(a)
        _else(a)
        return
    with a.inside(fill(a, header.replace("300", "4").replace("50", "5") if grows else header)):
        for name, kind in kinds.items():
            a.names[kind].append(name)
        block(a, 1 + a.choices.below(2), depth if a.chance(0.3) else 0)
        _leave(a)
    _else(a)


def _else(a: Author) -> None:
    if a.chance(0.2):
        with a.inside("else:"):
            block(a, 1, 0)


def _while(a: Author, depth: int) -> None:
    counter = a.bind(INT, "0", "n")
    a.names[INT].remove(counter)
    limit = a.pick(("3", "5", "1", "60"))
    endless = a.chance(0.5)
    with a.inside(a.pick(("while True:", "while 1:")) if endless else f"while {counter} < {limit}:"):
        a.do(f"{counter} += 1")
        if endless:
            with a.inside(f"if {counter} >= {limit}:"):
                a.do("break")
        _leave(a)
        if limit != "60":
            block(a, 1, 0)
    _else(a)
    a.names[INT].append(counter)


def _try(a: Author, depth: int) -> None:
    with a.inside("try:"):
        block(a, a.choices.below(2), 0)
        a.do(one_of(a,
            "int(<s>)", "<is>[0]", '<d>["a"]', "1 // <i>", "raise ValueError(<s>)", "len(<s>)", "None.missing",
            "raise KeyError" , "assert <b>, 'no'", "dict(<d>)",
        ))  # fmt: skip
        block(a, a.choices.below(2), 0)
    error = a.fresh("error")
    with a.inside(f"except {a.pick(('Exception', '(KeyError, IndexError, ValueError)', 'BaseException'))} as {error}:"):
        block(a, a.choices.below(2), 0)
        if not a.local:
            a.look(f"type({error}).__name__")
    if "Exception" not in a.lines[-1]:
        with a.inside("except Exception:"):
            block(a, 1, 0)
    if a.chance(0.3):
        with a.inside("else:"):
            block(a, 1, 0)
    if a.chance(0.4):
        with a.inside("finally:"):
            block(a, 1, 0)


def _match(a: Author, depth: int) -> None:
    name = a.fresh("m")
    subject, patterns = a.choices.pick((
        ("<i>", ("0 | 1", "2", f"int({name}) if {name} > 3", name)),
        ("<s>", ("'relu'", "'adam' | 'a'", f"str({name})", "_")),
        ("<p>", (f"(1, {name})", f"(0, _) as {name}", f"[{name}, 2]", "(_, _)")),
        ("<is>", ("[]", f"[{name}]", f"[{name}, *_]", "_")),
        ("<d>", (f'{{"a": {name}}}', f'{{"b": 1, **{name}}}', "{}", "_")),
        ("<b>", ("True", "False", "None")),
    ))  # fmt: skip
    result = a.bind(INT, "-5")
    with a.inside(fill(a, f"match {subject}:")):
        for pattern in patterns:
            with a.inside(f"case {pattern}:"):
                if name in pattern and not a.local:
                    a.look(name)
                a.do(f"{result} = {expression(a, INT)}")


def _with(a: Author, depth: int) -> None:
    a.needs("import contextlib")
    with a.inside(a.pick((
        "with contextlib.suppress(KeyError, ValueError):", "with contextlib.nullcontext(4):", "with contextlib.ExitStack():",
    ))):  # fmt: skip
        block(a, 1, depth)
        if "suppress" in a.lines[-2] and a.chance(0.5):
            a.do("raise KeyError")


_FLOW: list[tuple[int, Callable[[Author, int], None]]] = [
    (6, _if), (4, _for), (3, _while), (2, _try), (2, _match), (1, _with),
]  # fmt: skip
