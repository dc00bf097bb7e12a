"""The structure of a result, with dtype names at its leaves."""

from __future__ import annotations

from typing import Any


def leaf_dtypes(result: Any) -> Any:
    """A dtype name for a tensor; lists and dicts of them for what is built of tensors; None for other things."""
    if isinstance(result, dict):
        return {str(key): leaf_dtypes(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)):
        return [leaf_dtypes(value) for value in result]
    dtype = getattr(result, "dtype", None)
    if dtype is None:
        return None
    return str(getattr(dtype, "name", None) or dtype)
