"""Names of dtype policies: what each generation takes, what a wrong one was meant to be, what a pure half one makes."""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import Final, Literal

from mplint.keras_api.names import canonical
from mplint.keras_api.table import section

Use = Literal["setter", "constructor", "layer"]
"""What takes the name: `set_global_policy`, `Policy(…)`, or a layer's `dtype=`."""

_QUANTIZED: Final = ("int4", "int8", "float8", "gptq", "awq", "torch.")
"""How the names begin that Keras 3 takes by their form and not from a list."""
_MEANT: Final = (
    (("bf16", "bfloat16"), "mixed_bfloat16"),
    (("16", "half", "amp", "mixed"), "mixed_float16"),
    (("64", "double"), "float64"),
    (("32", "single", "float", "full"), "float32"),
)
_WORKING: Final = ("mixed_float16", "mixed_bfloat16", "float32", "float64")


@lru_cache(maxsize=1024)
def policy_dtype(name: str, use: Use, generation: str) -> str | None:
    """The dtype that layers compute in under the policy `name`; None where it is refused, or not known."""
    found = section("policies", "names").get(name, {}).get(generation, {}).get(use)
    return None if found in (None, "None") else str(found)


@lru_cache(maxsize=1024)
def is_refused(name: str, use: Use, generation: str) -> bool:
    """Whether Keras certainly raises when it is given `name` there."""
    if name in section("policies", "names"):
        return use not in section("policies", "names")[name].get(generation, {})
    return not (generation == "3" and name.startswith(_QUANTIZED))


def nearest_policy(name: str) -> str | None:
    """The policy that whoever wrote `name` had in mind: of half precision always the mixed one."""
    plain = name.strip().lower()
    for words, meant in _MEANT:
        if any(word in plain for word in words):
            return meant
    return next(iter(difflib.get_close_matches(plain, _WORKING, n=1)), None)


def has_own_dtype(path: str, generation: str) -> bool:
    """Whether the layer at `path` computes in a dtype of its own, whatever the global policy is.

    Those that look up, hash and encode do: ids are int64.
    """
    return generation in section("policies", "own").get(canonical(path), {})


def own_dtype(path: str, output_mode: str, generation: str) -> str | None:
    """That dtype, where it was measured for the `output_mode` (empty where none was given)."""
    found: str | None = section("policies", "own").get(canonical(path), {}).get(generation, {}).get(output_mode)
    return found


@lru_cache(maxsize=1024)
def has_variables(path: str) -> bool:
    """Whether the layer at `path` has variables that training moves."""
    return canonical(path) in section("policies", "variables")


@lru_cache(maxsize=1024)
def half_variables(path: str, generation: str) -> bool:
    """Whether the layer at `path` makes half-precision variables under a policy like 'float16'.

    Keras 2's batch normalization keeps its own in float32.
    """
    return "float16" in section("policies", "variables").get(canonical(path), {}).get(generation, ())
