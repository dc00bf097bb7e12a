from __future__ import annotations

from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.review import snapshot
from mplint.review.snapshot import write_snapshot
from tests.review.repositories import Repository


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_exact_bytes_of_what_may_be_read(repository: Repository, tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "a.py": b"x = 1\r\n\xff",
        "sub/n.ipynb": "{}",
        "conf/m.yaml": "a: 1\n",
        "requirements.txt": "keras\n",
        ".gitignore": "out\n",
        ".env": "A=1\n",
        ".gitattributes": "*.py text eol=crlf\nsecret.py export-ignore filter=evil\n",
        "secret.py": "y = 2\n",
        "picture.png": b"\x89PNG",
        "weights.h5": b"\0" * 10,
    }
    head = repository.commit(files)
    repository.git("config", "filter.evil.smudge", "false")
    target = tmp_path / "out"
    target.mkdir()
    write_snapshot(repository.top, head, target)
    assert names(target) == set(files) - {"picture.png", "weights.h5", ".gitattributes"}
    for name in names(target):
        assert (target / name).read_bytes() == repository.file(head, name)


def test_links_and_submodules_are_left_out(repository: Repository, tmp_path: Path) -> None:
    repository.write(a="x = 1\n")
    (repository.top / "out.py").symlink_to("/etc/passwd")
    (repository.top / "folder.py").symlink_to(tmp_path)
    head = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module.py")
    repository.git("commit", "-q", "-m", "x")
    target = tmp_path / "out"
    target.mkdir()
    write_snapshot(repository.top, "HEAD", target)
    assert names(target) == {"a.py"}


def test_a_path_that_leads_out_is_left_out() -> None:
    listing = b"".join(
        b"100644 blob %s %7d\t%s\0" % (b"0" * 40, 0, name.encode())
        for name in ("../a.py", "x/../../a.py", ".git/a.py", "x/.GIT/a.py", "/a.py", "fine.py")
    )
    assert [blob.path.as_posix() for blob in snapshot._blobs(listing)] == ["fine.py"]


def test_what_no_folder_can_hold_is_left_out(repository: Repository, tmp_path: Path) -> None:
    """So that the rest is reviewed, and what was written can be taken away again."""
    blob = repository.git("rev-parse", f"{repository.commit(fine='x = 1' + chr(10))}:fine.py")
    paths = ["a/" * depth + "A.py" for depth in range(150, 601, 150)]  # each some folders above the next
    paths += ["b" * 300 + ".py", "/".join(["c" * 200] * 15) + ".py", "d" * 250 + ".py"]
    for path in paths:
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    target = tmp_path / "out"
    target.mkdir()
    write_snapshot(repository.top, repository.git("write-tree"), target)
    assert names(target) == {"fine.py", "d" * 250 + ".py"}


def test_a_commit_that_is_too_large(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = repository.commit(a="x = 1\n", b="y\n")
    monkeypatch.setattr(snapshot, "_MOST", 5)
    with pytest.raises(MplintError, match="holds more than can be checked"):
        write_snapshot(repository.top, head, tmp_path)
    monkeypatch.setattr(snapshot, "_LARGEST", 3)
    (tmp_path / "out").mkdir()
    write_snapshot(repository.top, head, tmp_path / "out")
    assert names(tmp_path / "out") == {"b.py"}
