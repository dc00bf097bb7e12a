"""Compare mplint with LibCST's own parse, and with ruff, on the same files in one run.

usage: corpus.py FOLDER [FOLDER ...]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARSE = """
import sys, libcst
from pathlib import Path
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).rglob("*.py")):
        try:
            libcst.parse_module(path.read_bytes())
        except Exception:
            pass
"""


def measured(command: list[str]) -> tuple[float, float, float, str]:
    """CPU seconds, wall seconds, peak MiB and standard error of a command."""
    with tempfile.TemporaryFile("w+") as errors:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, _, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        errors.seek(0)
        return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, errors.read()


def lines(folders: list[str]) -> tuple[int, int]:
    """Files and lines of the corpus."""
    files = [path for folder in folders for path in Path(folder).rglob("*.py")]
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def main() -> int:
    """Run all and print a table."""
    folders = sys.argv[1:]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    count, length = lines(folders)
    print(f"{count} files, {length} lines\n")
    runs = {"libcst.parse_module": [[sys.executable, "-c", PARSE, *folders]]}
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if ruff:
        runs["ruff check --no-cache"] = [
            [ruff, "check", "--no-cache", "--isolated", "--exit-zero", "--quiet", *folders]
        ]
    mplint = [sys.executable, "-m", "mplint", "check", "--isolated", "--no-cache", "--exit-zero", "--timing"]
    runs["mplint check"] = [[*mplint, folder] for folder in folders]  # each folder is a project of its own
    base = 0.0
    said: list[str] = []
    print(f"{'':24}{'CPU s':>8}{'wall s':>8}{'peak MiB':>10}{'x parse':>9}")
    for name, commands in runs.items():
        results = [measured(command) for command in commands]
        cpu, wall = sum(result[0] for result in results), sum(result[1] for result in results)
        memory = max(result[2] for result in results)
        said = [result[3].strip() for result in results]
        base = base or cpu
        print(f"{name:24}{cpu:8.1f}{wall:8.1f}{memory:10.0f}{cpu / base:9.2f}", flush=True)
    for folder, text in zip(folders, said, strict=True):
        print(f"\n{folder}\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
