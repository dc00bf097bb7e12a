"""What an option is said to choose from, whatever parses the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter import sequences
from mplint.interpreter.classes import is_enum
from mplint.interpreter.values import Class, Dict, List, Place, Range, Tuple, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def listed(m: Machine, given: Value | None, place: Place) -> Tuple | None:
    """The values that `given` lists: a container, or an enumeration; None where it lists none."""
    if isinstance(given, (List, Tuple, Dict, Range)) or (isinstance(given, Class) and is_enum(given)):
        return sequences.iterate(m, given, place)
    return None
