"""What --verbose tells of a run on real programs."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from mplint.cli.main import main


def test_a_policy_that_nobody_knows_is_told(tmp_path: Path) -> None:
    setter = "import sys\nfrom tensorflow import keras\nkeras.mixed_precision.set_global_policy(sys.argv[1])\n"
    (tmp_path / "train.py").write_text(setter)
    told = "the policy that is set at train.py:3 is not known: what depends on it was not checked\n"
    plain = CliRunner().invoke(main, ["check", "--isolated", str(tmp_path)]).output
    assert "note: Keras code was seen, but the policy that is set at train.py:3 is not known: " in plain
    assert told not in plain
    assert told in CliRunner().invoke(main, ["check", "--isolated", "-v", str(tmp_path)]).output
