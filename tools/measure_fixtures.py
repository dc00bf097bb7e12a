"""Run the programs of tests/fixtures, as they are and as they were rewritten, in Keras 2 and Keras 3.

    python -m tools.measure_fixtures                writes tests/fixtures/measured.json and made.json
    python -m tools.measure_fixtures MP101 silent   only the programs whose names begin so; the rest of the record stays
    python -m tools.measure_fixtures --check        fails where the records differ from a fresh run
    python -m tools.measure_fixtures --check --every 3      the same for every third program

measured.json holds what the models put out, and of which text of the program ("of"); made.json, for the audit, the
dtypes of layers, models and variables by the call that makes each. Needs tensorflow and tf-keras in the interpreter
that runs it, and Python 3.11 or later, which tells columns.
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

from mplint.source.notebook import SUFFIX as NOTEBOOK
from mplint.source.reading import source_of
from tests.fixture_programs import MADE, MEASURED, Fixture, load_all
from tools.real_keras import GENERATIONS, differences, dumps, made, run_jobs, summary, versions

Records = dict[Path, dict[str, dict[str, Any]]]
"""By file and program."""


def measure(fixtures: Iterable[Fixture]) -> Records:
    """What each program does: name -> generation -> "program" and, where it is rewritten, "fixed"."""
    fixtures = [fixture for fixture in fixtures if not fixture.unmeasured]
    result: Records = {path: {fixture.name: {} for fixture in fixtures} for path in (MEASURED, MADE)}
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
                    for notebook in root.rglob(f"*{NOTEBOOK}"):  # Python under the notebook's name
                        notebook.write_text(source_of(notebook, notebook.read_bytes()).text, encoding="utf-8")
                    jobs.append(fixture.job(f"{fixture.name} {kind}", root))
            for job, row in run_jobs(generation, jobs).items():
                name, kind = job.split(" ")
                result[MEASURED][name].setdefault(generation, {})[kind] = summary(row)
                result[MADE][name].setdefault(generation, {})[kind] = made(row)
    for fixture in fixtures:
        result[MEASURED][fixture.name]["of"] = fixture.fingerprint
    return result


def recorded() -> Records:
    """The programs of the stored records."""
    return {
        path: json.loads(path.read_text(encoding="utf-8"))["programs"] if path.exists() else {}
        for path in (MEASURED, MADE)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the names of programs")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run every N-th of the programs only")
    arguments = parser.parse_args()
    fixtures = load_all()
    named = [f for f in fixtures if not arguments.names or f.name.startswith(tuple(arguments.names))]
    chosen = named[:: arguments.every]
    fresh, old = measure(chosen), recorded()
    if arguments.check:
        wrong = [
            line
            for path, rows in fresh.items()
            for line in differences({name: old[path].get(name) for name in rows}, rows)
        ]
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    for path, rows in fresh.items():
        programs = {f.name: rows.get(f.name, old[path].get(f.name, {})) for f in fixtures}
        path.write_text(dumps({"measured_with": versions(), "programs": programs}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
