"""What is said of files: one kind of paths wherever the user stands, and what lies in files that were not named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from mplint.cli.main import main
from mplint.verify import prove
from mplint.verify.results import AFTER, BEFORE, Evidence, Reached, Trouble
from tests.verify.test_judge import RUN

FILES = {
    "pyproject.toml": '[tool.mplint]\nkeras = "3"\n',
    "half.py": 'from tensorflow import keras\nkeras.mixed_precision.set_global_policy("mixed_float16")\n',
    "train.py": "import half\nfrom nets.net import build\nbuild()\n",
    "nets/__init__.py": "",
    "nets/net.py": """from tensorflow import keras


def build():
    inputs = keras.Input((8,))
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(inputs))
""",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def said(*arguments: str) -> str:
    return CliRunner().invoke(main, arguments, prog_name="mplint").stdout


@pytest.mark.parametrize(("folder", "nets", "top"), [("", "nets/", ""), ("nets", "", "../"), ("..", "{}/nets/", "{}/")])
def test_text_has_the_paths_of_the_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch, folder: str, nets: str, top: str
) -> None:
    nets, top = nets.format(root.name), top.format(root.name)
    monkeypatch.chdir(root / folder)
    line = said("check", "--output-format", "concise", str(root)).splitlines()[0]
    assert line.startswith(f"{nets}net.py:6:")
    assert f"set at {top}half.py:2, reaches here through build ({top}train.py:3)" in line
    story = said("check", str(root))
    assert f"--> {nets}net.py:6:" in story
    assert f"because: {top}train.py:1 imports {top}half.py\n" in story
    told = said("config", str(root / "nets" / "net.py"))
    assert f"# file: {nets}net.py\n" in told
    assert f"# policy: mixed_float16 in the program {top}train.py\n" in told


def test_a_proof_has_the_paths_of_the_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, net = root / "train.py", root / "nets" / "net.py"
    trouble = Trouble("crash", "ValueError: no", "running the program", where=(net, 6))
    measured = replace(RUN, trouble=trouble, reach={net: Reached(((6, 6),), ((6, 6),))})
    evidence = Evidence(runs={AFTER: measured, BEFORE: measured})
    monkeypatch.setattr(prove, "execute", lambda *arguments, **options: evidence)
    monkeypatch.setattr(prove, "interpreter", lambda named: named)
    (root / "old.py").write_text("")
    for folder, nets, top in ((root, "nets/", ""), (root / "nets", "", "../")):
        monkeypatch.chdir(folder)
        lines = said("verify", str(train), "--against", str(root / "old.py")).splitlines()
        start = lines.index(f"? {top}train.py: inconclusive")
        assert lines[start + 1].endswith(f"failed: ValueError: no ({nets}net.py:6)")
        assert lines[-1] == f"  {nets}net.py: the rewritten row 6 did not run"
        told = json.loads(said("verify", str(train), "--output-format", "json"))
        assert told["reasons"] == ["running the program failed: ValueError: no (nets/net.py:6)"]


def test_json_is_the_same_everywhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = set()
    for folder in (root, root / "nets", root.parent):
        monkeypatch.chdir(folder)
        outputs.add(said("check", "--output-format", "json", str(root)))
    (output,) = outputs
    (finding,) = json.loads(output)
    assert finding["filename"] == str(root / "nets" / "net.py")
    assert finding["trace"][0] == "train.py:1 imports half.py"


@pytest.mark.parametrize("named", ["train.py", "half.py"])
def test_what_is_found_in_files_that_were_not_named_is_counted(
    root: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(root)
    note = "note: 1 more finding in a file that was not named: nets/net.py\n"
    assert said("check", named) == f"All checks passed.\n{note}"
    assert said("check", "-q", named) == ""
    assert note not in said("check", "nets/net.py")
    assert note not in said("check", named, "nets")
    assert note not in said("check", "--ignore", "MP101", named)
    result = CliRunner().invoke(main, ["check", "--output-format", "json", named])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "[]\n", note)
    net = root / "nets" / "net.py"
    net.write_text(net.read_text().replace("(inputs))\n", "(inputs))  # noqa: MP101\n"))
    assert note not in said("check", named)


def test_findings_that_another_program_causes_are_not_counted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    (root / "show.py").write_text("from nets.net import build\nbuild()\n")
    assert said("check", "show.py") == "All checks passed.\n"
    assert "Found 1 " in said("check", "show.py", "nets")
    (root / "more.py").write_text(f"{FILES['nets/net.py']}\n\nimport half\nbuild()\n")
    assert "note: 2 more findings in files that were not named: more.py and nets/net.py\n" in said("check", "half.py")
