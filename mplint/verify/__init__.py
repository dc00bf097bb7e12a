"""Proof: run a program for real, before and after a rewrite, in a child process of the user's own interpreter.

`harness.py` runs there and measures; everything else here runs in mplint: `target` and `programs` say what to run,
`process` runs it, `results` is what came back, `judge` decides, `table` shows it, and `prove` puts them together.
"""

from __future__ import annotations
