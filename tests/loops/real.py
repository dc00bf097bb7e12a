"""Trains loops in real Keras, one process for all of a generation.

    python -m tests.loops.real GENERATION

Each line is a job (a JSON object): `{"source", "policy"}`. The program is run; with `policy` "float32" whatever policy
it sets is float32. The answer says how far each weight has moved, what the program has logged, or what it raised.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.generator.real import policies_replaced, run, told
from tools.measure import GENERATION, RESULTS, KerasIsLegacy, keras, surroundings

SEED = 5


def train(job: dict[str, Any]) -> dict[str, Any]:
    """Run one program."""
    keras.utils.set_random_seed(SEED)
    try:
        with surroundings({}):
            if job["policy"] == "float32":
                with policies_replaced():
                    found = run(job["source"])
            else:
                found = run(job["source"])
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the program raises is a result)
        return {"error": told(error)}
    now = [each.numpy() for each in found["model"].trainable_variables]
    pairs = zip(found["start"], now, strict=True)
    moved = [float(each) for before, after in pairs for each in (after - before).ravel()]
    return {"error": None, "moved": moved, "history": found["history"], "score": found.get("score")}


def main() -> None:
    """Answer jobs until there are no more."""
    if GENERATION == "2":
        sys.meta_path.insert(0, KerasIsLegacy())
    sys.dont_write_bytecode = True
    for line in sys.stdin:
        os.write(RESULTS, (json.dumps(train(json.loads(line))) + "\n").encode())


if __name__ == "__main__":
    main()
