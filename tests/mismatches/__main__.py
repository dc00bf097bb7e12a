"""Writes measured.json anew: python -m tests.mismatches."""

from __future__ import annotations

import json
from pathlib import Path

from tests.mismatches.expressions import expressions, program
from tests.mismatches.test_expressions import GENERATIONS, really

if __name__ == "__main__":
    blocks = []
    for generation in GENERATIONS:
        outcomes = really(program(generation), generation)
        lines = (f"{json.dumps(a)}: {json.dumps(b)}" for a, b in zip(expressions(generation), outcomes, strict=True))
        blocks.append(f"{json.dumps(generation)}: {{\n" + ",\n".join(lines) + "\n}")
    Path(__file__).with_name("measured.json").write_text("{" + ",\n".join(blocks) + "}\n", encoding="utf-8")
