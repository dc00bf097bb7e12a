"""Runs programs whose losses are computed in half precision, on data that shows what comes of it.

    python -m tests.loops.half_losses GENERATION

Standard input holds a list of jobs: `[{"source": …, "probe": …}]`. Each program is run, then its probe behind it, which
leaves a number as `found`; standard output is the list of these numbers.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tools.measure import GENERATION, RESULTS, KerasIsLegacy, keras, surroundings


def measured(job: dict[str, str]) -> float:
    """What the probe of one job finds."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(5)
    names: dict[str, Any] = {"__name__": "__main__"}
    with surroundings({}):
        exec(job["source"], names)
        exec(job["probe"], names)
    return float(names["found"])


def main() -> None:
    """Answer all jobs."""
    if GENERATION == "2":
        sys.meta_path.insert(0, KerasIsLegacy())
    sys.dont_write_bytecode = True
    os.write(RESULTS, json.dumps([measured(job) for job in json.load(sys.stdin)]).encode())


if __name__ == "__main__":
    main()
