"""Notes which names of libraries a program uses that are not in every release, and how it calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.trace import EnvironmentSet, LibraryCalled, NameRead
from mplint.interpreter.values import Api, Const, Dict, Place, Value

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_SWITCHES: Final = frozenset({"TF_ENABLE_AUTO_MIXED_PRECISION", "TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE"})
"""The variables of the environment by which TensorFlow rewrites graphs to half precision."""


def note_read(m: Machine, found: Value, place: Place) -> None:
    """Note that the program has read, or imported, a name of a library."""
    if type(found) is Api and keras_api.is_watched(found.spelled or found.path) and _matters(m):
        m.record(NameRead(place, m.context, found))


def note_call(m: Machine, callee: Api, arguments: Arguments, place: Place) -> None:
    """Note how the program calls something of a library."""
    if keras_api.is_call_watched(callee.path) and _matters(m):
        options = arguments.get("options", 0)
        held = m.entries(options).pairs if isinstance(options, Dict) else ()
        m.record(LibraryCalled(place, m.context, callee, arguments, held))


def _matters(m: Machine) -> bool:
    """Whether the program has nothing else to go on with where this is not there."""
    if m.has_fallback:
        m.effects += 1  # called from elsewhere the same may matter
        return False
    return True


def note_environment(m: Machine, name: Value, value: Value, place: Place) -> None:
    """Note that the program sets a variable of the environment."""
    if isinstance(name, Const) and name.value in _SWITCHES:
        m.record(EnvironmentSet(place, str(name.value), value))
