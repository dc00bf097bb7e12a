"""The packages that are measured: which Keras this process holds, and small helpers to drive it."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from typing import Any

GENERATION = "2" if os.environ.get("TF_USE_LEGACY_KERAS") == "1" else "3"

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["KERAS_BACKEND"] = "tensorflow"

# What is found must not depend on which optional packages happen to be installed.
for _optional in ("PIL", "pandas", "scipy", "sklearn"):
    sys.modules[_optional] = None  # type: ignore[assignment]

import numpy as np  # noqa: E402  (the environment decides how the packages below behave)
import tensorflow as tf  # noqa: E402

keras: Any = importlib.import_module("tf_keras" if GENERATION == "2" else "keras")

logging.getLogger("tensorflow").setLevel(logging.CRITICAL)
logging.getLogger("absl").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore")
# Many of the calls raise, and filtering their tracebacks takes longer than the calls.
tf.debugging.disable_traceback_filtering()
if GENERATION == "3":
    keras.config.disable_traceback_filtering()

__all__ = ["GENERATION", "keras", "np", "set_policy", "tf", "versions"]


def set_policy(name: str) -> None:
    """Set the global dtype policy of this generation."""
    if GENERATION == "3":
        keras.config.set_dtype_policy(name)
    else:
        keras.mixed_precision.set_global_policy(name)


def versions() -> dict[str, str]:
    """The versions that this process measures."""
    key = "keras" if GENERATION == "3" else "tf_keras"
    return {key: str(keras.__version__), "tensorflow": str(tf.__version__), "numpy": str(np.__version__)}
