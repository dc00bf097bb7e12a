"""The demonstration behind `make demo`: find, rewrite and prove the faults of examples/digits.

Works on a copy in a temporary folder, shows each command with what it prints, and holds mplint to its word: the exit
status is 1 when anything is not as announced.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits"
COLOR = sys.stdout.isatty() and "NO_COLOR" not in os.environ
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Demonstration:
    """Commands run on a copy of the example; it ends where something is not as announced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def say(self, heading: str) -> None:
        print(f"\n\x1b[1m{heading}\x1b[0m\n" if COLOR else f"\n{heading}\n{'=' * len(heading)}\n", flush=True)

    def mplint(self, *arguments: str, status: int, shows: tuple[str, ...]) -> None:
        """Run mplint, show what it prints, and expect a status and some patterns."""
        command = " ".join(["mplint", *arguments])
        print(f"$ {command}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "mplint", *arguments],
            cwd=self.folder / "digits",
            env=os.environ | {"PYTHONUTF8": "1"} | ({"FORCE_COLOR": "1"} if COLOR else {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        print(done.stdout, flush=True)
        plain = ANSI.sub("", done.stdout)
        self.expect(done.returncode == status, f"{command}: exit status {done.returncode}, not {status}")
        for pattern in shows:
            self.expect(re.search(pattern, plain) is not None, f"{command}: nothing in it matches {pattern!r}")

    def expect(self, held: bool, otherwise: str) -> None:
        if not held:
            sys.exit(f"The demonstration is not what it should be. {otherwise}")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}


def demonstrate(show: Demonstration) -> None:
    digits, original = show.folder / "digits", show.folder / "original"
    for copy in (digits, original):
        shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    show.say(
        "1. What is wrong (the policy is set in precision.py, the model is in model.py, train.py brings them together)"
    )
    show.mplint("check", ".", status=1, shows=(r"MP101", r"MP102", r"Found 2\b"))

    show.say("2. What mplint would write instead")
    show.mplint(
        *("check", "--diff", "."),
        status=1,
        shows=(
            r'(?m)^\+.*activation="softmax", name="digit", dtype="float32"\)',
            r'(?m)^\+.*name="slant", dtype="float32"',
        ),
    )
    show.expect(contents(digits) == contents(original), "--diff has changed a file")

    show.say("3. Let it")
    show.mplint("check", "--fix", ".", status=0, shows=())
    changed = {name for name, text in contents(digits).items() if text != contents(original)[name]}
    show.expect(changed == {"model.py"}, f"--fix has changed {sorted(changed)}, not just model.py")
    show.mplint("check", ".", status=0, shows=())

    for number, (keras, name) in enumerate((("2", "Keras 2 (tf-keras)"), ("3", "Keras 3")), 4):
        show.say(f"{number}. The proof in {name}: both programs really train")
        show.mplint(
            *("verify", "train.py", "--against", "../original", "--keras", keras),
            status=0,
            shows=(
                rf"Keras {keras}\.",
                r"output digit +float16 +float32",
                r"output slant +float16 +float32",
                r"weights in float32 .*identical bits",
                r"verified",
            ),
        )


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with tempfile.TemporaryDirectory(prefix="mplint-demo-") as folder:
        demonstrate(Demonstration(Path(folder)))
    print("Both outputs were float16 and are float32 now, in Keras 2 and in Keras 3.")


if __name__ == "__main__":
    main()
