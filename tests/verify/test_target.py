"""What a target names, and which programs show what a file does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.verify.against import changed_texts
from mplint.verify.programs import is_program, targets_for
from mplint.verify.target import Target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("train.py", "odd:name.py", "notes.ipynb"):
        (tmp_path / name).write_text("")
    (tmp_path / "pkg").mkdir()
    return tmp_path


def test_targets(folder: Path) -> None:
    train = folder / "train.py"
    assert Target.parse("train.py", folder) == Target(file=train)
    assert Target.parse(str(train), Path("/")) == Target(file=train)
    assert Target.parse("train.py:build", folder) == Target(file=train, factory="build")
    assert Target.parse("train.py:Net.small", folder) == Target(file=train, factory="Net.small")
    assert Target.parse("pkg.models:build", folder) == Target(module="pkg.models", factory="build")
    assert Target.parse("odd:name.py", folder) == Target(file=folder / "odd:name.py")
    assert str(Target.parse("train.py:build", folder)) == f"{train}:build"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("missing.py", "missing.py does not exist"),
        ("missing.py:build", "it has no 'missing.py'"),
        ("pkg", "pkg is a folder"),
        ("train.py:", "'' in train.py: is no name of a function"),
        ("train.py:build()", "'build()' in train.py:build() is no name"),
        ("a/b:build", "a/b does not exist"),
        (":build", ":build does not exist"),
        ("notes.ipynb", "is a notebook"),
    ],
)
def test_wrong_targets(folder: Path, text: str, told: str) -> None:
    if text == "missing.py:build":  # a dotted name, as far as can be told: importing it will
        assert Target.parse(text, folder).module == "missing.py"
        return
    with pytest.raises(MplintError) as raised:
        Target.parse(text, folder)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x = 1\n", False),
        ("import keras\nkeras.config.set_dtype_policy('mixed_float16')\n", False),
        ("def main(): ...\n", False),
        ("def main(): ...\nmain()\n", True),
        ("model = build()\n", True),
        ("for epoch in range(3):\n    train()\n", True),
        ("if __name__ == '__main__':\n    pass\n", True),
        ("if '__main__' == __name__:\n    pass\n", True),
        ("not python (\n", False),
    ],
)
def test_programs(tmp_path: Path, text: str, answer: bool) -> None:
    path = tmp_path / "file.py"
    path.write_text(text)
    assert is_program(path) is answer


def test_the_most_telling_programs_come_first(tmp_path: Path) -> None:
    texts = {
        "model.py": "def build(): ...\n",
        "show.py": "import model\nprint(model.build())\n",
        "train.py": "import model\nif __name__ == '__main__':\n    model.build().fit()\n",
        "other.py": "import model\n",
        "test_model.py": "import model\nmodel.build().fit()\n",
        "deep/down/train.py": "import model\nmodel.build().fit()\n",
        "deep/a.py": "model.build()\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    model = tmp_path / "model.py"
    found = list(targets_for(model, lambda path: [tmp_path / name for name in texts]))
    files = [target.file.relative_to(tmp_path).as_posix() for target in found if target.file is not None]
    assert files == ["train.py", "deep/down/train.py", "show.py", "model.py"]
    assert [target.imported for target in found] == [False, False, False, True]
    assert list(targets_for(tmp_path / "train.py", lambda path: [])) == [Target(file=tmp_path / "train.py")]


def test_against_a_file_and_a_tree(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder, text in ((new, "x = 2\n"), (old, "x = 1\n")):
        (folder / "pkg").mkdir(parents=True)
        (folder / "pkg" / "a.py").write_text(text)
        (folder / "pkg" / "same.py").write_text("y = 1\n")
    (new / "pkg" / "only_new.py").write_text("")
    (old / "pkg" / "only_old.py").write_text("")
    changed = {new / "pkg" / "a.py": ("x = 1\n", "x = 2\n")}
    by_file = Target(file=new / "pkg" / "a.py")
    by_module = Target(module="pkg.a", factory="build")
    assert changed_texts(by_file, old, root=new, roots=(new,)) == changed
    assert changed_texts(by_file, old / "pkg" / "a.py", root=new, roots=(new,)) == changed
    assert changed_texts(by_module, old / "pkg" / "a.py", root=new, roots=(new,)) == changed
    with pytest.raises(MplintError, match="nothing differs"):
        changed_texts(by_file, new / "pkg" / "a.py", root=new, roots=(new,))
    with pytest.raises(MplintError, match="lies in no file"):
        changed_texts(Target(module="elsewhere", factory="f"), old / "pkg" / "a.py", root=new, roots=(new,))


def test_a_tree_is_compared_with_the_folder_that_it_was(tmp_path: Path) -> None:
    old, new = tmp_path / "original", tmp_path / "mine"
    for folder, text in ((old, "x = 1\n"), (new, "x = 2\n")):
        folder.mkdir()
        (folder / "train.py").write_text(text)
    target = Target(file=new / "train.py")
    changed = {new / "train.py": ("x = 1\n", "x = 2\n")}
    assert changed_texts(target, old, root=tmp_path, roots=(tmp_path, new)) == changed
    whole = tmp_path / "before"
    (whole / "mine").mkdir(parents=True)
    (whole / "mine" / "train.py").write_text("x = 0\n")
    (whole / "train.py").write_text("x = 1\n")
    outer = {new / "train.py": ("x = 0\n", "x = 2\n")}
    assert changed_texts(target, whole, root=tmp_path, roots=(tmp_path, new)) == outer
    with pytest.raises(MplintError, match=r"nothing differs from it, file by file beside .*mine"):
        changed_texts(target, new, root=tmp_path, roots=(tmp_path, new))
