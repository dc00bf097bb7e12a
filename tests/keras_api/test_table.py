"""The table is what the generator writes from exactly these versions, and is quick to read."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mplint import keras_api
from mplint.keras_api.table import DATA

GENERATOR = Path(__file__).parents[2] / "tools" / "make_keras_table.py"
BY_HAND = {"calls.json", "dead_names.json", "sizes.json"}
BY_THE_JUDGE = {"applications.json"}
"""`python -m tools.judge_applications --write`: building them all takes an hour."""
OF_OLD_RELEASES = {"places.json"}
"""`tools/list_keras_places.py` reads releases that are downloaded for it."""


def _installed() -> dict[str, str]:
    found = {}
    for name in keras_api.versions():
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


@pytest.mark.slow
@pytest.mark.verify
def test_the_generator_writes_this_table(tmp_path: Path) -> None:
    if _installed() != keras_api.versions():
        pytest.skip(f"the table was made from {keras_api.versions()}")
    subprocess.run([sys.executable, str(GENERATOR), "--into", str(tmp_path)], check=True, capture_output=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {path.name for path in DATA.iterdir()} - BY_HAND - BY_THE_JUDGE - OF_OLD_RELEASES
    assert [name for name, data in written.items() if data != (DATA / name).read_bytes()] == []


@pytest.mark.parametrize("path", sorted(DATA.iterdir()), ids=lambda path: path.name)
def test_a_file_has_one_entry_a_line(path: Path) -> None:
    """So that a difference shows which entries changed."""
    for section in json.loads(path.read_bytes()).values():
        assert path.read_text(encoding="utf-8").count("\n") >= len(section)


def test_reading_it_imports_no_tensorflow() -> None:
    program = (
        "import sys\n"
        "from mplint import keras_api\n"
        "keras_api.layer_output_dtype('keras.layers.Dense', 'float16', {}, ('float32',))\n"
        "assert not {'tensorflow', 'keras', 'numpy', 'libcst'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
