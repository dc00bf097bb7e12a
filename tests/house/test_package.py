"""The distribution holds the whole package, once, and nothing else."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import mplint
from tests.house.repository import python


def package_files(root: Path) -> set[str]:
    """What must be installed: mplint/ with mplint.rules, which the link brings in."""
    found = set()
    for folder, _, names in os.walk(root / "mplint", followlinks=True):
        for name in names:
            path = (Path(folder) / name).relative_to(root)
            if path.suffix in (".py", ".html", ".yml") or path.name == "py.typed" or "data" in path.parts:
                found.add(path.as_posix())
    return found


def held(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def build(form: str, source: Path, out: Path) -> Path:
    python("-m", "build", "--no-isolation", form, "--outdir", out, source, cwd=source)
    (result,) = out.iterdir()
    return result


def test_the_wheel_holds_each_file_once(clone: Path, tmp_path: Path) -> None:
    wheel = build("--wheel", clone, tmp_path / "wheel")

    assert wheel.name == f"mplint-{mplint.__version__}-py3-none-any.whl"
    assert not [name for name, count in Counter(held(wheel)).items() if count > 1]
    assert set(held(wheel)) == package_files(clone)
    about = f"mplint-{mplint.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        assert "mplint = mplint.cli.main:run" in archive.read(f"{about}/entry_points.txt").decode()
        assert archive.read(f"{about}/licenses/LICENSE") == (clone / "LICENSE").read_bytes()
        metadata = archive.read(f"{about}/METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Provides-Extra: verify" in metadata


def test_the_source_distribution_builds_the_same_wheel(clone: Path, tmp_path: Path) -> None:
    with tarfile.open(build("--sdist", clone, tmp_path / "sdist")) as bundle:
        names = bundle.getnames()
        bundle.extractall(tmp_path / "unpacked")
    (source,) = (tmp_path / "unpacked").iterdir()

    assert not [name for name, count in Counter(names).items() if count > 1]
    assert not [name for name in names if "/mplint/rules" in name], "the rules are in rules/ already"
    assert set(held(build("--wheel", source, tmp_path / "wheel"))) == package_files(clone)


def test_an_installed_wheel_works(clone: Path, tmp_path: Path) -> None:
    wheel = build("--wheel", clone, tmp_path / "wheel")
    place = tmp_path / "place"
    python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", place, wheel)

    # From an empty folder, so that neither the working tree nor an editable install answers instead.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tell = "import mplint, mplint.rules; print(mplint.__file__); print(mplint.rules.__file__)"
    assert python("-c", tell, cwd=elsewhere, PYTHONPATH=place).splitlines() == [
        str(place / "mplint" / "__init__.py"),
        str(place / "mplint" / "rules" / "__init__.py"),
    ]
    assert mplint.__version__ in python("-m", "mplint", "--version", cwd=elsewhere, PYTHONPATH=place)
    shutil.copytree(clone / "examples" / "digits", elsewhere / "digits")
    found = python("-m", "mplint", "check", "digits", cwd=elsewhere, status=1, PYTHONPATH=place)
    assert "MP101" in found
    assert "MP102" in found


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_nothing_heavy_is_imported_to_say_who_one_is(option: str) -> None:
    hide = "sys.modules.update(dict.fromkeys(['libcst', 'tensorflow', 'keras', 'tf_keras']))"
    start = f"sys.argv = ['mplint', {option!r}]; runpy.run_module('mplint', run_name='__main__')"
    assert "mplint" in python("-c", f"import runpy, sys; {hide}; {start}")
