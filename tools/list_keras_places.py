"""List what can be imported from one generation of Keras only, from the files of many releases.

    pip download --no-deps --dest DIR keras==2.0.9    # and 2.2.4 2.3.1 2.4.3 2.6.0 2.9.0 2.12.0 2.15.0
    pip download --no-deps --dest DIR keras==3.0.0    # and 3.0.5 3.3.3 3.5.0 3.8.0 3.12.0
    python tools/list_keras_places.py DIR             # writes mplint/keras_api/data/places.json

make_keras_table.py measures one release of each generation; programs that say plainly what they are name places that
only older releases had. Nothing of those is run (most need a TensorFlow of their days): their files are read. The
Keras that is installed is read as one more release of Keras 3, and its optimizers are asked what they accept.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
TARGET = TOOLS.parent / "mplint" / "keras_api" / "data" / "places.json"
PRIVATE = frozenset(["src", "api", "_tf_keras", "__internal__", "protobuf", "tests", "integration_test", "type"])
ARGUMENTS = ("lr", "decay")
ASK = """
import tensorflow as tf
for name, thing in sorted(vars(tf.keras.optimizers).items()):
    if isinstance(thing, type):
        for argument in {arguments!r}:
            try:
                thing(**{{argument: 0.01}})
            except (TypeError, ValueError):
                continue
            print(f"keras.optimizers.{{name}}", argument)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path, help="folder of downloaded releases")
    parser.add_argument("--into", type=Path, default=TARGET, help="file to write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        releases = dict(_unpacked(arguments.wheels, Path(folder)))
        keras: dict[str, set[str]] = {"2": set(), "3": set()}
        tf_keras: dict[str, set[str]] = {"2": set(), "3": set()}
        for version, root in releases.items():
            generation = version[0]
            for home in (root, root / "api"):
                keras[generation] |= _places(home, "keras")
            if (root / "api").is_dir():
                keras[generation] |= _places(root / "api", "keras.api") | {"keras.api"}
            for home in (root / "_tf_keras/keras", root / "api/_v2/keras", root / "api/_v1/keras"):
                tf_keras[generation] |= _places(home, "keras")
    both = {generation: keras[generation] | tf_keras[generation] for generation in keras}
    sections = {
        "releases": sorted(releases, key=_ordered),
        "keras": _only(keras["2"] - keras["3"], keras["3"] - both["2"]),
        "tensorflow": _only(tf_keras["2"] - tf_keras["3"], tf_keras["3"] - both["2"]),
        "arguments": _arguments(),
    }
    sys.path.insert(0, str(TOOLS))
    from keras_table.write import text_of

    arguments.into.write_text(text_of(sections), encoding="utf-8", newline="\n")


def _ordered(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _unpacked(wheels: Path, into: Path) -> Iterator[tuple[str, Path]]:
    for wheel in sorted(wheels.glob("*.whl")):
        version = wheel.name.split("-")[1]
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(into / version)
        yield version, into / version / "keras"
    spec = importlib.util.find_spec("keras")
    assert spec is not None
    assert spec.origin is not None
    yield importlib.metadata.version("keras"), Path(spec.origin).parent


def _places(home: Path, called: str) -> set[str]:
    """The modules below `home`, and what their files bind to a name."""
    found: set[str] = set()
    for file in home.rglob("*.py"):
        parts = list(file.relative_to(home).with_suffix("").parts)
        if PRIVATE & set(parts) or parts[-1].endswith("_test"):
            continue
        if parts[-1] == "__init__":
            parts.pop()
        module = ".".join([called, *parts])
        if parts:
            found.add(module)
        found |= {f"{module}.{name}" for name in _bound(file) if not name.startswith("_")}
    return found


@cache
def _bound(file: Path) -> frozenset[str]:
    names: set[str] = set()
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.ImportFrom) and (statement.level or "keras" in (statement.module or "")):
            for alias in statement.names:
                names |= _starred(file, statement) if alias.name == "*" else {alias.asname or alias.name}
    return frozenset(names)


def _starred(file: Path, statement: ast.ImportFrom) -> frozenset[str]:
    if not statement.level:
        return frozenset()
    home = file.parents[statement.level - 1].joinpath(*(statement.module or "").split("."))
    for candidate in (home.with_suffix(".py"), home / "__init__.py"):
        if candidate.is_file():
            return _bound(candidate)
    return frozenset()


def _only(second: set[str], third: set[str]) -> dict[str, str]:
    """Path -> the one generation that has it; nothing below a path that is listed."""
    found = {**dict.fromkeys(second, "2"), **dict.fromkeys(third, "3")}
    return {path: found[path] for path in sorted(found) if path.rpartition(".")[0] not in found}


def _arguments() -> dict[str, str]:
    """`path argument` -> 2 where only its optimizer takes it; what Keras 2 refuses today, it once took."""
    accepted: dict[str, set[str]] = {}
    for generation, legacy in (("2", "1"), ("3", "0")):
        told = subprocess.run(
            [sys.executable, "-c", ASK.format(arguments=ARGUMENTS)],
            env={**os.environ, "TF_USE_LEGACY_KERAS": legacy},
            check=True,
            capture_output=True,
            text=True,
        )
        accepted[generation] = set(told.stdout.splitlines())
    return dict.fromkeys(accepted["2"] - accepted["3"], "2")


if __name__ == "__main__":
    main()
