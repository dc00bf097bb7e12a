"""What conditions that are decided say about others."""

from __future__ import annotations

import pytest

from mplint.interpreter.implications import implied
from mplint.interpreter.values import FALSE, NONE, Const, Symbol

RAW, AMP, GPU, NAME = (Symbol("option", name) for name in ("raw", "amp", "gpu", "name"))
BOTH = Symbol("and", RAW, AMP)
EITHER = Symbol("or", RAW, AMP)
LEFT_ON = Symbol("if", RAW, FALSE, AMP)
"""`amp`, which `raw` switches off."""
CHOSEN = Symbol("if", RAW, Const("float32"), NAME)
SAME = Symbol("Equal", NAME, GPU)
"""Two of which nothing is known have one value."""


def is_(name: object, value: str) -> Symbol:
    return Symbol("Equal", name, Const(value))


@pytest.mark.parametrize(
    ("asked", "decided", "expected"),
    [
        (BOTH, {RAW: False}, False),
        (BOTH, {RAW: True}, None),
        (BOTH, {RAW: True, AMP: True}, True),
        (EITHER, {AMP: True}, True),
        (EITHER, {AMP: False}, None),
        (Symbol("not", RAW), {RAW: True}, False),
        (RAW, {BOTH: True}, True),
        (RAW, {BOTH: False}, None),
        (RAW, {BOTH: False, AMP: True}, False),
        (RAW, {EITHER: False}, False),
        (RAW, {EITHER: True, AMP: False}, True),
        (RAW, {Symbol("and", AMP, Symbol("not", RAW)): True}, False),
        (RAW, {LEFT_ON: True}, False),
        (AMP, {LEFT_ON: True}, True),
        (AMP, {LEFT_ON: False, RAW: False}, False),
        (LEFT_ON, {RAW: True}, False),
        (LEFT_ON, {RAW: False}, None),
        (Symbol("and", AMP, RAW), {BOTH: False}, False),
        (RAW, {BOTH: False, Symbol("and", AMP, GPU): True}, False),
        (RAW, {is_(CHOSEN, "half"): True}, False),
        (is_(NAME, "half"), {is_(CHOSEN, "half"): True}, True),
        (is_(CHOSEN, "half"), {RAW: True}, False),
        (is_(CHOSEN, "half"), {RAW: False, is_(NAME, "half"): True}, True),
        (is_(Symbol("or", NAME, GPU), "half"), {is_(NAME, "half"): True}, True),
        (NAME, {is_(NAME, "half"): True}, True),
        (NAME, {is_(NAME, ""): True}, False),
        (is_(NAME, ""), {NAME: True}, False),
        (is_(NAME, "half"), {NAME: False}, False),
        (is_(NAME, ""), {NAME: False}, None),
        (is_(NAME, "half"), {SAME: True}, None),
        (NAME, {SAME: True}, None),
        (Symbol("is", NAME, NONE), {SAME: True}, None),
        (SAME, {NAME: False}, None),
        (SAME, {is_(NAME, "half"): True}, None),
        (SAME, {is_(NAME, "half"): True, is_(GPU, "half"): True}, True),
        (SAME, {is_(NAME, "half"): True, is_(GPU, "full"): True}, False),
        (RAW, {Symbol("Equal", CHOSEN, GPU): True}, None),
    ],
)
def test_what_follows(asked: Symbol, decided: dict[Symbol, bool], expected: bool | None) -> None:
    assert implied(asked, decided) is expected


def test_a_text_that_is_made_of_a_chosen_one_is_computed() -> None:
    lower = Symbol("call", Symbol("attribute", CHOSEN, "endswith"), Const("32"))
    assert implied(lower, {RAW: True}) is True
    assert implied(lower, {RAW: False, is_(NAME, "mixed_float16"): True}) is False
    assert implied(lower, {}) is None
