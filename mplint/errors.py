"""What a user did wrong, or what stands in mplint's way: errors that end a command with status 2."""

from __future__ import annotations


class MplintError(Exception):
    """A failure that the user can act on.

    The text says what is wrong, where, and what to do about it; the command line prints it without a traceback and
    ends with status 2.
    """
