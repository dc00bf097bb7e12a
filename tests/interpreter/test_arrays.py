"""NumPy's dtypes: whatever mplint says that an expression gives, NumPy gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mplint.interpreter.values import Array
from tests.interpreter.programs import ROOT, worlds

ARRAYS = tuple(f"np.ones(2, '{dtype}')" for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16",
                                                      "float32", "float64"))  # fmt: skip
SCALARS = ("np.float16(2)", "np.float32(2)", "np.float64(2)", "np.int64(2)")
NUMBERS = ("2", "2.0")
OPERATORS = ("+", "*", "/")


def predicted(expressions: list[str]) -> list[str | None]:
    """The dtypes of arrays as mplint sees them; None where they are not known."""
    lines = "".join(f"x{number} = {expression}\n" for number, expression in enumerate(expressions))
    program, found = worlds(main=f"import numpy as np\n{lines}")
    values = dict(found[0].bindings(program.module_frame(ROOT / "main.py")))
    results = [values[f"x{number}"] for number in range(len(expressions))]
    return [value.dtype if isinstance(value, Array) else None for value in results]


def real(expression: str) -> str:
    return str(eval(expression, {"np": np}).dtype)


def test_operators() -> None:
    operands = [*itertools.product(ARRAYS, ARRAYS + SCALARS + NUMBERS), *itertools.product(NUMBERS + SCALARS, ARRAYS)]
    expressions = [f"{left} {sign} {right}" for left, right in operands for sign in OPERATORS]
    wrong = [
        (expression, said, real(expression))
        for expression, said in zip(expressions, predicted(expressions), strict=True)
        if said is not None and said != real(expression)
    ]
    assert not wrong


@pytest.mark.parametrize(
    "expression",
    [
        "np.ones(2, np.uint8).astype(np.float16) / 255.0",
        "np.ones(2, 'float16') * np.ones(2, 'uint8')",
        "(np.ones(2, 'float16') - np.ones(2, 'float16').mean()) / 2",
        "np.float16(np.ones(2, 'uint8'))",
        "np.asarray([1.0, 2.0], dtype=np.float16)[None, ...]",
        "np.clip(np.array([1, 2], 'float16') + 1, 0, 1)",
        "np.concatenate([np.zeros(2, 'float16'), np.ones(2, 'float16')])",
        "np.expand_dims(np.zeros((2, 2), np.half).reshape(-1).T, 0)",
        "np.sqrt(np.ones(2, 'float16'))",
    ],
)
def test_half_precision(expression: str) -> None:
    assert predicted([expression]) == ["float16"]
    assert real(expression) == "float16"
