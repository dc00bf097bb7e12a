"""The examples on the rules' pages: the first is found, `--fix` writes the second, the third is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mplint.analysis import RuleInfo, analyze, rules
from mplint.findings import Applicability
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

FILE = Path("/program/main.py")
GENERATIONS = ("2", "3")
SECTION = re.compile(r"^(?P<title>[^\n]+)\n-+\n(?P<text>.*?)(?=^[^\n]+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
WRITES = (Applicability.SAFE, Applicability.UNSAFE)


def examples(rule: RuleInfo, title: str) -> list[str]:
    """The programs in one section of a page."""
    for section in SECTION.finditer(rule.documentation):
        if section["title"] == title:
            return PYTHON.findall(section["text"])
    return []


def asked(text: str, generation: str) -> tuple[Project, list[Path], Settings]:
    settings = Settings(keras="2" if generation == "2" else "3")
    return Project(FILE.parent, [FILE], {FILE: text.encode()}), [FILE], settings


def found(text: str, generation: str) -> set[str]:
    return {finding.code for finding in analyze(*asked(text, generation)).findings}


WITH_PAGES = [rule for rule in rules() if examples(rule, "Example")]


@pytest.mark.parametrize("rule", WITH_PAGES, ids=lambda rule: rule.code)
def test_the_example_is_found(rule: RuleInfo) -> None:
    for text in examples(rule, "Example"):
        assert any(rule.code in found(text, generation) for generation in GENERATIONS)


@pytest.mark.parametrize("rule", [rule for rule in WITH_PAGES if examples(rule, "Fixed")], ids=lambda rule: rule.code)
def test_the_second_is_what_is_written(rule: RuleInfo) -> None:
    if not set(rule.fixes) & set(WRITES):
        return
    for before, after in zip(examples(rule, "Example"), examples(rule, "Fixed"), strict=True):
        outcomes = [fix(*asked(before, generation), unsafe=True) for generation in GENERATIONS]
        assert after in [outcome.project.source(FILE).text for outcome in outcomes]


@pytest.mark.parametrize("rule", [rule for rule in WITH_PAGES if examples(rule, "Good")], ids=lambda rule: rule.code)
def test_the_third_is_right(rule: RuleInfo) -> None:
    for text in examples(rule, "Good"):
        assert any(not found(text, generation) for generation in GENERATIONS)  # a loop is written for one of them
