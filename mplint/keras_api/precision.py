"""Which numbers a float dtype can hold."""

from __future__ import annotations

import math
import struct
import sys
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """What `numpy.finfo` says of a dtype."""

    max: float
    eps: float
    """The difference between 1 and the next larger number."""
    tiny: float
    """The smallest number that has all its digits."""

    @property
    def min(self) -> float:
        """The lowest number."""
        return -self.max


LIMITS: Final = {
    "float16": Limits(65504.0, 2.0**-10, 2.0**-14),
    "bfloat16": Limits(2.0**128 - 2.0**120, 2.0**-7, 2.0**-126),
    "float32": Limits(2.0**128 - 2.0**104, 2.0**-23, 2.0**-126),
    "float64": Limits(sys.float_info.max, sys.float_info.epsilon, sys.float_info.min),
}
"""By the dtype's name."""


def in_float16(number: float) -> float:
    """What a number becomes in float16: the nearest that it holds, and infinite from 65520 on."""
    try:
        found: float = struct.unpack("<e", struct.pack("<e", number))[0]
    except (OverflowError, struct.error):
        return math.copysign(math.inf, number)
    return found


def in_float32(number: float) -> float:
    """What a number becomes in float32."""
    try:
        found: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except (OverflowError, struct.error):
        return math.copysign(math.inf, number)
    return found


def in_bfloat16(number: float) -> float:
    """What a number becomes in bfloat16: the nearest that it holds, of two the even one."""
    try:
        bits: int = struct.unpack("<I", struct.pack("<f", number))[0]
    except (OverflowError, struct.error):
        return math.copysign(math.inf, number)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    found: float = struct.unpack("<f", struct.pack("<I", rounded))[0]
    return found


def in_half(number: float, dtype: str) -> float:
    """What a finite number becomes in float16 or bfloat16."""
    return in_float16(number) if dtype == "float16" else in_bfloat16(number)


def shown_number(number: float) -> str:
    """A number as people write it: `-1e9`."""
    digits, exponent, power = f"{number:.8g}".partition("e")
    if not exponent and abs(number) < LIMITS["float16"].max:
        return digits
    digits, exponent, power = f"{number:.3e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
