from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mplint.review.diff import Diff
from tests.review.repositories import Repository


def numbered(count: int, **other: str) -> str:
    return "".join(f"{other.get(f'r{number}', f'line {number}')}\n" for number in range(1, count + 1))


def test_rows_of_a_hunk_and_what_of_them_is_changed(repository: Repository) -> None:
    base = repository.commit(a=numbered(30))
    head = repository.commit(a=numbered(30, r10="new", r25="new\nmore"))
    file = Diff.between(repository.top, base, head).files["a.py"]
    first, second = file.hunks
    assert list(first.rows) == list(range(7, 14))
    assert first.rows[10] is None
    assert (first.rows[9], first.rows[11]) == (9, 11)
    assert first.changed == {10}
    assert second.changed == {25, 26}
    assert second.rows[27] == 26
    assert file.hunk_at(9, 12) is first
    assert file.hunk_at(12, 25) is None
    assert file.changed_in(1, 9) is None
    assert file.changed_in(1, 40) == 10


def test_where_rows_are_gone_their_neighbours_are_changed(repository: Repository) -> None:
    base = repository.commit(a=numbered(12))
    head = repository.commit(a=numbered(12).replace("line 5\nline 6\n", ""))
    [hunk] = Diff.between(repository.top, base, head).files["a.py"].hunks
    assert hunk.changed == {4, 5}
    base, head = head, repository.commit(a="")
    file = Diff.between(repository.top, base, head).files["a.py"]
    assert [hunk.changed for hunk in file.hunks] == [frozenset()]


@pytest.mark.parametrize("name", ["plain.py", "with space.py", "é.py", 'quo"te.py', "line\nbreak.py", "+++ b.py"])
def test_odd_names(repository: Repository, name: str) -> None:
    base = repository.commit({name: "a\nb\n", "z.py": "a\n"})
    head = repository.commit({name: "a\nc\n", "z.py": "b\n"})
    files = Diff.between(repository.top, base, head).files
    assert set(files) == {name, "z.py"}
    assert files[name].hunks[0].changed == {2}
    assert files["z.py"].hunks[0].changed == {1}


def test_new_renamed_gone_and_what_is_no_text(repository: Repository) -> None:
    base = repository.commit({"old.py": numbered(20), "gone.py": "q\nr\n", "link.py": "a\n"})
    (repository.top / "link.py").unlink()
    (repository.top / "link.py").symlink_to("old.py")
    (repository.top / "old.py").rename(repository.top / "moved.py")
    head = repository.commit({"moved.py": numbered(20, r3="x"), "gone.py": None, "new.py": "a\n", "data.py": b"\0\1"})
    diff = Diff.between(repository.top, base, head)
    assert set(diff.files) == {"moved.py", "new.py", "data.py", "link.py"}
    assert diff.files["moved.py"].was == "old.py"
    assert diff.files["moved.py"].hunks[0].changed == {3}
    assert diff.files["new.py"].was is None
    assert diff.files["new.py"].hunks[0].rows == {1: None}
    assert diff.files["data.py"].hunks == ()
    assert (diff.was("moved.py"), diff.was("new.py"), diff.was("other.py")) == ("old.py", None, "other.py")


def test_lines_that_look_like_heads(repository: Repository) -> None:
    base = repository.commit(a="x\n")
    head = repository.commit(a="x\n+++ b/other.py\n@@ -1 +1 @@\ndiff --git a/b b/b\n\\ No newline\n-- a\nlast")
    [file] = Diff.between(repository.top, base, head).files.values()
    assert [hunk.changed for hunk in file.hunks] == [{2, 3, 4, 5, 6, 7}]


def test_what_the_user_has_configured_changes_nothing(repository: Repository) -> None:
    base = repository.commit(a=numbered(40, r40=""))
    head = repository.commit(a=numbered(40, r10="x", r20="y", r40=""))
    plain = Diff.between(repository.top, base, head)
    for key, value in {
        "diff.noprefix": "true",
        "diff.context": "9",
        "diff.algorithm": "patience",
        "diff.interHunkContext": "30",
        "diff.suppressBlankEmpty": "true",
        "diff.external": "false",
        "color.ui": "always",
    }.items():
        repository.git("config", key, value)
    assert Diff.between(repository.top, base, head) == plain


@given(st.binary() | st.text(alphabet=" +-\\@\n:0123456789,adg/bM\0", max_size=200).map(str.encode))
def test_whatever_is_no_diff_is_read_to_its_end(text: bytes) -> None:
    Diff.parsed(text)
    Diff.parsed(b":100644 100644 a b M\0x.py\0\0diff --git a/x.py b/x.py\n@@ -1,3 +1,9 @@\n" + text)


REAL = (
    b":100644 100644 1111111 2222222 R090\0old.py\0moved.py\0:000000 100644 0000000 3333333 A\0new.py\0\0"
    b"diff --git a/old.py b/moved.py\nsimilarity index 90%\nrename from old.py\nrename to moved.py\n"
    b"index 1111111..2222222 100644\n--- a/old.py\n+++ b/moved.py\n@@ -1,3 +1,4 @@ def f():\n line\n-gone\n+came\n"
    b"+more\n last\n@@ -20 +21,0 @@\n-gone\ndiff --git a/new.py b/new.py\nnew file mode 100644\n"
    b"index 0000000..3333333\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A diff of git's with parts cut out, doubled, or replaced, and with other numbers."""
    text = REAL
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 60)))
        number = str(draw(st.integers(0, 10**40))).encode()
        put = draw(st.sampled_from([b"", text[start:end] * 2, number, b"\0", b"\n", b"@@ -1 +1 @@\n", b"\n\\"]))
        text = text[:start] + put + text[end:]
    return text


@given(damaged())
@settings(max_examples=300)
def test_a_damaged_diff_is_read_to_its_end(text: bytes) -> None:
    for file in Diff.parsed(text).files.values():
        for hunk in file.hunks:
            assert hunk.changed <= set(hunk.rows)


def test_numbers_that_are_none_of_rows() -> None:
    head = b":000000 100644 0 3 A\0new.py\0\0diff --git a/new.py b/new.py\n"
    for number in (b"9" * 17, b"9" * 5000):
        [file] = Diff.parsed(head + b"@@ -0,0 +" + number + b",2 @@\n+x\n+y\n").files.values()
        assert len(file.hunks) == (len(number) < 20)
