"""What only a process of its own can show: imports, streams, terminals, the real analysis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MPLINT = (sys.executable, "-m", "mplint")

PROGRAM = """\
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,), name="digits")
x = layers.Dense(64, activation="relu")(inputs)  # hidden
outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
model = keras.Model(inputs, outputs)
"""


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [*MPLINT, *arguments], cwd=cwd, env={**clean, **environment}, capture_output=True, check=False, timeout=120
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_nothing_heavy_is_imported_for(flag: str) -> None:
    script = (
        "import sys\n"
        "from mplint.cli.main import main\n"
        f"try: main([{flag!r}])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(*sorted(sys.modules), sep='\\n', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "click" in loaded
    heavy = {"libcst", "rich", "pathspec", "tensorflow", "mplint.analysis", "mplint.fixer", "mplint.source.file"}
    assert not heavy & loaded


def test_finding_fixing_and_finding_nothing(project: Path) -> None:
    found = run("--output-format", "json", cwd=project)
    assert found.returncode == 1, found.stderr.decode()
    [finding] = json.loads(found.stdout)
    assert (finding["code"], finding["location"]["row"], finding["policy"]) == ("MP101", 8, "mixed_float16")
    assert finding["fix"]["applicability"] == "safe"

    shown = run("--diff", ".", cwd=project)
    assert shown.returncode == 1
    assert shown.stdout.startswith(b"--- train.py\n+++ train.py\n")
    fixed = run("--fix", ".", cwd=project)
    assert fixed.returncode == 0, fixed.stdout.decode()
    text = (project / "train.py").read_text()
    assert 'dtype="float32"' in text
    assert "# hidden" in text
    assert run("--fix", ".", cwd=project).stdout.startswith(b"All checks passed.\n")
    assert (project / "train.py").read_text() == text


def test_a_suppression(project: Path) -> None:
    (project / "train.py").write_text(
        PROGRAM.replace('name="predictions")(x)', 'name="predictions")(x)  # noqa: MP101')
    )
    assert run(cwd=project).returncode == 0


def test_code_without_a_policy_is_told_how_to_be_checked(project: Path) -> None:
    (project / "train.py").write_text(PROGRAM.replace("keras.mixed_precision", "# "))
    done = run(cwd=project)
    assert done.returncode == 0
    assert b"--assume-policy" in done.stdout
    assert run("--assume-policy", "mixed_float16", cwd=project).returncode == 1


def test_one_named_file_knows_the_policy_of_another(project: Path) -> None:
    setup, _, model = PROGRAM.partition('keras.mixed_precision.set_global_policy("mixed_float16")\n')
    (project / "model.py").write_text(
        setup + "def build():\n" + "".join(f"    {line}\n" for line in model.split("\n") if line)
    )
    (project / "train.py").write_text(
        f'{setup}import model\n\nkeras.mixed_precision.set_global_policy("mixed_float16")\nmodel.build()\n'
    )
    (project / "pyproject.toml").write_text("")
    done = run("--output-format", "concise", "model.py", cwd=project)
    assert done.stdout.startswith(b"model.py:"), done.stderr.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colours(project: Path, environment: dict[str, str], colored: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [*MPLINT, "--config", 'exclude = ["x"]'],
        cwd=project,
        env={**clean, "TERM": "xterm", **environment},
        stdout=theirs,
        stderr=subprocess.PIPE,
    ):
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux's way of saying that the other end is closed
                break
            if not part:
                break
            text += part
    os.close(ours)
    assert b"MP101" in text
    assert (b"\x1b[" in text) is colored


def test_an_ascii_stream_gets_escapes(project: Path) -> None:
    (project / "train.py").write_text(PROGRAM.replace("# hidden", "# ☃"), encoding="utf-8")
    done = run(cwd=project, PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert b"\\u2603" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes as POSIX has them")
def test_a_reader_that_leaves_is_no_internal_error(project: Path) -> None:
    with subprocess.Popen([*MPLINT], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
