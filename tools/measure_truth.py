"""Run the programs of tests/truth/programs.py in Keras 2 and Keras 3 and record what their models put out.

    python -m tools.measure_truth            writes tests/truth/dtypes.json
    python -m tools.measure_truth --check    fails where the record differs from a fresh run

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
from tools.real_keras import GENERATIONS, differences, dumps, run_jobs, summary, versions

RECORD = Path(__file__).resolve().parent.parent / "tests" / "truth" / "dtypes.json"


def fingerprint(sources: Iterable[str]) -> str:
    """Tells whether the programs are still those that were measured."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.encode() + b"\0")
    return digest.hexdigest()[:16]


def measure() -> dict[str, Any]:
    """The whole record, as it is stored."""
    programs: dict[str, dict[str, Any]] = {program.name: {} for program in PROGRAMS}
    for generation in GENERATIONS:
        jobs = [
            {"id": program.name, "source": program.source, "inputs": program.inputs}
            for program in PROGRAMS
            if generation in program.generations
        ]
        for name, row in run_jobs(generation, jobs).items():
            programs[name][generation] = summary(row)
    return {
        "measured_with": versions(),
        "fingerprint": fingerprint(program.source for program in PROGRAMS),
        "programs": programs,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    fresh = measure()
    if not arguments.check:
        RECORD.write_text(dumps(fresh), encoding="utf-8")
        return 0
    wrong = differences(json.loads(RECORD.read_text(encoding="utf-8"))["programs"], fresh["programs"])
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
