"""Write the `fixed` folders of tests/fixtures: what --fix makes of each bad program.

    python -m tools.update_fixtures                 all
    python -m tools.update_fixtures MP101 MP102/bad/walrus

Read the difference before you commit it, then run `python -m tools.measure_fixtures` on the same names.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping
from pathlib import Path

from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings
from tests.fixture_programs import Fixture, load_all


def rewritten(fixture: Fixture, generation: str) -> dict[str, bytes]:
    """The new contents of each file that the fix changes."""
    settings = Settings(root=fixture.program, keras="2" if generation == "2" else "3")
    project = Project(fixture.program, fixture.files)
    outcome = fix(project, fixture.files, settings, unsafe=fixture.fix == "unsafe")
    for finding, reason in outcome.withdrawn:
        print(f"{fixture.name} [keras {generation}]: {finding.code} withdrawn: {reason}")
    return {
        path.relative_to(fixture.program).as_posix(): project.source(path).encode(text)
        for path, text in outcome.files.items()
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def update(fixture: Fixture) -> None:
    """Replace what is recorded for one program."""
    results = {generation: rewritten(fixture, generation) for generation in fixture.generations}
    for name in ("fixed", "fixed-2", "fixed-3"):
        shutil.rmtree(fixture.folder / name, ignore_errors=True)
    same = all(result == next(iter(results.values())) for result in results.values())
    for generation, result in results.items():
        write(fixture.folder / ("fixed" if same else f"fixed-{generation}"), result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the names of programs")
    names = tuple(parser.parse_args().names)
    for fixture in load_all():
        if fixture.is_bad and (not names or fixture.name.startswith(names)):
            update(fixture)


if __name__ == "__main__":
    main()
