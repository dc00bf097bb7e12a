"""The arithmetic of the whole program, decided in one place."""

from tensorflow.keras import mixed_precision


def use_half_precision():
    """Compute in float16 and keep the variables in float32; to be called before any layer is made."""
    mixed_precision.set_global_policy("mixed_float16")
