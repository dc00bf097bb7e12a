"""The policy must be set again after `clear_session()`.

What it does
------------
Reports `clear_session()` in Keras 3 where a half-precision policy was set before, and layers are made after it without
setting the policy again.

Why it matters
--------------
In Keras 3 `clear_session()` also forgets the global policy. Measured: after `set_dtype_policy("mixed_float16")` and
`clear_session()` the policy is float32 again, without a word. A search that clears the session for each trial then runs
all of its trials in float32. Keras 2 keeps the policy.

Example
-------
```python
import keras

keras.config.set_dtype_policy("mixed_float16")
keras.utils.clear_session()
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
```

Fixed
-----
```python
import keras

keras.config.set_dtype_policy("mixed_float16")
keras.utils.clear_session()
keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
```

Good
----
```python
import keras

keras.utils.clear_session()
keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
```

How the fix changes the program
-------------------------------
A statement behind `clear_session()` sets the policy again. That switches half precision on where it was off, so the fix
is unsafe, and other rules may then find what it uncovers.

References
----------
- [`clear_session`](https://keras.io/api/utils/config_utils/#clear_session-function) in the documentation of Keras
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, Rule, SetAgain, Severity, World


class PolicyReset(Rule):
    """MP406."""

    code = "MP406"
    name = "policy-reset"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """A `clear_session` between the policy and the layers."""
        for lost in History(world).lost():
            yield Fault(
                lost.at,
                Severity.WARNING,
                f"Keras 3's clear_session() puts the policy back to float32, and {lost.policy.name} is not set again",
                lost.policy,
                SetAgain(world, lost.at, lost.policy),
            )
