"""Runs a program as `__main__` with digits that are drawn in place of those that Keras would fetch.

    python -m tests.guide.digits PROGRAM

Prints, as JSON, what came of it: the dtypes of what its model gives, the accuracy that `fit` and its own loop reach on
digits that neither has seen, and the scale of the loss.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")
RESULT = os.dup(1)
os.dup2(2, 1)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow import keras  # noqa: E402


def drawn(count: int, seed: int) -> tuple[Any, Any]:
    """Pictures of 28 by 28 pixels, one pattern for each digit under noise, as bytes."""
    patterns = np.random.RandomState(0).uniform(0, 255, size=(10, 28, 28))
    random = np.random.RandomState(seed)
    labels = random.randint(0, 10, size=count)
    noise = random.uniform(-110, 110, size=(count, 28, 28))
    return np.clip(patterns[labels] + noise, 0, 255).astype("uint8"), labels.astype("uint8")


def main() -> None:
    """Run the program and tell."""
    keras.utils.set_random_seed(1)
    keras.datasets.mnist.load_data = lambda path="mnist.npz": (drawn(20000, 1), drawn(2000, 2))
    found = runpy.run_path(sys.argv[1], run_name="__main__")
    model, optimizer = found["model"], found["optimizer"]
    outputs = model(np.zeros((2, 784), "float32"))
    scale = optimizer.dynamic_scale if hasattr(optimizer, "dynamic_scale") else optimizer.loss_scale
    answer = {
        "outputs": tf.as_dtype(outputs.dtype).name,
        "by_fit": float(found["test_scores"][1]),
        "by_loop": float(found["test_accuracy"].result()),
        "scale": float(scale),
        "finite": bool(np.isfinite(outputs).all()),
    }
    os.write(RESULT, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
