"""The hooks, run by the real pre-commit, and by prek, on a real repository."""

from __future__ import annotations

import json
import os
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.house.repository import SCRIPTS, run

pytestmark = [pytest.mark.network, pytest.mark.slow]

POLICY = """\
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
"""

MODEL = """\
from tensorflow import keras

import policy


def build():
    pixels = keras.Input((64,))
    x = keras.layers.Dense(32, activation="relu")(pixels)
    answer = keras.layers.Dense(10, activation="softmax", name="digit")(x)  # one of ten
    return keras.Model(pixels, answer)
"""


CELLS = ["%run policy.py\n", "from tensorflow import keras\n\n%time digit = keras.layers.Dense(10)\n"]
CELLS[1] += "pixels = keras.Input((64,))\nmodel = keras.Model(pixels, digit(pixels))"


def notebook() -> bytes:
    """A notebook whose model ends in half precision, as Jupyter writes it."""
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**code, "source": cell.splitlines(keepends=True)} for cell in CELLS]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return (json.dumps(content, indent=1) + "\n").encode()


def git(*arguments: str | Path, cwd: Path, status: int = 0, **variables: str | Path) -> str:
    return run("git", *arguments, cwd=cwd, status=status, **variables)


@pytest.fixture
def hooks(clone: Path) -> Path:
    """mplint as a repository that pre-commit can take hooks from."""
    git("init", "--quiet", cwd=clone)
    git("add", "--all", cwd=clone)
    git("commit", "--quiet", "--message", "mplint", cwd=clone)
    return clone


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's repository: the policy is committed, the model that it is going to spoil is new."""
    project = tmp_path / "project"
    project.mkdir()
    git("init", "--quiet", cwd=project)
    (project / "policy.py").write_text(POLICY, encoding="utf-8")
    git("add", "--all", cwd=project)
    git("commit", "--quiet", "--message", "Train in half precision", cwd=project)
    (project / "model.py").write_text(MODEL, encoding="utf-8")
    git("add", "--all", cwd=project)
    return project


def test_a_hook_that_gets_one_file_knows_the_policy_set_in_another(hooks: Path, project: Path, tmp_path: Path) -> None:
    told = run(
        *(SCRIPTS / "pre-commit", "try-repo", hooks, "mplint", "--files", "model.py", "--verbose"),
        cwd=project,
        status=1,
        PRE_COMMIT_HOME=tmp_path / "cache",
    )
    assert "model.py:9:" in told
    assert "MP101" in told
    assert "policy.py:3" in told, "the message says where the policy comes from"
    assert "policy.py:3:1: MP" not in told
    assert (project / "model.py").read_text(encoding="utf-8") == MODEL


def test_a_notebook_is_mended_byte_by_byte_and_other_files_are_none_of_it(
    hooks: Path, project: Path, tmp_path: Path
) -> None:
    (project / "model.py").unlink()
    (project / "digits.ipynb").write_bytes(notebook())
    (project / "notes.md").write_text("# Digits\n", encoding="utf-8")
    git("add", "--all", cwd=project)
    attempt = (SCRIPTS / "pre-commit", "try-repo", hooks, "mplint-fix", "--verbose", "--files")
    cache = tmp_path / "cache"
    told = run(*attempt, "digits.ipynb", "notes.md", cwd=project, status=1, PRE_COMMIT_HOME=cache)
    assert "files were modified by this hook" in told
    mended = notebook().replace(b"Dense(10)", b'Dense(10, dtype=\\"float32\\")')
    assert (project / "digits.ipynb").read_bytes() == mended
    told = run(*attempt, "notes.md", cwd=project, PRE_COMMIT_HOME=cache)
    assert "no files to check" in told


def test_a_commit_is_mended_and_then_passes(hooks: Path, project: Path, tmp_path: Path) -> None:
    revision = git("rev-parse", "HEAD", cwd=hooks).strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: mplint-fix\n", encoding="utf-8"
    )
    git("add", "--all", cwd=project)
    cache = tmp_path / "cache"
    run(SCRIPTS / "pre-commit", "install", cwd=project, PRE_COMMIT_HOME=cache)

    told = git("commit", "--message", "A model", cwd=project, status=1, PRE_COMMIT_HOME=cache)
    assert "files were modified by this hook" in told
    mended = (project / "model.py").read_text(encoding="utf-8")
    assert 'keras.layers.Dense(10, name="digit_logits")' in mended
    assert 'keras.layers.Activation("softmax", dtype="float32", name="digit")' in mended
    assert "# one of ten" in mended

    git("commit", "--all", "--message", "A model", cwd=project, PRE_COMMIT_HOME=cache)
    assert git("show", "HEAD:model.py", cwd=project) == mended
    assert git("status", "--porcelain", cwd=project) == ""


@pytest.fixture(params=["pre-commit", "prek"])
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A program that runs hooks."""
    if request.param == "pre-commit":
        return SCRIPTS / "pre-commit"
    folder = tmp_path / "prek"
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "prek==0.5.11")
    return folder / "bin" / "prek"


def test_commits_of_all_kinds(hooks: Path, project: Path, tmp_path: Path, runner: Path) -> None:
    revision = git("rev-parse", "HEAD", cwd=hooks).strip()
    where: dict[str, Any] = {"PRE_COMMIT_HOME": tmp_path / "cache", "PREK_HOME": tmp_path / "cache"}
    path = f"{runner.parent}{os.pathsep}{os.environ['PATH']}"

    def commit(*said: str, status: int = 0) -> None:
        git("add", "--all", cwd=project)
        told = git("commit", "--message", "x", cwd=project, status=status, PATH=path, **where)
        assert all(each in told for each in said), told

    def write(name: str, text: str | bytes) -> None:
        (project / name).write_bytes(text.encode() if isinstance(text, str) else text)

    (project / "model.py").unlink()
    write(".pre-commit-config.yaml", f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: mplint\n")
    run(runner, "install", cwd=project, **where)
    commit("no files to check")
    write("notes.md", "# Digits\n")
    commit("no files to check")
    write("plain.py", "import os\n\nprint(os.name)\n")
    commit("Passed")
    write("model.py", MODEL)
    commit("MP101", "model.py:9:", "policy.py:3", status=1)
    right = MODEL.replace('name="digit")', 'name="digit", dtype="float32")')
    write("model.py", right)
    commit("Passed")
    git("mv", "model.py", "moved.py", cwd=project)
    commit("mplint")
    git("mv", "moved.py", "again.py", cwd=project)
    write("again.py", MODEL)
    commit("MP101", "again.py:9:", status=1)
    git("rm", "--quiet", "--force", "again.py", cwd=project)
    commit("no files to check")
    write("digits.ipynb", notebook())
    commit("MP10", "digits.ipynb", status=1)
    write("digits.ipynb", notebook().replace(b"Dense(10)", b'Dense(10, dtype=\\"float32\\")'))
    commit("Passed")
    write("named like\n.py", "x = 1\n")
    write("-v.py", "x = 1\n")
    commit("Passed")
    git("rm", "--quiet", "policy.py", "plain.py", cwd=project)
    commit("no files to check")
    told = run(runner, "run", "--all-files", cwd=project, **where)
    assert "Passed" in told
    assert git("status", "--porcelain", cwd=project) == ""
