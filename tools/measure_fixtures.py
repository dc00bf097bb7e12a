"""Run the programs of tests/fixtures, as they are and as they were rewritten, in Keras 2 and Keras 3.

    python -m tools.measure_fixtures                writes tests/fixtures/measured.json
    python -m tools.measure_fixtures MP101 silent   only the programs whose names begin so; the rest of the record stays
    python -m tools.measure_fixtures --check        fails where the record differs from a fresh run

Needs tensorflow and tf-keras in the interpreter that runs it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.fixture_programs import MEASURED, Fixture, load_all
from tools.real_keras import GENERATIONS, differences, dumps, run_jobs, summary, versions


def measure(fixtures: Iterable[Fixture]) -> dict[str, dict[str, Any]]:
    """What each program's models put out: name -> generation -> "program" and, where it is rewritten, "fixed"."""
    fixtures = [fixture for fixture in fixtures if not fixture.unmeasured]
    result: dict[str, dict[str, Any]] = {fixture.name: {} for fixture in fixtures}
    with tempfile.TemporaryDirectory() as folder:
        for generation in GENERATIONS:
            jobs = []
            for fixture in fixtures:
                if generation not in fixture.generations:
                    continue
                for kind in ("program", "fixed"):
                    root = Path(folder) / generation / kind / fixture.name
                    changed = fixture.fixed_folder(generation)
                    if kind == "fixed" and changed is None:
                        continue
                    shutil.copytree(fixture.program, root)
                    if kind == "fixed" and changed is not None:
                        shutil.copytree(changed, root, dirs_exist_ok=True)
                    jobs.append(fixture.job(f"{fixture.name} {kind}", root))
            for job, row in run_jobs(generation, jobs).items():
                name, kind = job.split(" ")
                result[name].setdefault(generation, {})[kind] = summary(row)
    return result


def recorded() -> dict[str, dict[str, Any]]:
    """The programs of the stored record."""
    if not MEASURED.exists():
        return {}
    programs: dict[str, dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8"))["programs"]
    return programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the names of programs")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    fixtures = load_all()
    chosen = [f for f in fixtures if not arguments.names or f.name.startswith(tuple(arguments.names))]
    fresh, old = measure(chosen), recorded()
    if arguments.check:
        wrong = differences({name: old.get(name) for name in fresh}, fresh)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    programs = {f.name: fresh.get(f.name, old.get(f.name, {})) for f in fixtures}
    MEASURED.write_text(dumps({"measured_with": versions(), "programs": programs}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
