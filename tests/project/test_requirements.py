"""What a project's files ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mplint.project.requirements import demands_in, installs_in, parse_requirement
from mplint.project.versions import Range, parse_range
from tests.project.trees import write


def asked(root: Path) -> dict[str, dict[str, Range]]:
    return {demand.path.relative_to(root).as_posix(): dict(demand.ranges) for demand in demands_in(root)}


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        ("tensorflow", "tensorflow", ""),
        ("tensorflow<2.16", "tensorflow", "<2.16"),
        ("tensorflow == 2.15.*", "tensorflow", "==2.15.*"),
        ("TensorFlow_GPU>=2.4,<3", "tensorflow", ">=2.4,<3"),
        ("tensorflow[and-cuda]~=2.17.0", "tensorflow", "~=2.17.0"),
        ("tensorflow-macos (>=2.9)", "tensorflow", ">=2.9"),
        ("tf_keras>=2.16", "tf-keras", ">=2.16"),
        ("tf.keras", "tf-keras", ""),
        ("keras>=3  # new", "keras", ">=3"),
        ("keras-nightly", "keras", ""),
        ("keras ; python_version < '3.12'", "keras", ""),
    ],
)
def test_requirements(text: str, name: str, specifier: str) -> None:
    found = parse_requirement(text.split("  #")[0])
    assert found is not None
    assert (found.name, found.range) == (name, parse_range(specifier))
    assert found.conditional == (";" in text)


@pytest.mark.parametrize(
    "text",
    ["", "numpy>=1", "keras-tuner>=1", "tensorflow-datasets", "tf2onnx", "keras_cv", "# keras", "-e .", "my-keras==1"],
)
def test_other_requirements(text: str) -> None:
    assert parse_requirement(text) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "\ufeffnumpy\ntensorflow==2.15.1 \\\n    --hash=sha256:00\nkeras<3 # pinned\n"),
        ("requirements.in", "tensorflow==2.15.1\r\nkeras<3\r\n"),
        ("requirements/base.txt", "tensorflow==2.15.1\nkeras<3\n"),
        ("gpu-requirements.txt", "tensorflow==2.15.1; sys_platform == 'linux'\nkeras<3\n"),
        (
            "pyproject.toml",
            (
                "[project]\ndependencies = ['tensorflow==2.15.1', 'keras<3', 'numpy']\n"
                "[project.optional-dependencies]\nnew = ['tensorflow>=2.18']\n"
            ),
        ),
        ("pyproject.toml", "[project.optional-dependencies]\ntf = ['tensorflow==2.15.1']\nk = ['keras<3']\n"),
        ("pyproject.toml", "[dependency-groups]\ndev = ['tensorflow==2.15.1', {include-group = 'x'}, 'keras<3']\n"),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\ntensorflow = '2.15.1'\nkeras = {version = '<3', extras = []}\n",
        ),
        ("pyproject.toml", "[tool.poetry.group.ml.dependencies]\ntensorflow = '2.15.1'\nkeras = '<3'\n"),
        (
            "pyproject.toml",
            (
                "[tool.poetry.dependencies]\nkeras = '<3'\n"
                "tensorflow = [{version = '2.15.1', platform = 'linux'}, {version = '2.15.1', platform = 'win32'}]\n"
            ),
        ),
        ("pyproject.toml", "[tool.uv]\ndev-dependencies = ['tensorflow==2.15.1', 'keras<3']\n"),
        ("pyproject.toml", "[tool.pdm.dev-dependencies]\nml = ['tensorflow==2.15.1']\nk = ['keras<3']\n"),
        ("pyproject.toml", "[tool.hatch.envs.default]\ndependencies = ['tensorflow==2.15.1', 'keras<3']\n"),
        (
            "pyproject.toml",
            "[tool.pixi.dependencies]\nkeras = '<3'\n[tool.pixi.pypi-dependencies]\ntensorflow = '2.15.1'\n",
        ),
        ("pixi.toml", "[feature.ml.dependencies]\nkeras = '<3'\ntensorflow = {version = '2.15.1', channel = 'x'}\n"),
        (
            "Dockerfile",
            "FROM python:3.11\nRUN apt-get update && \\\n pip install -q tensorflow==2.15.1 'keras<3' -r x.txt\n",
        ),
        ("setup.cfg", "[options]\ninstall_requires =\n    tensorflow==2.15.1\n    keras<3\n"),
        ("setup.cfg", "[options.extras_require]\nml =\n    tensorflow==2.15.1\n    keras<3\n"),
        (
            "setup.py",
            "import os\nDEPS = ['tensorflow==2.15.1']\nsetup(install_requires=DEPS + ['keras<3'], name='keras')\n",
        ),
        ("Pipfile", "[packages]\ntensorflow = '==2.15.1'\nkeras = '<3'\n"),
        ("Pipfile.lock", '{"default": {"tensorflow": {"version": "==2.15.1"}, "keras": {"version": "<3"}}}'),
        (
            "environment.yml",
            (
                "name: x\ndependencies:\n  - python=3.10\n  - conda-forge::tensorflow=2.15.1=gpu_py310\n"
                "  - pip:\n    - keras<3  # pip\n"
            ),
        ),
        ("environment.yaml", "dependencies:\n- 'tensorflow==2.15.1'\n- \"keras<3\"\n"),
        ("environment-gpu.yml", "dependencies: \n - tensorflow==2.15.1\n - keras <3\n"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, {name: text})
    (ranges,) = asked(tmp_path).values()
    assert set(ranges) == {"tensorflow", "keras"}
    assert ranges["tensorflow"].is_below((2, 16))
    assert ranges["tensorflow"].is_from((2, 15))
    assert ranges["keras"].is_below((3,))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "keras"\nversion = "3.5.0"\n\n[[package]]\nname = "kerasx"\nversion = "1"\n'),
        ("poetry.lock", '[[package]]\nname = "keras"\nversion = "3.5.0"\ndescription = ""\n'),
        ("pdm.lock", '[[package]]\r\nname = "keras"\r\nversion = "3.5.0"\r\n'),
        ("conda-lock.yml", "package:\n- name: keras\n  version: 3.5.0\n  manager: conda\n"),
    ],
)
def test_lock_files(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, {name: text})
    assert asked(tmp_path) == {name: {"keras": parse_range("==3.5.0")}}


def test_files_come_in_order_and_only_those_that_matter(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "poetry.lock": '[[package]]\nname = "keras"\nversion = "3.5.0"\n',
            "pyproject.toml": "[tool.poetry.dependencies]\nkeras = '*'\n",
            "requirements.txt": "numpy\n",
            "requirements-dev.txt": "keras\n",
            "notes.txt": "keras==1\n",
        },
    )
    assert list(asked(tmp_path)) == ["pyproject.toml", "poetry.lock", "requirements-dev.txt"]


def test_alternatives_widen_and_repetitions_narrow(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "requirements.txt": (
                "tensorflow==2.13.0; python_version < '3.9'\ntensorflow==2.15.0; python_version >= '3.9'\n"
                "keras>=2.10\nkeras<3\n"
            ),
            "uv.lock": "\n".join(f'[[package]]\nname = "keras"\nversion = "{one}"\n' for one in ("2.15.0", "3.5.0")),
        },
    )
    ranges = asked(tmp_path)
    assert ranges["requirements.txt"]["tensorflow"] == Range((2, 13, 0), (2, 15, 0), upper_included=True)
    assert ranges["requirements.txt"]["keras"] == Range((2, 10), (3,))
    assert ranges["uv.lock"]["keras"] == Range((2, 15, 0), (3, 5, 0), upper_included=True)


def test_included_files_are_read_but_not_outside_and_not_forever(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "secret.txt": "keras==1\n",
            "app/requirements.txt": (
                "-r requirements/base.txt\n-c constraints.txt\n-r requirements.txt\n"
                f"-r ../secret.txt\n-r {tmp_path}/secret.txt\n"
            ),
            "app/requirements/base.txt": "tensorflow\n-r ../requirements.txt\n",
            "app/constraints.txt": "tensorflow==2.15.0\n",
        },
    )
    assert asked(tmp_path / "app")["requirements.txt"] == {"tensorflow": parse_range("==2.15.0")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("pyproject.toml", "project = 1\n"),
        ("pyproject.toml", "[project]\ndependencies = 3\n"),
        ("pyproject.toml", "[tool]\npoetry = []\n[dependency-groups]\nx = 'keras<3'\n"),
        ("setup.cfg", "no section\n"),
        ("setup.py", "setup(\n"),
        ("setup.py", "\0"),
        ("Pipfile", "packages = 1\n"),
        ("Pipfile.lock", "[]"),
        ("Pipfile.lock", "[" * 100_000),
        ("environment.yml", "\t: ][\n"),
        ("uv.lock", "name = \n"),
    ],
)
def test_broken_files_say_nothing(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, {name: text, "requirements-x.txt": "keras<3\n"})
    (tmp_path / "requirements.txt").mkdir()
    os.mkfifo(tmp_path / "pipe-requirements.txt")
    assert list(asked(tmp_path)) == ["requirements-x.txt"]


def test_a_folder_that_does_not_exist_asks_for_nothing(tmp_path: Path) -> None:
    assert demands_in(tmp_path / "nowhere") == ()


def test_an_image_of_tensorflow(tmp_path: Path) -> None:
    write(tmp_path, {"Dockerfile": "ARG X=1\nFROM tensorflow/tensorflow:2.10.0-gpu AS base\nRUN pip install numpy\n"})
    assert asked(tmp_path) == {"Dockerfile": {"tensorflow": parse_range("==2.10.0.*")}}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("!pip install tensorflow==2.10", {"tensorflow": "==2.10"}),
        ("%pip install -q 'tensorflow<2.16' keras", {"tensorflow": "<2.16", "keras": ""}),
        ('! python -m pip install --upgrade \\"keras>=3\\" numpy && echo keras==2', {"keras": ">=3"}),
        ("!uv pip install tf-keras", {"tf-keras": ""}),
        ("# !pip install tensorflow==2.10", {}),
        ("print('!pip install keras==2')", {}),
        ("!pip install -r tensorflow", {}),
    ],
)
def test_what_a_notebook_installs(line: str, expected: dict[str, str]) -> None:
    notebook = f'{{"cells": [{{"cell_type": "code", "source": ["x = 1\\n", "{line}"]}}]}}'
    assert installs_in(notebook) == {name: parse_range(specifier) for name, specifier in expected.items()}
