"""Run the programs of tests/truth/programs.py in Keras 2 and Keras 3 and record what they do.

    python -m tools.measure_truth            writes tests/truth/dtypes.json and made.json
    python -m tools.measure_truth --check    fails where the records differ from a fresh run

dtypes.json holds what the models put out; made.json, for the audit, the dtypes of layers, models and variables by the
call that makes each.

Needs tensorflow and tf-keras in the interpreter that runs it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.truth.programs import PROGRAMS
from tools.real_keras import GENERATIONS, differences, dumps, made, run_jobs, summary, versions

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "truth"
DTYPES = FOLDER / "dtypes.json"
MADE = FOLDER / "made.json"


def fingerprint(sources: Iterable[str]) -> str:
    """Tells whether the programs are still those that were measured."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.encode() + b"\0")
    return digest.hexdigest()[:16]


def measure() -> dict[Path, dict[str, Any]]:
    """The whole records, as they are stored."""
    programs: dict[Path, dict[str, dict[str, Any]]] = {
        path: {program.name: {} for program in PROGRAMS} for path in (DTYPES, MADE)
    }
    for generation in GENERATIONS:
        jobs = [
            {"id": program.name, "source": program.source, "inputs": program.inputs}
            for program in PROGRAMS
            if generation in program.generations
        ]
        for name, row in run_jobs(generation, jobs).items():
            programs[DTYPES][name][generation] = summary(row)
            programs[MADE][name][generation] = made(row)
    head = {"measured_with": versions(), "fingerprint": fingerprint(program.source for program in PROGRAMS)}
    return {path: {**head, "programs": found} for path, found in programs.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    fresh = measure()
    if not arguments.check:
        for path, record in fresh.items():
            path.write_text(dumps(record), encoding="utf-8")
        return 0
    wrong = [
        line
        for path, record in fresh.items()
        for line in differences(json.loads(path.read_text(encoding="utf-8"))["programs"], record["programs"])
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
