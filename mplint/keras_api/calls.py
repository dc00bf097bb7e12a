"""Which parameters a function or layer calls, and which hold sizes: written by hand, since no run can show it."""

from __future__ import annotations

from mplint.keras_api.names import canonical, kind
from mplint.keras_api.table import section


def called_parameters(path: str) -> frozenset[str]:
    """The names of the parameters whose argument is called."""
    found = canonical(path)
    own = section("calls", "calls").get(found)
    names = set() if own is None else {each["parameter"] for each in own}
    sort = kind(found)
    if sort is not None:
        names.update(section("calls", "by_kind").get(sort.value, ()))
    return frozenset(names)
