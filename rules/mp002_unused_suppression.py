"""A suppression must suppress something.

What it does
------------
Reports a comment that silences mplint where there is nothing to silence: `# noqa: MP101`, `# mplint: ignore[MP101]`,
`# mplint: ignore-file[MP101]`, each code of them by itself, and `# mplint: ignore` without codes. Codes that are no
rule's are reported too.

It leaves alone what it cannot know to be unused: a bare `# noqa` and the codes of other linters behind one, codes of
rules that are not selected for the file, and a bare `# mplint: ignore-file`.

Why it matters
--------------
A suppression outlives what it was written for. Then it hides the next fault on that line, which nobody has looked at.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
outputs = layers.Dense(10, activation="softmax", dtype="float32")(inputs)  # noqa: MP101
model = keras.Model(inputs, outputs)
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
outputs = layers.Dense(10, activation="softmax", dtype="float32")(inputs)
model = keras.Model(inputs, outputs)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
outputs = layers.Dense(10, activation="softmax")(inputs)  # noqa: MP101
model = keras.Model(inputs, outputs)
```

How the fix changes the program
-------------------------------
Not at all. The codes go out of the comment, and with the last of them the comment; whatever else it says stays, as in
ruff: of `# noqa: MP101 see the paper` is left `# see the paper`.

References
----------
- [Suppressing comments](https://docs.astral.sh/ruff/linter/#error-suppression) as ruff reads them
"""

from __future__ import annotations

from mplint.api import Applicability, CommentRule, Severity, Unused


class UnusedSuppression(CommentRule):
    """MP002."""

    code = "MP002"
    name = "unused-suppression"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE,)

    def check_unused(self, unused: Unused) -> str:
        """What the comment names in vain."""
        if not unused.codes:
            return "this comment suppresses nothing"
        named = ", ".join(
            f"{code} (no rule has this code)" if code in unused.unknown else code for code in unused.codes
        )
        return f"this comment suppresses nothing: {named}"
