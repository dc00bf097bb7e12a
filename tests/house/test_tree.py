"""What must stand in the repository's files, and what must not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip._internal.models.index import PyPI

import mplint
from tests.house.repository import ROOT, files, python

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOCKS = sorted(ROOT.glob("requirements*.txt"))


def mentions(pattern: str) -> list[str]:
    """The places in the repository that match, links and binary files left out."""
    found = []
    for file in files():
        if file.is_symlink() or b"\0" in (data := file.read_bytes())[:1024]:
            continue
        for row, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{file.relative_to(ROOT)}:{row}: {line.strip()[:120]}")
    return found


def test_a_lock_file_says_what_but_not_where_from() -> None:
    assert LOCKS
    for lock in LOCKS:
        lines = lock.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if re.search(r"://|@ |^\s*-(?!-hash=)", line)], lock
        pins = [line for line in lines if line and line[0] not in "# "]
        assert pins
        assert not [line for line in pins if not re.match(r"[A-Za-z0-9._-]+==\S+ ", line)], lock
        hashed = re.findall(r"^\S+==[^\n]*\\\n +--hash=sha256:[0-9a-f]{64}", "\n".join(lines), flags=re.MULTILINE)
        assert len(hashed) == len(pins), lock


def test_the_lock_file_pins_all_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    wanted = {canonicalize_name(Requirement(one).name) for one in named} - {"mplint"}
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    assert wanted <= {canonicalize_name(line.split("==")[0]) for line in lines if "==" in line}


def test_no_package_registry_is_named() -> None:
    configured = re.findall(r"https?://(?:[^/@\s]*@)?([\w.-]+)", python("-m", "pip", "config", "list"))
    hosts = {PyPI.netloc, PyPI.file_storage_domain, *configured}
    assert not mentions("|".join(re.escape(host) for host in sorted(hosts)))


def test_no_place_of_the_developers_machine_is_named() -> None:
    places = [f"{re.escape(str(place))}/" for place in (Path.home(), ROOT) if place != Path(place.anchor)]
    assert not mentions("|".join([rf"(?<![\w.]){place}" for place in places] + [r"(?<![\w.])/(?:home|Users)/\w+/"]))


def test_the_changelog_knows_this_version() -> None:
    assert f"## {mplint.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_hooks() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert set(hooks) == {"mplint", "mplint-fix"}
    for hook in hooks.values():
        assert hook["language"] == "python"
        assert hook["types_or"] == ["python", "pyi", "jupyter"]
        assert hook["require_serial"] is True
        # A file that the user has excluded stays excluded when the hook names it.
        assert "--force-exclude" in hook["entry"].split()
    assert "--fix" in hooks["mplint-fix"]["entry"].split()


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    command = script.read_text(encoding="utf-8").splitlines()[-1]
    assert command == "make test"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
