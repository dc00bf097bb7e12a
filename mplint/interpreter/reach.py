"""What can be in play in a file: read from its text and the import graph, before anything is parsed or run."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Final

from mplint import keras_api
from mplint.keras_api import Kind
from mplint.project.imports import code_alone, imports_of
from mplint.project.modules import Project
from mplint.source.file import SourceError
from mplint.source.lexer import strings_and_comments

HALF_WORDS: Final = (
    b"mixed_", b"float16", b"set_policy", b"dtype_policy", b"DTypePolicy", b"set_floatx",
    b"'half'", b'"half"', b".half", b"'float'", b'"float"', b"float{",
    b"loss_scale", b"scale_loss", b"scaled_loss", b"unscaled_grad", b"LossScale", b"MIXED_PRECISION"
)  # fmt: skip
"""What the bytes of a program must hold for half precision, or the API for it, to be in play anywhere in it."""
_KERAS: Final = frozenset({"keras", "tf_keras", "keras_core"})
_ATTRIBUTE: Final = re.compile(r"\.\s*keras\b(?:\s*\.\s*\w+)*")
_NAME: Final = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(_KERAS))})\b")
_HARMLESS: Final = frozenset({Kind.OTHER, Kind.INITIALIZER, Kind.REGULARIZER})
"""What neither computes nor holds anything that computes."""


class Reach:
    """What can be in play in the files of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def is_in_play(self, path: Path, assumed: bool) -> bool:
        """Whether a program that starts in `path` can meet layers of Keras in half precision.

        `assumed` says that a policy is taken as set.  A test sets its policy by itself: only its own text counts.
        """
        half = self.speaks_of_half(path) if self._project.is_test(path) else self.meets_half(path)
        return (assumed or half) and self.reaches_keras(path)

    def reaches_keras(self, path: Path) -> bool:
        """Whether `path`, or a file that it imports, takes Keras from outside the project.

        In a checkout of Keras itself hardly any file does: there its layers are classes like any other.
        """
        return not self._program(path).isdisjoint(self._keras)

    def speaks_of_half(self, path: Path) -> bool:
        """Whether the file itself names half precision, or sets a policy."""
        return self._project.mentions(path, *HALF_WORDS)

    def meets_half(self, path: Path) -> bool:
        """Whether the file, or one that it imports, does."""
        return not self._program(path).isdisjoint(self._half)

    def programs_in_play(self) -> frozenset[Path]:
        """The files that speak of half precision, or that import one that does."""
        found = set(self._half)
        for path in self._half:
            found |= self._project.importers(path)
        return frozenset(found)

    def _program(self, path: Path) -> frozenset[Path]:
        return self._project.closure(path) | {path}

    @cached_property
    def _half(self) -> frozenset[Path]:
        return frozenset(path for path in self._project.files if self.speaks_of_half(path))

    @cached_property
    def _keras(self) -> frozenset[Path]:
        return frozenset(path for path in self._project.files if self._takes_keras(path))

    def _takes_keras(self, path: Path) -> bool:
        if not self._project.mentions(path, b"keras"):
            return False
        try:
            names = self._project.glance(path, _packages_with_keras)
        except SourceError:
            return False
        return any(not isinstance(self._project.resolve(name, 0, path), Path) for name in names)


def _packages_with_keras(text: str) -> frozenset[str]:
    """The packages out of which a file may take Keras."""
    found: set[str] = set()
    others: set[str] = set()
    idle: set[str] = set()
    for one in imports_of(text):
        top, _, rest = one.module.partition(".")
        if one.level or keras_api.kind(one.module) in _HARMLESS:  # a string that looks like a module
            continue
        if one.module in _KERAS and not one.names and _is_idle(text, top):  # some code bases import it everywhere
            idle.add(top)
        elif top in _KERAS or "keras" in (*rest.split("."), *one.names):
            found.add(top)
        else:
            others.add(top)
    by_attribute = _ATTRIBUTE.search(text)
    by_name = _KERAS.isdisjoint(found) and _NAME.search(text)
    if by_attribute or by_name:
        code = code_alone(text, list(strings_and_comments(text)))
        uses = {"".join(match[0].split())[1:] for match in _ATTRIBUTE.finditer(code)}
        if any(keras_api.kind(use) not in _HARMLESS for use in uses):
            found |= others
        if by_name:  # a file that imports it for others may have brought it
            named = frozenset(_NAME.findall(code)) - idle
            found |= {name for name in named if not re.search(rf"\bas[ \t]+{name}\b", code)}
    return frozenset(found)


def _is_idle(text: str, name: str) -> bool:
    """Whether a file that imports `name` says no more about it."""
    once = len(re.findall(rf"(?<![\w.]){name}\b", text)) == 1
    return once and not re.search(rf"\b{name}[ \t]+as\b", text)
