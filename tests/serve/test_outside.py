"""A review opens no file outside of the repository, whatever the code and the configuration in it name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.review.repositories import Repository
from tests.serve.conftest import POLICY, model
from tests.serve.served import ROOT


def reviewed(repository: Repository, head: str) -> dict[str, Any]:
    base = repository.git("rev-parse", "main")
    command = [sys.executable, "-m", "tests.serve.audited", str(repository.top), base, head]
    done: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    assert done["opened"]
    return done


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("secret.py", "policy.py"):
        (folder / name).write_text(POLICY)
    (folder / "settings.yaml").write_text("policy: mixed_float16\n")
    (folder / "requirements.txt").write_text("keras==3.0\n")
    (folder / "baseline.json").write_text("{}")
    (folder / "mplint.toml").write_text('select = ["MP101"]\n')
    return folder


def test_code(repository: Repository, outside: Path) -> None:
    up = "/".join([".."] * 12) + str(outside)
    lines = ["import sys", "import runpy", "import json", "from pathlib import Path", "import keras", "import yaml"]
    for where in (str(outside), up):
        lines += [
            f"sys.path.insert(0, {where!r})",
            f"runpy.run_path({f'{where}/secret.py'!r})",
            f"exec(open({f'{where}/secret.py'!r}).read())",
            f"given = yaml.safe_load(open({f'{where}/settings.yaml'!r}))",
            f"also = json.loads(Path({f'{where}/settings.yaml'!r}).read_text())",
            "keras.mixed_precision.set_global_policy(given['policy'])",
        ]
    lines += ["import secret", "from ............ import outside", model("three")]
    notebook: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**notebook, "source": [f"%run {where}/secret.py\n"]} for where in (str(outside), up)]
    head = repository.commit(
        {
            "reads.py": "\n".join(lines),
            "runs.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}),
            "requirements.txt": f"-r {outside}/requirements.txt\n-r {up}/requirements.txt\n-e {outside}\n",
            "pyproject.toml": f'[tool.setuptools]\npackage-dir = {{"" = "{outside}"}}\n',
        }
    )
    done = reviewed(repository, head)
    assert done["found"]
    assert not [path for path in done["opened"] if path.startswith(str(outside))]


@pytest.mark.parametrize(
    "text",
    [
        'baseline = "{}/baseline.json"',
        'cache-dir = "{}/cache"',
        'exclude = ["{}/*"]',
        'extend = "{}/mplint.toml"',
        'per-file-keras = {{ "{}/*" = "2" }}',
    ],
)
def test_configuration(repository: Repository, outside: Path, text: str) -> None:
    for where in (str(outside), "/".join([".."] * 12) + str(outside)):
        head = repository.commit({".mplint.toml": text.format(where)})
        done = reviewed(repository, head)
        assert not done["said"] or ".mplint.toml" in done["said"]
        assert not [path for path in done["opened"] if path.startswith(str(outside))]
        assert not (outside / "cache").exists()
