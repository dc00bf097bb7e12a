from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mplint.findings import Applicability, Edit, Finding, Fix, Severity, Span
from mplint.output import concise, full, statistics, summary
from mplint.output import json as json_format
from tests.output.conftest import Reported


def test_full(reported: Reported) -> None:
    text = full.render(*reported(a="x = 1\ny = needy()\nz = 2\n"))
    assert text == (
        "MP101 [*] error: `needy` is a fault\n"
        "--> a.py:2:5\n"
        "  |\n"
        "1 | x = 1\n"
        "2 | y = needy()\n"
        "  |     ^^^^^^^\n"
        "3 | z = 2\n"
        "  |\n"
        "because: train.py:1 sets mixed_float16\n"
        "help: write `good()`\n"
        "   1 + import helper\n"
        "   2 - y = needy()\n"
        "   2 + y = good()\n"
        "docs: mplint rule MP101\n"
        "\n"
    )


def test_full_shows_a_fix_in_another_file(reported: Reported) -> None:
    text = full.render(*reported(a="pair()\n", other="x = 1\npartner\n"))
    assert "help: write `good()`\n   1 - pair()\n   1 + good()\n--> other.py\n   2 - partner\n   2 + friend\n" in text


@pytest.mark.parametrize(
    ("word", "head"),
    [("bad", "help:"), ("risky", "help (unsafe fix):"), ("shown", "help (not applied by --fix):")],
)
def test_full_says_how_a_fix_may_be_applied(reported: Reported, word: str, head: str) -> None:
    assert f"\n{head} write" in full.render(*reported(a=f"{word}()\n"))


def test_full_shows_far_edits_apart_and_near_ones_together(reported: Reported) -> None:
    report, context = reported(a="".join(f"line{number}\n" for number in range(9)) + "bad()\n")
    [finding] = report.findings
    path = finding.path
    edits = (Edit(path, Span(0, 5), "first"), Edit(path, Span(6, 11), "second"), Edit(path, Span(48, 53), "last"))
    fix = Fix("rewrite", Applicability.SAFE, edits)
    text = full.render(replace(report, findings=(replace(finding, fix=fix),)), context)
    assert text.split("help: rewrite\n")[1].startswith(
        "   1 - line0\n   2 - line1\n   1 + first\n   2 + second\n   9 - line8\n   9 + last\n"
    )


def test_full_shows_every_step_of_the_trace(reported: Reported) -> None:
    report, context = reported(a="bad()\n")
    finding = replace(report.findings[0], trace=("train.py:1 main", "model.py:2 build"))
    text = full.render(replace(report, findings=(finding,)), context)
    assert "because: train.py:1 main\n         model.py:2 build\n" in text


def test_an_unreadable_file_is_shown_without_an_excerpt(reported: Reported, tmp_path: Path) -> None:
    report, context = reported(a="")
    (tmp_path / "b.py").write_bytes(b"\xff")
    lost = Finding("MP001", "syntax-error", Severity.ERROR, "is not utf-8", tmp_path / "b.py", Span(0, 0), Span(0, 0))
    report = replace(report, findings=(lost,))
    assert full.render(report, context).startswith("MP001 error: is not utf-8\n--> b.py:1:1\ndocs: ")
    assert concise.render(report, context) == "b.py:1:1: MP001 is not utf-8\n"
    assert json.loads(json_format.render(report, context))[0]["location"] == {"row": 1, "column": 1}


def test_concise(reported: Reported, tmp_path: Path) -> None:
    report, context = reported(a="bad(); risky()\n")
    assert concise.render(report, context) == (
        "a.py:1:1: MP101 [*] `bad` is a fault\na.py:1:8: MP102 `risky` is a fault\n"
    )
    assert "MP102 [*]" in concise.render(report, replace(context, unsafe=True))
    assert concise.render(report, replace(context, folder=tmp_path / "sub")).startswith("../a.py:1:1")
    assert concise.render(report, replace(context, folder=tmp_path.parent / "x")).startswith(str(tmp_path))


def test_json(reported: Reported, tmp_path: Path) -> None:
    report, context = reported(a="x = [\r\n    needy(),\r\n]\r\n", b="plain()\n")
    statement = Span(0, len("x = [\r\n    needy(),\r\n]\r\n"))
    report = replace(report, findings=(replace(report.findings[0], statement=statement), report.findings[1]))
    first, second = json.loads(json_format.render(report, context))
    assert list(first) == (
        "code name severity message url filename cell location end_location fix noqa_row policy keras trace".split()
    )
    assert first == {
        "code": "MP101",
        "name": "low-precision-softmax-output",
        "severity": "error",
        "message": "`needy` is a fault",
        "url": None,
        "filename": str(tmp_path / "a.py"),
        "cell": None,
        "location": {"row": 2, "column": 5},
        "end_location": {"row": 2, "column": 12},
        "fix": {
            "applicability": "safe",
            "message": "write `good()`",
            "edits": [
                {"content": "good()", "location": {"row": 2, "column": 5}, "end_location": {"row": 2, "column": 12}},
                {
                    "content": "import helper\n",
                    "location": {"row": 1, "column": 1},
                    "end_location": {"row": 1, "column": 1},
                },
            ],
        },
        "noqa_row": 3,
        "policy": "mixed_float16",
        "keras": None,
        "trace": ["train.py:1 sets mixed_float16"],
    }
    assert second["fix"] is None


def test_json_names_the_file_of_an_edit_that_is_in_another_one(reported: Reported, tmp_path: Path) -> None:
    [first] = json.loads(json_format.render(*reported(a="pair()\n", other="partner\n")))
    here, there = first["fix"]["edits"]
    assert "filename" not in here
    assert there["filename"] == str(tmp_path / "other.py")


def test_statistics(reported: Reported) -> None:
    report, context = reported(a="bad()\nbad()\nrisky()\n" + "plain()\n" * 10)
    assert statistics.render(report, context) == (
        "11  MP102     low-precision-output\n 2  MP101 [*] low-precision-softmax-output\n"
    )
    assert json.loads(statistics.render_json(report, context))[1] == {
        "code": "MP101",
        "name": "low-precision-softmax-output",
        "count": 2,
        "fixable": True,
        "fixable_count": 2,
    }


@pytest.mark.parametrize(
    ("words", "unsafe", "fixed", "expected"),
    [
        ("", False, 0, "All checks passed."),
        ("plain", False, 0, "Found 1."),
        ("bad bad bad risky shown", False, 0, "Found 5 (3 fixable with --fix, 1 more with --unsafe-fixes)."),
        ("bad bad risky", True, 0, "Found 3 (3 fixable with --fix --unsafe-fixes)."),
        ("bad plain", False, 0, "Found 2 (1 fixable with --fix)."),
        ("risky", False, 0, "Found 1 (1 fixable with --unsafe-fixes)."),
        ("risky plain", False, 3, "Found 5 (3 fixed, 2 left, 1 fixable with --unsafe-fixes)."),
        ("", False, 3, "Found 3 (3 fixed, 0 left)."),
    ],
)
def test_the_last_line(reported: Reported, words: str, unsafe: bool, fixed: int, expected: str) -> None:
    report, context = reported(unsafe=unsafe, a="".join(f"{word}()\n" for word in words.split()))
    assert summary.found(report, context, fixed) == expected


def test_fixes_are_listed_by_file_and_rule(reported: Reported) -> None:
    report, context = reported(a="bad()\nbad()\nrisky()\n", b="bad()\n")
    assert summary.fixes(report.findings, context) == (
        "Fixed 4:\n"
        "- a.py:\n"
        "    2 x MP101 (low-precision-softmax-output)\n"
        "    1 x MP102 (low-precision-output)\n"
        "- b.py:\n"
        "    1 x MP101 (low-precision-softmax-output)\n"
    )


def test_messages_cannot_drive_the_terminal(reported: Reported) -> None:
    report, context = reported(a="bad()\n")
    report = replace(report, findings=(replace(report.findings[0], message="a\x1b[2J\nb"),))
    assert "\x1b" not in full.render(report, context) + concise.render(report, context)
    assert len(concise.render(report, context).splitlines()) == 1
