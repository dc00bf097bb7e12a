"""Console scripts and source folders that packaging files declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.packaging import Packaging, Script, packaging_in
from tests.project.trees import project, shown, write

POETRY = """
[tool.poetry.scripts]
kit = "kit.app:start"
other = { reference = "kit.more:run", type = "console" }

[[tool.poetry.packages]]
include = "kit"
from = "lib"
"""
SETUP = """
from setuptools import find_packages, setup

setup(
    name="kit",
    package_dir={"": "lib"},
    packages=find_packages(where="lib"),
    entry_points={"console_scripts": ["kit = kit.app:start", "more=kit.more:Cli.run [gpu]"], "plugins": ["a = b:c"]},
)
"""
CFG = """
[options]
package_dir =
    = lib

[options.packages.find]
where = lib

[options.entry_points]
console_scripts =
    kit = kit.app:start
    more = kit.more:run [gpu]
plugins =
    a = b:c
"""


@pytest.mark.parametrize(
    ("name", "text", "scripts", "sources"),
    [
        ("pyproject.toml", '[project.scripts]\nkit = "kit.app:start"\n', ["kit.app:start"], []),
        ("pyproject.toml", '[project.gui-scripts]\nkit = "kit.app:start"\n', ["kit.app:start"], []),
        ("pyproject.toml", '[project.entry-points.plugins]\na = "b:c"\n', [], []),
        ("pyproject.toml", POETRY, ["kit.app:start", "kit.more:run"], ["lib"]),
        ("pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["lib", "../out", "/abs"]\n', [], ["lib"]),
        ("pyproject.toml", '[tool.setuptools]\npackages = ["kit"]\npackage-dir = {"" = "lib"}\n', [], ["lib"]),
        ("pyproject.toml", '[tool.hatch.build.targets.wheel]\npackages = ["lib/kit"]\n', [], ["lib"]),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = "lib ."\n', [], ["lib"]),
        ("pyproject.toml", "[project.scripts\n", [], []),
        ("pyproject.toml", "project = 3\n", [], []),
        ("setup.py", SETUP, ["kit.app:start", "kit.more:Cli.run"], ["lib"]),
        ("setup.py", "setup(entry_points='''\n[console_scripts]\nkit = kit.app:start\n''')", ["kit.app:start"], []),
        ("setup.py", "setup(entry_points=", [], []),
        ("setup.cfg", CFG, ["kit.app:start", "kit.more:run"], ["lib"]),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, scripts: list[str], sources: list[str]) -> None:
    write(tmp_path, {name: text})
    found = packaging_in(tmp_path)
    assert [f"{script.module}:{script.attribute}" for script in found.scripts] == scripts
    assert [source.relative_to(tmp_path).as_posix() for source in found.sources] == sources


def test_none(tmp_path: Path) -> None:
    assert packaging_in(tmp_path) == Packaging()


def test_projects_of_a_monorepo(tmp_path: Path) -> None:
    here = project(
        tmp_path,
        {
            "libs/zoo/pyproject.toml": '[project.scripts]\nzoo = "zoo.app:main"\n[tool.setuptools]\n'
            'package-dir = {"" = "py"}\n',
            "libs/zoo/py/zoo/app.py": "",
            "libs/half/src/half/on.py": "",
            "train.py": "from half.on import it\nimport zoo.app\n",
        },
    )
    assert here.console_scripts() == (Script("zoo.app", "main"),)
    assert [shown(tmp_path, path) for path in sorted(here.imports(tmp_path / "train.py"))] == [
        "/libs/half/src/half/on.py",
        "/libs/zoo/py/zoo/app.py",
    ]
