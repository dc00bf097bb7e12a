"""What each expression gives in real Keras: the dtypes, or the type of the exception.

    python -m tests.mismatches.real GENERATION < program

It gives JSON: a list with one entry for each line `y0 = …`.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    generation = sys.argv[1]
    os.environ.update(
        TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_USE_LEGACY_KERAS=str(int(generation == "2"))
    )
    head, *calls = sys.stdin.read().split("\ny")
    found: list[object] = []
    names: dict[str, object] = {}
    exec(compile(head, "program", "exec"), names)
    for call in calls:
        try:
            exec(f"y{call}", names)
            found.append(dtypes(names["y" + call.split(" ")[0]]))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the answer)
            found.append(f"raises {type(error).__name__}")
    json.dump(found, sys.stdout)


def dtypes(value: object) -> object:
    """The dtypes of the tensors in a result."""
    if isinstance(value, (list, tuple)):
        return [dtypes(each) for each in value]
    dtype = getattr(value, "dtype", None)
    return getattr(dtype, "name", str(dtype))


if __name__ == "__main__":
    main()
