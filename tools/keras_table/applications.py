"""What keras.applications gives: one small model is built, of the others only the signature is known."""

from __future__ import annotations

from typing import Any

from keras_table.packages import keras, set_policy

SMALL = ("MobileNet", "MobileNetV2")
POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")


def measure() -> dict[str, dict[str, dict[str, str]]]:
    """Path -> "with" or "without" its top -> policy -> output dtype of the model."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name in SMALL:
        by_top: dict[str, dict[str, str]] = {}
        for top in (True, False):
            for policy in POLICIES:
                set_policy(policy)
                model = getattr(keras.applications, name)(
                    weights=None, include_top=top, alpha=0.25, classes=2, input_shape=(32, 32, 3)
                )
                dtype: Any = model.outputs[0].dtype
                by_top.setdefault("with" if top else "without", {})[policy] = getattr(dtype, "name", str(dtype))
        found[f"keras.applications.{name}"] = by_top
    set_policy("float32")
    return found
