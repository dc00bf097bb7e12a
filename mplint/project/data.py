"""Configuration files of a project: what a YAML, JSON, TOML, INI or gin file says, as far as that is sure.

They are other people's files in whatever state.  Nothing in them is evaluated: of YAML, only what a plain reading by
line is sure of; all else is `UNSURE`.
"""

from __future__ import annotations

import configparser
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES: Final = 256 << 10
"""A larger file holds data, not settings."""
MAX_FILES: Final = 500
SUFFIXES: Final = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".gin", ".env")


class Unsure:
    """A value that was not understood."""

    def __repr__(self) -> str:
        return "UNSURE"


UNSURE: Final = Unsure()
Tree = Mapping[str, object]
"""Values by their keys: texts, numbers, booleans, None, lists, further trees, and `UNSURE`."""


@dataclass(frozen=True)
class Data:
    """What a file says."""

    tree: Tree = field(default_factory=dict)
    whole: bool = True
    """Whether the keys at the top are all there are."""


def read_data(path: Path, content: bytes) -> Data | None:
    """What a configuration file says; None where it is none, or cannot be read."""
    reader = _READERS.get(path.suffix or path.name)
    if reader is None or len(content) > MAX_BYTES:
        return None
    try:
        return reader(content.decode("utf-8-sig"))
    except (UnicodeError, ValueError, KeyError, TypeError, RecursionError, MemoryError, configparser.Error):
        return None


def _json(text: str) -> Data | None:
    return _data(json.loads(text))


def _toml(text: str) -> Data | None:
    return _data(tomllib.loads(text))


def _data(found: object) -> Data | None:
    return Data(found) if isinstance(found, dict) else None


def _ini(text: str) -> Data | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    sections = (*parser.sections(), *(["DEFAULT"] if parser.defaults() else []))
    return Data({name: dict(parser[name]) for name in sections})


def _environment(text: str) -> Data | None:
    found: dict[str, object] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.isidentifier():
            value = _without_comment(value.strip())
            inner = _quoted(value)
            found[name] = UNSURE if "$" in value else value if inner is None else inner
    return Data(found)


# -- gin

_BINDING: Final = re.compile(r"(?P<name>[\w./]+)\s*=\s*(?P<value>.*)$")
_QUOTED: Final = re.compile(r"""(?P<mark>["'])(?P<text>[^"'\\]*)(?P=mark)\s*(?:#.*)?$""")


def bindings(text: str) -> dict[str, object]:
    """What `gin` binds: parameters by their function, `module.function.parameter`, without scopes; macros, too."""
    found: dict[str, object] = {}
    for line in text.splitlines():
        match = _BINDING.match(line)
        if match is not None:
            found[match["name"].rpartition("/")[2]] = _bound(match["value"].strip())
    macros = {name: value for name, value in found.items() if "." not in name}
    for name, value in found.items():
        if isinstance(value, _Macro):
            meant = macros.get(value.name, UNSURE)
            found[name] = UNSURE if isinstance(meant, _Macro) else meant
    return found


@dataclass(frozen=True)
class _Macro:
    name: str


def _bound(text: str) -> object:
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return quoted["text"]
    bare = text.split("#")[0].strip()
    if bare.startswith("%"):
        return _Macro(bare[1:])
    if bare in _PYTHON:
        return _PYTHON[bare]
    return (float(bare) if "." in bare else int(bare)) if _NUMBER.match(bare) else UNSURE


_PYTHON: Final[dict[str, bool | None]] = {"True": True, "False": False, "None": None}


def _gin(text: str) -> Data | None:
    return Data(bindings(text), whole=False)


# -- YAML


@dataclass
class _Line:
    indent: int
    text: str


_KEY: Final = re.compile(r"(?P<key>[\w$][\w$.+\-/ ]*|'[^'\\]*'|\"[^\"\\]*\")\s*:(?:\s+(?P<value>.*))?$")
_PLAIN: Final = re.compile(r"[A-Za-z_/.][\w./@%+\-]*(?: [\w./@%+\-]+)*$")
_NUMBER: Final = re.compile(r"[-+]?(?:0|[1-9]\d*|(?:\d+\.\d*|\.\d+)(?:[eE][-+]\d+)?)$")
_ODD_NUMBER: Final = re.compile(r"[-+.]?\d[\d_.:eExXoa-fA-F+\-]*$")
"""What one reader of YAML takes for a number, and another for a text, a date or a time."""
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "~", ""), None),
}


def _is_open(line: str) -> bool:
    """Whether a value goes on in the next line, whatever that looks like: a quote or a bracket is not closed."""
    line = line.removeprefix("- ").strip()
    match = _KEY.match(line)
    text = _without_comment(line if match is None else match["value"] or "")
    closing = {"'": "'", '"': '"', "[": "]", "{": "}"}.get(text[:1])
    return closing is not None and closing not in text[1:]


def _yaml(text: str) -> Data | None:
    lines: list[_Line] = []
    whole = True
    for number, line in enumerate(text.splitlines()):
        bare = line.rstrip()
        stripped = bare.lstrip(" ")
        if not stripped or stripped.startswith("#"):
            continue
        if stripped == "---" and not lines:
            continue
        if stripped in ("---", "...") or stripped.startswith(("\t", "%")) or number > _MAX_LINES:
            whole = False  # another document, or something odd
            break
        if _is_open(stripped):
            whole = False
            break
        lines.append(_Line(len(bare) - len(stripped), stripped))
    if not lines:
        return Data({}, whole)
    tree, end, sure = _block(lines, 0, lines[0].indent)
    if not isinstance(tree, dict):
        return None
    if not whole and tree:  # what the last of them held may go on
        tree[list(tree)[-1]] = UNSURE
    return Data(tree, whole and sure and end == len(lines))


_MAX_LINES: Final = 4000


def _block(lines: list[_Line], start: int, indent: int) -> tuple[object, int, bool]:
    """The mapping or list that begins at `start`, the line behind it, and whether that is all of it."""
    if lines[start].text == "-" or lines[start].text.startswith("- "):
        return (*_listed(lines, start, indent), True)
    found: dict[str, object] = {}
    here = start
    sure = True
    while here < len(lines) and lines[here].indent >= indent:
        line = lines[here]
        item = _item(line.text) if line.indent == indent else None
        if item is None:  # something that is not understood
            sure = False
            here += 1
            continue
        key, text = item
        found[key], here = _value(lines, here, indent, text)
    return found, here, sure


def _item(text: str) -> tuple[str, str] | None:
    """The key that a line begins with, and what stands behind it; None where the key may be anything but a text."""
    match = _KEY.match(text)
    key = match["key"].strip() if match is not None else ""
    if match is None or key[0].isdigit() or key.lower() in _WORDS:
        return None
    return key.strip("'\""), match["value"] or ""


def _value(lines: list[_Line], here: int, indent: int, text: str) -> tuple[object, int]:
    """What stands behind a key in the line `here`, and the line behind it."""
    text = _without_comment(text)
    behind = here + 1
    below = lines[behind].indent if behind < len(lines) else -1
    is_list = below == indent and lines[behind].text.startswith("- ")
    if text == "" and (below > indent or is_list):
        inner, end, sure = _block(lines, behind, below)
        return (inner if sure else UNSURE), end
    end = behind
    while end < len(lines) and lines[end].indent > indent:
        end += 1
    return (UNSURE if end > behind else _scalar(text)), end


def _listed(lines: list[_Line], start: int, indent: int) -> tuple[object, int]:
    found: list[object] = []
    here = start
    while here < len(lines) and lines[here].indent >= indent:
        line = lines[here]
        if line.indent == indent and not (line.text == "-" or line.text.startswith("- ")):
            break
        if line.indent > indent:
            found[-1:] = [UNSURE]
        elif line.text == "-":
            found.append(UNSURE)
        else:
            text = _without_comment(line.text[2:].strip())
            item = _item(text)
            found.append(_scalar(text) if item is None else {item[0]: _scalar(item[1])})
        here += 1
    return found, here


def _without_comment(text: str) -> str:
    if text.startswith(("'", '"')):
        end = text.find(text[0], 1)
        rest = text[end + 1 :].strip()
        return text[: end + 1] if end > 0 and (not rest or rest.startswith("#")) else text
    return "" if text.startswith("#") else text.split(" #")[0].strip()


def _quoted(text: str) -> object:
    """What stands in quotes; None where there are none."""
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return None
    inner = text[1:-1]
    return UNSURE if "\\" in inner or text[0] in inner else inner


def _scalar(text: str) -> object:
    """The value that `text` stands for."""
    inner = _quoted(text)
    if inner is not None:
        return UNSURE if isinstance(inner, str) and "${" in inner else inner
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    if _ODD_NUMBER.match(text):
        return UNSURE
    return text if _PLAIN.match(text) else UNSURE


_READERS: Final[dict[str, Callable[[str], Data | None]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
    ".toml": _toml,
    ".ini": _ini,
    ".cfg": _ini,
    ".env": _environment,
    ".gin": _gin,
}
