"""Measure the installed Keras 3 and tf-keras and write mplint's table of what they do.

    python tools/make_keras_table.py            # writes mplint/keras_api/data/*.json
    python tools/make_keras_table.py --into DIR # writes there instead

Keras 3 is measured in one child process and tf-keras (TF_USE_LEGACY_KERAS=1) in another, side by side. What is
written depends on the versions of keras, tf_keras, tensorflow and numpy only; they are recorded in the table.

Building the models of keras.applications takes longer than all the rest: tools/judge_applications.py writes their part.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
DATA = TOOLS.parent / "mplint" / "keras_api" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=DATA, help="folder to write to")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sys.path.insert(0, str(TOOLS))
    if arguments.measure:
        from keras_table.measure import measure

        arguments.measure.write_text(json.dumps(measure()), encoding="utf-8")
        return
    from keras_table.merge import files_of
    from keras_table.write import write

    arguments.into.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    write(arguments.into, files_of(*_measured()))
    print(f"wrote {arguments.into} in {time.monotonic() - begin:.0f} s")


def _measured() -> list[dict[str, Any]]:
    """What the two child processes found, Keras 2 first."""
    with tempfile.TemporaryDirectory() as folder:
        children: list[tuple[subprocess.Popen[bytes], Path]] = []
        for legacy in ("1", "0"):
            target = Path(folder) / f"{legacy}.json"
            child = subprocess.Popen(
                [sys.executable, __file__, "--measure", str(target)],
                env={**os.environ, "TF_USE_LEGACY_KERAS": legacy, "PYTHONHASHSEED": "0"},
            )
            children.append((child, target))
        for child, _ in children:
            if child.wait() != 0:
                for other, _ in children:
                    other.kill()
                raise SystemExit(f"measuring failed with status {child.returncode}; what it said stands above")
        return [json.loads(target.read_text(encoding="utf-8")) for _, target in children]


if __name__ == "__main__":
    main()
