"""What IPython adds to Python, line by line as something that Python understands."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from typing import Final

_CELL: Final = re.compile(r"%%(?P<name>\w*)")
_PYTHON_CELLS: Final = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "debug", "memit", "mprun"})
"""Cell magics whose cell is run as Python here."""
_ASSIGNED: Final = re.compile(r"(?P<target>\s*[A-Za-z_][\w.\[\], ]*=\s*)[!%]")
_LINE: Final = re.compile(r"(?P<indent>\s*)(?:[!%?]|[\w.*]+\s*\?\??\s*$)")
_BARE: Final = re.compile(r"(?P<indent>\s*)(?:cat|cd|conda|cp|less|ll|ls|man|mkdir|more|mv|pip|rm|rmdir)[ \t]+(?!=)\S")
"""Commands that IPython takes without a sign in front, as long as no variable has their name."""
_RUN: Final = re.compile(r"\s*%run\s+(?:-\w\s+)*['\"]?(?P<module>[A-Za-z_]\w*)\.py\b")
_PLAIN: Final = re.compile(r"\s*%(?:time|timeit|prun)\s+(?P<statement>[A-Za-z_(\[].*)")


def masked(lines: Sequence[str]) -> list[str]:
    """The lines of a cell as Python: as many, and the same where they are Python.

    A line magic or a command becomes `pass`, one whose result is kept a call of something unknown; `%run file.py` in a
    cell becomes the import of what that file defines, and `%time statement` the statement.  A cell of another language
    (`%%bash`) becomes comments.  As in IPython, an indentation of the whole cell goes.
    """
    outer = indentation(lines)
    lines = [line.removeprefix(outer) for line in lines]
    found: list[str] = []
    pending = ""
    foreign = started = continued = False
    for line in lines:
        if not started and line.strip() and not line.lstrip().startswith("#"):  # Colab lets a title stand first
            started = True
            cell = _CELL.match(line)
            if cell is not None:
                foreign = cell["name"] not in _PYTHON_CELLS
                found.append("#" + _end(line))
                continue
        if foreign:
            found.append("#" + _end(line))
            continue
        if continued:
            found.append("#" + _end(line))
            continued = line.rstrip().endswith("\\")
            continue
        plain = _as_python(line)
        if plain is not None and not _goes_on(pending):
            found.append(plain)
            pending = ""
            continued = line.rstrip().endswith("\\")
        else:
            found.append(line)
            pending += line
    return found


def indentation(lines: Sequence[str]) -> str:
    """The indentation of a cell's first line, which IPython takes from all lines."""
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def _as_python(line: str) -> str | None:
    """A line that only IPython understands as Python; None for any other."""
    assigned = _ASSIGNED.match(line)
    if assigned is not None:
        return f"{assigned['target']}get_ipython(){_end(line)}"
    match = _LINE.match(line)
    if match is None:
        bare = _BARE.match(line)
        return f"{bare['indent']}pass{_end(line)}" if bare is not None and not _is_python(line) else None
    run, plain = _RUN.match(line), _PLAIN.match(line)
    if run is not None and not match["indent"]:
        return f"from {run['module']} import *{_end(line)}"
    if plain is not None:
        return f"{match['indent']}{plain['statement']}{_end(line)}"
    return f"{match['indent']}pass{_end(line)}"


def _goes_on(text: str) -> bool:
    """Whether a statement, a bracket or a string is not finished at the end of `text`."""
    if text.endswith("\\\n"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text.lstrip()).readline):
            pass
    except tokenize.TokenError as error:
        return "EOF in multi-line" in str(error) or "unterminated triple-quoted" in str(error)
    except (SyntaxError, ValueError):
        pass  # no Python, which is not for us to tell
    return False


def _is_python(line: str) -> bool:
    try:
        compile(line.strip(), "cell", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
