"""A file that is no Python cannot be checked.

What it does
------------
Reports a file that cannot be decoded or parsed, at the place where reading it failed.

Why it matters
--------------
A file that mplint cannot read is a file whose faults it cannot see. It is a finding in every mode, so that a broken
file never passes silently, and it cannot be turned off by selecting other rules.

Example
-------
```python
import keras

model = keras.Sequential([keras.layers.Dense(10)
```

How the fix changes the program
-------------------------------
There is no fix: only you know what the text should be.

References
----------
- [Lexical analysis](https://docs.python.org/3/reference/lexical_analysis.html) in the Python language reference
"""

from __future__ import annotations

from mplint.api import FileRule, Severity, Syntax


class SyntaxFault(FileRule):
    """MP001."""

    code = "MP001"
    name = "syntax-error"
    severity = Severity.ERROR

    def check_unreadable(self, syntax: Syntax) -> str:
        """What the parser says."""
        return f"this is no Python: {syntax.message}"
