"""The names of the commands."""

from __future__ import annotations

from typing import Final

COMMANDS: Final = ("check", "verify", "rule", "config")
"""Each is in the module of its name, which is imported when it is asked for."""

DEFAULT: Final = "check"
"""The command that is meant where none is named."""
