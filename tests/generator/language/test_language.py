"""The judge of the language, with fixed seeds; `python -m tests.generator.language` judges many more programs."""

from __future__ import annotations

import ast
import hashlib

import pytest

from tests.generator.language.judge import judge
from tests.generator.language.program import write
from tests.generator.language.shrink import shrunk

PROGRAMS, PARTS = 300, 6
DIGEST = "9c2ef104d2a30c64"
"""Of the first programs: it must be the same in every version of Python. It changes whenever the generator does."""


def test_a_seed_gives_the_same_program_in_every_python() -> None:
    digest = hashlib.sha256()
    for seed in range(100):
        digest.update(write(seed).encode())
    assert digest.hexdigest()[:16] == DIGEST


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_said_to_be_known_is_so(part: int) -> None:
    wrong = {}
    for seed in range(part, PROGRAMS, PARTS):
        verdict = judge(write(seed))
        if verdict.wrong:
            wrong[seed] = verdict.wrong[0]
    assert not wrong


def test_much_is_known() -> None:
    verdicts = [judge(write(seed)) for seed in range(PROGRAMS, PROGRAMS + 50)]
    known, unknown = sum(v.known for v in verdicts), sum(v.unknown for v in verdicts)
    assert unknown < known / 3


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\nexec('x = 2')\nassert x == 2",
        "import os\nx = 1\nif os.environ.get('FLAG_A'):\n    x = 2",
        "import os\nclass A:\n    n = 1\nif os.environ.get('FLAG_A'):\n    A.n = 2\nx = A().n",
    ],
)
def test_the_judge_allows_what_may_be(source: str) -> None:
    verdict = judge(source)
    assert (verdict.wrong, verdict.raised) == ([], "")


def test_the_judge_sees_a_wrong_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the shrinker leaves what shows it."""
    monkeypatch.setattr("tests.generator.language.judge.really", lambda source, environment: {"x": 2})
    source = "y = [1]\nif y:\n    x = 1\n"
    assert judge(source).wrong == ["x is 2, not 1"]
    assert ast.unparse(ast.parse(shrunk(source))) == "x = 1"
