"""The rules' pages are what the rules' docstrings say."""

from __future__ import annotations

from tests.house.repository import ROOT, python


def test_the_rule_pages_are_up_to_date() -> None:
    python("tools/make_docs.py", "--check", PYTHONPATH=ROOT)
