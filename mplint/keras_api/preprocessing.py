"""Layers that prepare data: which of them compute new numbers, and lose some of them in half precision.

Measured on pixels from 0 to 255 and on columns around 3000, in tf-keras 2.21 and Keras 3.15: a layer loses something
where what it gives under a mixed policy differs from what it gives in float32, cast to half precision behind it as the
next layer does.  `tests/keras_api/test_preprocessing.py` holds this table against the installed packages.
"""

from __future__ import annotations

from typing import Final

from mplint.keras_api.names import canonical

_COMPUTES: Final = {
    "2": frozenset({"Normalization", "Rescaling", "RandomBrightness"}),
    "3": frozenset(
        {"Normalization", "Rescaling", "Discretization", "RandomBrightness", "RandomContrast", "RandomSaturation",
         "RandomColorJitter", "RandomColorDegeneration", "RandomSharpness", "RandomGrayscale", "RandomGaussianBlur",
         "RandomElasticTransform", "AutoContrast", "RandAugment", "AugMix", "MixUp"}
    ),
}  # fmt: skip
_WITHOUT_KERNEL: Final = {"2": frozenset({"RandomContrast"}), "3": frozenset[str]()}
"""Those that a CPU cannot compute in float16, and that compute in float32 by themselves instead of bfloat16."""
_MOVES: Final = frozenset(
    {"CenterCrop", "CutMix", "Discretization", "Equalization", "RandomCrop", "RandomErasing", "RandomFlip",
     "RandomHeight", "RandomHue", "RandomInvert", "RandomPerspective", "RandomPosterization", "RandomRotation",
     "RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom", "Resizing", "Solarization"}
)  # fmt: skip
"""Those that move pixels, choose among them, or compute in float32 by themselves (resampling does)."""
_PREPARE: Final = _MOVES.union(*_COMPUTES.values(), *_WITHOUT_KERNEL.values())
_LAYERS: Final = "keras.layers."


def loses_in_half(path: str, dtype: str, generation: str) -> bool:
    """Whether the layer prepares data, and what it computes of them in half precision is not what float32 gives."""
    is_layer, name = _split(path)
    return is_layer and (name in _COMPUTES[generation] or lacks_kernel(path, dtype, generation))


def lacks_kernel(path: str, dtype: str, generation: str) -> bool:
    """Whether the layer raises on a CPU in the half precision `dtype`."""
    is_layer, name = _split(path)
    return is_layer and dtype == "float16" and name in _WITHOUT_KERNEL[generation]


def prepares_data(path: str) -> bool:
    """Whether the layer prepares data: it stands in front of those that learn."""
    is_layer, name = _split(path)
    return is_layer and name in _PREPARE


def _split(path: str) -> tuple[bool, str]:
    found = canonical(path)
    return found.startswith(_LAYERS), found.removeprefix(_LAYERS)
