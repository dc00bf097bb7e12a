"""Leaning seven-segment digits, drawn in place: nothing to download."""

import numpy as np

SIDE = 16

# Each segment as (rows, columns) of a digit that stands upright in the middle of the picture.
SEGMENTS = {
    "top": (slice(2, 4), slice(5, 11)),
    "upper left": (slice(3, 8), slice(4, 6)),
    "upper right": (slice(3, 8), slice(10, 12)),
    "middle": (slice(7, 9), slice(5, 11)),
    "lower left": (slice(8, 13), slice(4, 6)),
    "lower right": (slice(8, 13), slice(10, 12)),
    "bottom": (slice(12, 14), slice(5, 11)),
}

LIT = [
    {"top", "upper left", "upper right", "lower left", "lower right", "bottom"},
    {"upper right", "lower right"},
    {"top", "upper right", "middle", "lower left", "bottom"},
    {"top", "upper right", "middle", "lower right", "bottom"},
    {"upper left", "upper right", "middle", "lower right"},
    {"top", "upper left", "middle", "lower right", "bottom"},
    {"top", "upper left", "middle", "lower left", "lower right", "bottom"},
    {"top", "upper right", "lower right"},
    set(SEGMENTS),
    {"top", "upper left", "upper right", "middle", "lower right", "bottom"},
]


def draw(digit, slant):
    """One picture, leaning `slant` pixels to the right between foot and top."""
    upright = np.zeros((SIDE, SIDE), dtype="float32")
    for segment in LIT[digit]:
        upright[SEGMENTS[segment]] = 1.0
    shift = np.round(slant * (0.5 - np.arange(SIDE) / (SIDE - 1))).astype(int)
    return np.stack([np.roll(row, by) for row, by in zip(upright, shift)])


def load(count, seed=0):
    """`count` noisy pictures as rows of float32, the digit on each, and its slant."""
    random = np.random.default_rng(seed)
    digit = random.integers(0, 10, count)
    slant = random.uniform(-6.0, 6.0, count).astype("float32")
    pictures = np.stack([draw(d, s) for d, s in zip(digit, slant)])
    pictures += random.normal(0.0, 0.2, pictures.shape).astype("float32")
    # The arithmetic of the input pipeline stays in float32; the first layer casts.
    return pictures.reshape(count, SIDE * SIDE), digit, slant
