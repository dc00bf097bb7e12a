"""What is said of a change, over the toy analysis."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from mplint import baseline
from mplint.analysis import Failure, Report
from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.project.modules import Project
from mplint.review import checking
from mplint.review.checking import Asked, check
from mplint.review.comments import Comment
from mplint.review.payload import as_json, body
from mplint.settings import Settings
from tests import stand_in
from tests.review.conftest import Reviewed
from tests.review.repositories import Repository

pytestmark = pytest.mark.usefixtures("toy")

PADDING = "".join(f"x{number} = 1\n" for number in range(20))


def places(comments: tuple[Comment, ...]) -> list[tuple[str, str, int, int]]:
    return [(comment.code, comment.path, comment.first, comment.last) for comment in comments]


def test_only_what_the_change_brings_is_said(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=f"bad()\n{PADDING}", old="bad()\n")
    head = repository.commit(a=f"bad()\n{PADDING}risky()\n", new="bad()\n")
    done = reviewed(base, head)
    assert places(done.comments) == [("MP101", "new.py", 1, 1), ("MP102", "a.py", 22, 22)]
    assert done.found == 2
    assert "2 findings that were there before are left out." in done.summary
    assert done.status.description == "Found 2 in this change: 1 error, 1 warning."


def test_a_file_that_was_renamed_is_not_new(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=f"bad()\n{PADDING}")
    (repository.top / "a.py").rename(repository.top / "b.py")
    head = repository.commit()
    assert reviewed(base, head).is_silent


def test_of_several_that_say_the_same_the_new_one_is_said(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=f"{PADDING}bad()\n")
    head = repository.commit(a=f"bad()\n{PADDING}bad()\n")
    assert places(reviewed(base, head).comments) == [("MP101", "a.py", 1, 1)]


def test_what_lies_on_a_changed_line_is_said_though_it_was_there(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=f"x = bad()\n{PADDING}y = bad()\n")
    head = repository.commit(a=f"x  =  bad()\n{PADDING}y = bad()\n")
    [comment] = reviewed(base, head).comments
    assert (comment.path, comment.first) == ("a.py", 1)
    assert "\n\nIt was there before; this change touches its lines.\n\n" in comment.body


def test_what_a_change_causes_elsewhere_is_said_on_the_changed_line(repository: Repository, reviewed: Reviewed) -> None:
    """`latent()` is a fault where `alarm` stands anywhere; on its way lies train.py:1."""
    base = repository.commit(models=f"latent()\n{PADDING}latent()\n", train="calm\n", far=f"latent()\n{PADDING}")
    head = repository.commit(train=f"alarm\n{PADDING}")
    done = reviewed(base, head)
    [comment] = done.comments
    assert places(done.comments) == [("cause", "train.py", 1, 1)]
    assert "This change causes 3 findings in lines that it does not touch:" in comment.body
    assert "`far.py:1` **MP101**" in comment.body
    assert "`models.py:22` **MP101**" in comment.body
    assert comment.suggestion is None
    assert "<details>" not in done.summary, "all of it is said at the cause"


def test_a_cause_is_known_again(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(models="latent()\n", other="latent()\n", train="calm\n")
    head = repository.commit(train="alarm\n")
    [once] = reviewed(base, head).comments
    again = repository.commit(train="alarm\n", fresh="x = 1\n")
    assert [comment.fingerprint for comment in reviewed(base, again).comments] == [once.fingerprint]
    moved = repository.commit(train="alarm\n# more\n")
    assert [comment.fingerprint for comment in reviewed(base, moved).comments] == [once.fingerprint]


def test_what_is_tall_is_told_at_its_first_row(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a="x = 1\n")
    head = repository.commit(a="plain(" + "\n" * 30 + ")\n")
    assert places(reviewed(base, head).comments) == [("MP102", "a.py", 1, 1)]


def test_what_no_line_has_to_do_with_is_in_the_summary(repository: Repository, reviewed: Reviewed) -> None:
    """The way leads through train.py, which is not changed; two other places are, so none of them is the cause."""
    base = repository.commit(models="latent()\n", train="x\n", one="calm\n", two="calm\n")
    head = repository.commit(one="alarm\n", two="quiet\n")
    done = reviewed(base, head)
    assert done.comments == ()
    assert done.found == 1
    assert "Outside of the lines that this change shows: 1" in done.summary
    assert "`models.py:1` **MP101** low-precision-softmax-output: `latent` is a fault" in done.summary


def test_a_change_in_one_place_is_the_cause(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(models="latent()\n", other="calm\n")
    head = repository.commit({"notes.md": "# Changes\n"}, other="alarm\n")
    assert places(reviewed(base, head).comments) == [("cause", "other.py", 1, 1)]


def test_beside_what_is_gone_or_moved_no_place_is_the_cause(repository: Repository, reviewed: Reviewed) -> None:
    """What is gone may have been what made it right."""
    base = repository.commit(models="latent()\n", other="calm\n", right="x = 1\n", name="y = 2\n")
    head = repository.commit({"right.py": None}, other="alarm\n")
    assert reviewed(base, head).comments == ()
    (repository.top / "name.py").rename(repository.top / "named.py")
    assert reviewed(base, repository.commit({"right.py": "x = 1\n"})).comments == ()


def test_a_fix_of_one_line_is_a_suggestion(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a=f"if x:\n    y = bad(), 1  # kept\n{PADDING}")
    [comment] = reviewed(base, head).comments
    assert body(comment) == (
        f"<!-- mplint:MP101:{comment.fingerprint} -->\n"
        "**MP101** low-precision-softmax-output · error\n\n"
        "`bad` is a fault\n\n"
        f"{comment.body.split(chr(10) * 2)[2]}\n\n"
        "<details><summary>How the policy gets here</summary>\n\n1. train.py:1 sets mixed_float16\n\n</details>\n\n"
        "<sub>To keep it as it is: `# mplint: ignore[MP101]`</sub>\n\n"
        "**Fix:** write `good()`\n\n"
        "```suggestion\n    y = good(), 1  # kept\n```"
    )
    assert comment.body.split("\n\n")[2].startswith("**Why it matters:** Probabilities near 0 and 1")


def test_a_fix_of_several_lines(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a=f"y = [\n    bad(\n        1,\n    ),\n]\n{PADDING}")
    [comment] = reviewed(base, head).comments
    assert (comment.first, comment.last) == (2, 4)
    assert comment.suggestion is not None
    assert comment.suggestion.text == "    good(),\n"


def test_a_fix_with_an_import_is_one_where_all_of_it_is_near(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(b="x = 1\nneedy()\n", c=f"{PADDING}{PADDING}needy()\n")
    near, far = reviewed(base, head).comments
    assert near.suggestion is not None
    assert (near.first, near.last, near.suggestion.text) == (1, 2, "import helper\nx = 1\ngood()\n")
    assert "· error · line 2\n" in near.body
    assert far.suggestion is None


def test_fixes_on_one_line_share_a_suggestion(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a=f"bad(); bad()\n{PADDING}")
    first, second = reviewed(base, head).comments
    texts = {comment.suggestion.text for comment in (first, second) if comment.suggestion}
    assert texts == {"good(); good()\n"}
    assert "with the suggestion at line 1" in first.body + second.body


def test_half_a_fix_is_none(repository: Repository, reviewed: Reviewed) -> None:
    """The fix of `needy` needs an import at the top, which no hunk shows, that of `pair` another file."""
    base = repository.commit(a=PADDING, other="partner\n")
    head = repository.commit(a=f"{PADDING}needy()\n", other="partner\n", b=f"pair()\n{PADDING}")
    comments = reviewed(base, head).comments
    assert [comment.suggestion for comment in comments] == [None, None]
    assert (
        "**Fix:** write `good()`. `mplint --fix` does it:\n\n"
        "```diff\n--- a.py\n+import helper\n-needy()\n+good()\n```" in comments[0].body
    )
    assert "--- other.py\n-partner\n+friend\n" in comments[1].body


@pytest.mark.parametrize("word", ["stubborn", "broken", "doubled"])
def test_a_fix_that_does_not_stand_its_check_is_not_suggested(
    repository: Repository, reviewed: Reviewed, word: str
) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a=f"{word}()\n{PADDING}")
    [comment] = reviewed(base, head).comments
    assert comment.suggestion is None


def test_unsafe_fixes_are_suggested_on_demand(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a=f"risky()\n{PADDING}")
    [comment] = reviewed(base, head).comments
    assert comment.suggestion is None
    assert "`mplint --fix --unsafe-fixes` does it when asked to:\n\n```diff\n" in comment.body
    [comment] = reviewed(base, head, asked=Asked(overrides={"unsafe_fixes": True})).comments
    assert comment.suggestion is not None


@pytest.mark.parametrize(
    ("before", "suggested"),
    [
        (b"x = '''\r\n'''\r\ny = bad()\r\n", "y = good()\r\n"),
        (b"x = 1\r\ny = bad()\nz = 1\r\n", None),  # of two kinds: a forge would make them one
        (b"y = bad()", "y = good()"),
        (b"\xef\xbb\xbfy = bad()\n", "\ufeffy = good()\n"),
        (b"# coding: latin-1\ny = bad(), '\xe9'\n", None),
        (b"y = bad(), '```'\n", "y = good(), '```'\n"),
    ],
)
def test_the_bytes_of_a_file_are_kept(
    repository: Repository, reviewed: Reviewed, before: bytes, suggested: str | None
) -> None:
    base = repository.commit(a=b"")
    head = repository.commit(a=before)
    [comment] = reviewed(base, head).comments
    assert (comment.suggestion.text if comment.suggestion else None) == suggested


def test_fences_are_longer_than_any_in_the_text(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=b"")
    head = repository.commit(a="y = bad(), '`````'\n")
    [comment] = reviewed(base, head).comments
    assert body(comment).endswith("\n``````suggestion\ny = good(), '`````'\n``````")


def test_only_so_many_comments_the_worst_first(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a="risky()\nplain()\nbad()\nshown()\n")
    done = reviewed(base, head, max_comments=2)
    assert places(done.comments) == [("MP101", "a.py", 3, 3), ("MP102", "a.py", 1, 1)]
    assert "More than there are comments for: 2" in done.summary
    assert "`a.py:4` **MP102**" in done.summary
    assert "4" in done.status.description
    assert len(done.alive) == 4


def test_a_status_fails_only_on_demand(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING)
    head = repository.commit(a="risky()\n")
    assert reviewed(base, head).status.state == "success"
    assert reviewed(base, head, fail_on=Severity.ERROR).status.state == "success"
    assert reviewed(base, head, fail_on=Severity.WARNING).status.state == "failure"


def test_settings_baselines_and_paths_of_the_repository(repository: Repository, reviewed: Reviewed) -> None:
    config = {"mplint.toml": 'per-file-ignores = { "b.py" = ["MP101"] }\n'}
    base = repository.commit({**config}, a=PADDING, b=PADDING)
    head = repository.commit({"sub/c.py": "bad()\n"}, a=f"{PADDING}risky()\n", b="bad()\n")
    assert [comment.path for comment in reviewed(base, head).comments] == ["sub/c.py", "a.py"]
    only = Asked(paths=(PurePosixPath("sub"),))
    assert [comment.path for comment in reviewed(base, head, asked=only).comments] == ["sub/c.py"]
    with pytest.raises(MplintError, match=r"^mplint\.toml: `ignore`: there is no rule"):
        reviewed(base, repository.commit({"mplint.toml": 'ignore = ["XX1"]\n'}))
    outside = repository.commit({"mplint.toml": 'baseline = "../../../../etc/hostname"\n'})
    assert reviewed(base, outside).found


def test_what_a_baseline_knows_is_left_out(repository: Repository, reviewed: Reviewed) -> None:
    repository.commit(a=f"bad()\n{PADDING}")
    side = check(repository.top.resolve(), Asked())
    known = baseline.text(side.report, side.project)
    base = repository.commit({"mplint.toml": 'baseline = "known.json"\n', "known.json": known})
    head = repository.commit(a=f"bad()\n{PADDING}bad()\n", b="x = 1\n")
    done = reviewed(base, head)
    assert places(done.comments) == [("MP101", "a.py", 22, 22)]
    assert len(done.alive) == 1


def test_a_rule_that_is_turned_on_brings_nothing(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit({"mplint.toml": 'ignore = ["MP101"]\n'}, a="bad()\n")
    head = repository.commit({"mplint.toml": ""}, b="plain()\n")
    assert [comment.path for comment in reviewed(base, head).comments] == ["b.py"]


def test_notebooks_and_unreadable_files_are_in_the_summary(repository: Repository, reviewed: Reviewed) -> None:
    cell: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cell["source"] = ["x\n", "bad()"]
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)
    base = repository.commit(a="x = 1\n")
    head = repository.commit({"n.ipynb": notebook, "broken.ipynb": "{", "b.py": b"\xff"}, a="x = (\n")
    done = reviewed(base, head)
    assert {comment.path for comment in done.comments} == {"a.py", "b.py"}
    assert "`n.ipynb:cell 1:2` **MP101**" in done.summary
    assert "`broken.ipynb" in done.summary


def test_what_comes_from_the_repository_is_told_as_text(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a="x = 1\n")
    odd = "<!-- mplint:summary -->@team *x*.py"
    head = repository.commit({odd: "x = (\n", "z.py": "y\n"})
    done = reviewed(base, head)
    [comment] = done.comments
    assert comment.path == odd
    assert "@team" not in comment.body
    assert done.summary.count("<!--") == 1


def test_names_that_are_no_text(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a="x = 1\n")
    (repository.top / os.fsdecode(b"\xff.py")).write_text("bad()\n")
    done = reviewed(base, repository.commit())
    assert [comment.path for comment in done.comments] == ["\udcff.py"]
    as_json(done).encode()


def test_names_that_are_no_text_are_told_as_text(repository: Repository, reviewed: Reviewed) -> None:
    """No forge takes the halves of characters, and the rest of the comment with them."""
    name = os.fsdecode(b"\xff.py")
    base = repository.commit({name: "latent()\n" + PADDING + "latent()\n"}, c="calm\n")
    head = repository.commit({name: "latent()\n" + PADDING + "risky()\nlatent()\n"}, c="alarm\n")
    done = reviewed(base, head)
    assert "--- ?.py\n" in "".join(comment.body for comment in done.comments)
    for text in (done.summary, *map(body, done.comments), *(comment.brief for comment in done.comments)):
        text.encode()


def test_of_many_notes_some_are_told(
    repository: Repository, reviewed: Reviewed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A summary that no forge takes would fail each review anew."""

    def analyze(project: Project, targets: Sequence[Path], settings: Settings) -> Report:
        report = stand_in.analyze(project, targets, settings)
        return replace(report, failures=tuple(Failure(path, "it broke") for path in targets))

    monkeypatch.setattr(checking, "analyze", analyze)
    base = repository.commit(a="x = 1\n")
    head = repository.commit({f"{'l' * 200}/{'l' * 200}{number}.py": "bad()\n" for number in range(200)})
    done = reviewed(base, head)
    assert len(done.summary) < 65_536
    assert re.search(r"- mplint itself failed in .*\n- and \d+ more\n", done.summary)


def test_nothing_is_longer_than_a_forge_takes(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a="x = 1\n", c="calm\n")
    long = "/".join(["l" * 200] * 4)
    many: dict[str, str | bytes | None] = {f"{long}{number}/b.py": "latent()\n" for number in range(70)}
    head = repository.commit({**many, "n.py": "bad(), '" + "`" * 9000 + "'\n"}, c="alarm\n")
    done = reviewed(base, head, max_comments=5)
    assert done.found == 71
    assert len(done.summary) < 40_000
    assert re.search(r"- and \d+ more\n", done.summary)
    assert max(len(body(comment)) for comment in done.comments) < 60_000


def test_the_same_each_time(repository: Repository, reviewed: Reviewed) -> None:
    base = repository.commit(a=PADDING, models="latent()\n" * 30)
    head = repository.commit(a=f"alarm\nbad()\n{PADDING}needy()\n", b="bad()\nbad()\nrisky()\n")
    once = as_json(reviewed(base, head))
    assert as_json(reviewed(base, head)) == once
    content = json.loads(once)
    assert (content["base"], content["head"], content["event"]) == (base, head, "COMMENT")
    assert content["status"]["context"] == "mplint"
    assert {"path", "line", "side", "body", "fingerprint", "code", "severity"} <= content["comments"][0].keys()


def test_nothing_of_the_repository_is_run(repository: Repository, reviewed: Reviewed) -> None:
    """Neither by git (hooks, monitors, drivers for diffs and files) nor by mplint."""
    evil = repository.top / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {repository.top}/ran\n")
    evil.chmod(0o755)
    base = repository.commit({".gitattributes": "*.py diff=evil filter=evil\n"}, a="x = 1\n")
    head = repository.commit(a=f"bad()\nopen({str(repository.top / 'ran')!r}, 'w')\n", conftest="1/0\n")
    for key in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge"):
        repository.git("config", key, str(evil))
    repository.git("config", "core.hooksPath", str(repository.top))
    assert len(reviewed(base, head).comments) == 1
    assert not (repository.top / "ran").exists()
