"""Pin everything that `make` installs, with hashes and without a word on where it comes from.

Reads the dependencies and all extras of pyproject.toml and writes requirements-dev.txt, for every Python that mplint
supports at once. uv does the resolving; it is installed for the occasion, in a folder that is thrown away.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-dev.txt"
HEADER = """\
# All that mplint, its extras and its development need, for Python 3.10 to 3.13. Written by `make lock`: do not edit.
"""


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
        resolve = ["pip", "compile", "pyproject.toml", "--all-extras", "--universal", "--python-version", "3.10"]
        form = ["--generate-hashes", "--no-header", "--quiet"]
        done = subprocess.run(
            [scripts / "uv", *resolve, *form], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
    LOCK.write_text(HEADER + done.stdout, encoding="utf-8")
    print(f"{LOCK.name}: {sum('==' in line for line in done.stdout.splitlines())} pins")


if __name__ == "__main__":
    main()
