"""Files below directories."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from mplint.project.discovery import Exclusions, discover, python_files
from mplint.source.file import SourceError
from tests.project.trees import write


def names(root: Path, files: Sequence[Path]) -> list[str]:
    return [file.relative_to(root).as_posix() for file in files]


def found(root: Path, *paths: str, force_exclude: bool = False, **settings: object) -> list[str]:
    exclusions = Exclusions(root, **settings)  # type: ignore[arg-type]
    return names(root, discover([root / path for path in paths or (".",)], exclusions, force_exclude=force_exclude))


def test_python_files_are_found_in_order(tmp_path: Path) -> None:
    write(tmp_path, {"b.py": "", "a/z.py": "", "a/b/c.pyw": "", "a.py": "", "a/notes.txt": "", "a/x.pyi": ""})
    assert found(tmp_path) == ["a.py", "b.py", "a/z.py", "a/b/c.pyw"]


def test_what_nobody_means_is_excluded(tmp_path: Path) -> None:
    write(
        tmp_path, {"x.py": "", ".venv/lib/y.py": "", "build/z.py": "", "a/node_modules/w.py": "", "a/building.py": ""}
    )
    assert found(tmp_path) == ["x.py", "a/building.py"]
    assert found(tmp_path, exclude=["a"]) == ["x.py", ".venv/lib/y.py", "build/z.py"]
    assert found(tmp_path, extend_exclude=["x.py"]) == ["a/building.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("old", ["a/new.py", "new.py"]),
        ("/old", ["a/new.py", "a/old/x.py", "new.py"]),
        ("a/old/", ["a/new.py", "new.py", "old/x.py"]),
        ("**/x.py", ["a/new.py", "new.py"]),
        ("*.py", []),
        ("a/*", ["new.py", "old/x.py"]),
    ],
)
def test_patterns_are_gitignores(tmp_path: Path, pattern: str, left: list[str]) -> None:
    write(tmp_path, {"old/x.py": "", "a/old/x.py": "", "a/new.py": "", "new.py": ""})
    assert sorted(found(tmp_path, exclude=[pattern])) == left


def test_gitignore_files_are_obeyed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "generated/\n*_pb2.py\n!kept_pb2.py\n/top.py\n",
            "generated/x.py": "",
            "a/generated/y.py": "",
            "a_pb2.py": "",
            "kept_pb2.py": "",
            "top.py": "",
            "a/top.py": "",
            "a/.gitignore": "local.py\n!b_pb2.py\n",
            "a/local.py": "",
            "a/b_pb2.py": "",
            "local.py": "",
        },
    )
    assert found(tmp_path) == ["kept_pb2.py", "local.py", "a/b_pb2.py", "a/top.py"]
    assert len(found(tmp_path, respect_gitignore=False)) == 9


def test_lines_of_a_gitignore_file_that_are_no_patterns_are_passed_by(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "\\\n!\n[z-a]\na.py\n", "a.py": "", "b.py": ""})
    assert found(tmp_path) == ["b.py"]


def test_gitignore_files_above_the_root_count_up_to_the_repository(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "y.py\n",
            "repo/.git/info/exclude": "z.py\n",
            "repo/.gitignore": "x.py\n",
            "repo/pkg/x.py": "",
            "repo/pkg/y.py": "",
            "repo/pkg/z.py": "",
        },
    )
    assert found(tmp_path / "repo" / "pkg") == ["y.py"]


def test_a_root_that_is_ignored_is_searched_all_the_same(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", ".gitignore": "*\n", "a/b/x.py": "", "a/b/.gitignore": "y.py", "a/b/y.py": ""})
    assert found(tmp_path / "a" / "b") == ["x.py"]


def test_a_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    write(tmp_path, {"build/x.py": "", "script": "", ".gitignore": "script\n"})
    assert found(tmp_path, "script", "build/x.py") == ["script", "build/x.py"]
    assert found(tmp_path, "script", "build/x.py", force_exclude=True) == []


def test_a_named_directory_is_searched_even_if_excluded(tmp_path: Path) -> None:
    write(tmp_path, {"build/lib/x.py": "", "build/build/y.py": "", "build/.gitignore": "z.py", "build/z.py": ""})
    assert found(tmp_path, "build") == ["build/lib/x.py"]
    assert found(tmp_path, "build/lib") == ["build/lib/x.py"]
    assert found(tmp_path, "build", force_exclude=True) == []


def test_each_file_is_found_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.py": "", "y.py": ""})
    assert found(tmp_path, "a/x.py", ".", "a", "a/../y.py") == ["a/x.py", "y.py"]


def test_paths_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/x.py": ""})
    monkeypatch.chdir(tmp_path / "a")
    assert discover([Path()], Exclusions(Path(".."))) == [tmp_path / "a" / "x.py"]


def test_links(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.py": "", "outside/y.py": "", "outside/more/z.py": ""})
    project = tmp_path / "a"
    (project / "loop").symlink_to(project)
    (project / "same.py").symlink_to("x.py")
    (project / "other.py").symlink_to(tmp_path / "outside" / "y.py")
    (project / "broken.py").symlink_to("nowhere.py")
    (project / "circle.py").symlink_to("circle.py")
    (project / "more").symlink_to(tmp_path / "outside" / "more")
    assert found(project) == ["other.py", "x.py"]
    assert found(project, "more") == ["more/z.py"]
    assert found(project, "same.py", "x.py", "loop") == ["same.py", "loop/other.py", "loop/x.py"]


def test_odd_files_are_passed_by(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "directory.py").mkdir()
    write(tmp_path, {"directory.py/x.py": ""})
    assert found(tmp_path) == ["directory.py/x.py"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "does not exist"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.symlink_to("nowhere"), "is a link to a file that does not exist"),
    ],
)
def test_named_paths_that_cannot_be_checked_are_errors(tmp_path: Path, make: object, says: str) -> None:
    path = tmp_path / "odd.py"
    make(path)  # type: ignore[operator]
    with pytest.raises(SourceError, match=says):
        discover([path], Exclusions(tmp_path))


def test_a_directory_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/x.py": "", "b/y.py": ""})
    real = os.scandir

    def refuse(path: Path) -> object:
        if path == tmp_path / "a":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root, who may run the tests, reads everything
    with pytest.raises(SourceError, match=r"a: cannot be searched \(Permission denied\)"):
        discover([tmp_path], Exclusions(tmp_path))
    errors: list[SourceError] = []
    assert names(tmp_path, discover([tmp_path], Exclusions(tmp_path), on_unreadable=errors.append)) == ["b/y.py"]
    assert [error.path for error in errors] == [tmp_path / "a"]
    assert names(tmp_path, list(python_files(tmp_path, Exclusions(tmp_path)))) == ["b/y.py"]


def test_a_file_for_standard_input_can_be_excluded_before_it_exists(tmp_path: Path) -> None:
    exclusions = Exclusions(tmp_path, extend_exclude=["new.py"])
    assert exclusions.excludes_with_parents(tmp_path / "build" / "x.py")
    assert exclusions.excludes_with_parents(tmp_path / "a" / "new.py")
    assert not exclusions.excludes_with_parents(tmp_path / "a" / "x.py")
