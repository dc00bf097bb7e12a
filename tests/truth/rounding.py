"""What half precision loses of data, in real Keras: one JSON object.

python -m tests.truth.rounding GENERATION
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

GENERATION = sys.argv[1]
os.environ.update(
    TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_USE_LEGACY_KERAS="1" if GENERATION == "2" else "0"
)

import tensorflow as tf  # noqa: E402

keras = tf.keras
HALF = ("float16", "bfloat16")
PIXELS = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3)).astype("float32") // 2 + 40
ROWS = np.random.default_rng(0).normal([3000.0, 40.0], [900.0, 12.0], (512, 2)).astype("float32")
VALUES = np.linspace(2990, 3010, 4001).astype("float32")[:, None]
IDS = np.array([[2049, 2051, 4097]])
LAYERS: dict[str, dict[str, Any]] = {
    "AugMix": {},
    "AutoContrast": {},
    "CenterCrop": {"height": 20, "width": 20},
    "CutMix": {},
    "Discretization": {"bin_boundaries": [2500.3, 3000.7, 3001.2, 3600.1]},
    "Equalization": {},
    "MixUp": {},
    "Normalization": {"mean": [3000.0, 40.0], "variance": [900.0**2, 144.0]},
    "RandAugment": {},
    "RandomBrightness": {"factor": 0.3},
    "RandomColorDegeneration": {"factor": 0.5},
    "RandomColorJitter": {"brightness_factor": 0.2, "contrast_factor": 0.2, "saturation_factor": 0.2},
    "RandomContrast": {"factor": 0.5},
    "RandomCrop": {"height": 20, "width": 20},
    "RandomElasticTransform": {"factor": 1.0},
    "RandomErasing": {"factor": 1.0},
    "RandomFlip": {},
    "RandomGaussianBlur": {"factor": 1.0},
    "RandomGrayscale": {"factor": 0.5},
    "RandomHeight": {"factor": 0.2},
    "RandomHue": {"factor": 0.2},
    "RandomInvert": {"factor": 0.5},
    "RandomPerspective": {"factor": 1.0},
    "RandomPosterization": {"factor": 4},
    "RandomRotation": {"factor": 0.2},
    "RandomSaturation": {"factor": 0.2},
    "RandomSharpness": {"factor": 0.5},
    "RandomShear": {"x_factor": 0.2, "y_factor": 0.2},
    "RandomTranslation": {"height_factor": 0.2, "width_factor": 0.2},
    "RandomWidth": {"factor": 0.2},
    "RandomZoom": {"height_factor": 0.3},
    "Rescaling": {"scale": 1 / 127.5, "offset": -1},
    "Resizing": {"height": 20, "width": 20},
    "Solarization": {},
}
SEEDED = ("AugMix", "CutMix", "MixUp", "Rand", "Solarization")


def loses(name: str, half: str) -> bool | None:
    """Whether a layer gives something else in half precision than in float32 and a cast; None where there is none."""
    cls = getattr(keras.layers, name, None)
    if cls is None:
        return None
    try:
        if name == "Discretization":
            return bool((_bins(cls, None) != _bins(cls, "float32")).any())
        options = LAYERS[name] | ({"seed": 3} if name.startswith(SEEDED) else {})
        data = ROWS if name == "Normalization" else PIXELS
        given = cls(**options)
        if not hasattr(given, "get_random_transformation"):
            found, wanted = (_called(cls, options, data, dtype) for dtype in (None, "float32"))
        else:  # the same random numbers, in half precision and in float32
            x, seed = tf.cast(data, half), keras.random.SeedGenerator(5)
            drawn = given.get_random_transformation(x, training=True, seed=seed)
            found = given.transform_images(x, transformation=drawn, training=True)
            wanted = cls(**options, dtype="float32").transform_images(data, transformation=_wide(drawn), training=True)
    except tf.errors.NotFoundError:  # it has no kernel
        return True
    except ValueError:  # it mixes dtypes, and raises
        return None
    same = tf.cast(found, "float32") == tf.cast(tf.cast(wanted, half), "float32")
    return not bool(tf.reduce_all(same))


def _called(cls: Any, options: dict[str, Any], data: Any, dtype: str | None) -> Any:
    keras.utils.set_random_seed(1)
    layer = cls(**options, **({"dtype": dtype} if dtype else {}))
    keras.utils.set_random_seed(2)
    return layer(data, training=True) if "Random" in cls.__name__ else layer(data)


def _bins(cls: Any, dtype: str | None) -> Any:
    value = keras.Input((1,))
    layer = cls(**LAYERS["Discretization"], **({"dtype": dtype} if dtype else {}))
    return keras.Model(value, layer(value)).predict(VALUES, verbose=0)


def _wide(drawn: Any) -> Any:
    def wide(value: Any) -> Any:
        floating = hasattr(value, "dtype") and tf.as_dtype(value.dtype).is_floating
        return tf.cast(value, "float32") if floating else value

    return tf.nest.map_structure(wide, drawn)


def looked_up(dtype: str | None) -> list[int]:
    """The rows that ids look up behind a Reshape."""
    ids = keras.Input((3,), dtype=dtype)
    table = keras.layers.Embedding(5000, 1, dtype="float32", embeddings_initializer=_rows)
    model = keras.Model(ids, table(keras.layers.Reshape((3,))(ids)))
    return [int(row) for row in model.predict(IDS if dtype else IDS.astype("float32"), verbose=0).ravel()]


def _rows(shape: Any, dtype: Any = None) -> Any:
    return tf.reshape(tf.range(shape[0], dtype="float32"), shape)


def pixels(half: str) -> dict[str, float]:
    """What `x / 127.5 - 1` and `x / 255` make of the pixels 0 to 255."""
    x = tf.range(256)
    found = tf.cast(x, half) / 127.5 - 1
    wanted = tf.cast(tf.cast(x, "float32") / 127.5 - 1, half)
    return {
        "wrong": int(tf.reduce_sum(tf.cast(found != wanted, "int32"))),
        "200 / 255": round(float((tf.cast(x, half) / 255)[200]), 5),
        "128 / 127.5 - 1": round(float(found[128]), 4),
    }


def main() -> None:
    """Measure one generation."""
    found: dict[str, Any] = {}
    for half in HALF:
        keras.mixed_precision.set_global_policy(f"mixed_{half}")
        layers = {name: loses(name, half) for name in LAYERS}
        rows = {str(dtype): looked_up(dtype) for dtype in (None, "int32")}
        angles = tf.cast(tf.range(512), half) * tf.cast(0.8254, half)
        waves = tf.sin(tf.range(512, dtype="float32") * 0.8254)
        found[half] = {
            "layers": {name: lost for name, lost in layers.items() if lost is not None},
            "rows": rows,
            "range": [int(each) for each in tf.cast(tf.range(300, dtype=half), "int32")[-4:]],
            "pixels": pixels(half),
            "sines": round(float(tf.reduce_max(tf.abs(tf.cast(tf.sin(angles), "float32") - waves))), 1),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
