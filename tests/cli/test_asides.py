"""What --verbose tells of a run on real programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mplint.cli.main import main

SET = "keras.mixed_precision.set_global_policy"


@pytest.mark.parametrize(
    ("last", "is_told"),
    [
        ("half(sys.argv[1])", 1),
        ("half(sys.argv[1]); half(sys.argv[2])", 1),
        ("half('mixed_float16'); half(sys.argv[1])", 0),
        (f"half('float32'); {SET}(sys.argv[1]); {SET}(sys.argv[2])", 1),
    ],
)
def test_what_is_never_known_is_told_once(tmp_path: Path, last: str, is_told: int) -> None:
    text = f"import sys\nfrom tensorflow import keras\n\ndef half(name):\n    {SET}(name)\n\n{last}\n"
    (tmp_path / "train.py").write_text(text)
    told = CliRunner().invoke(main, ["check", "--isolated", "-v", str(tmp_path)]).stderr
    assert told.count("is not known: what depends on it") == is_told


def test_a_policy_that_nobody_knows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    setter = "import sys\nfrom tensorflow import keras\nkeras.mixed_precision.set_global_policy(sys.argv[1])\n"
    (tmp_path / "train.py").write_text(setter)
    told = "the policy that is set at train.py:3 is not known: what depends on it was not checked\n"
    plain = CliRunner().invoke(main, ["check", "--isolated", str(tmp_path)]).output
    assert "note: Keras code was seen, but the policy that is set at train.py:3 is not known: " in plain
    assert told not in plain
    assert told in CliRunner().invoke(main, ["check", "--isolated", "-v", str(tmp_path)]).output
