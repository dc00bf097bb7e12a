"""Which Keras generation a file is written for: 2, 3, or nobody can tell.

The answer decides what many programs do, so it is never guessed: each kind of evidence is asked in turn, strongest
first, and evidence that contradicts itself counts as none.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary

from mplint.project.claims import Claims, Flavor, Generation, claims_of, is_for_tensorflow_1
from mplint.project.modules import Project
from mplint.project.requirements import Demand, demands_in, installs_in
from mplint.project.versions import Range, parse_range
from mplint.source.file import SourceError
from mplint.source.notebook import SUFFIX as NOTEBOOK

_KERAS3_TENSORFLOW = (2, 16)
"""The first TensorFlow whose `tf.keras` is Keras 3."""
_KERAS3 = (3,)

_NO_CLAIMS = Claims(frozenset(), {}, {}, None, None, falls_back=False)
_MENTIONED = (b"keras", b"KERAS", b"tensorflow")
"""A file that holds none of these claims nothing."""


@dataclass(frozen=True)
class Evidence:
    """A generation and what says so; or None and what is missing or contradictory."""

    generation: Generation | None
    why: str
    of_machine: bool = field(default=False, compare=False)
    """Whether only what is installed here says so."""


def generation_of(
    project: Project,
    path: Path,
    settings_keras: Literal["2", "3", "auto"] = "auto",
    *,
    installed: Mapping[str, str] | None = None,
) -> Evidence:
    """The generation that the file at `path` is written for, or runs with.

    In this order: the setting; the Keras that is the project itself; what the file imports and switches, and a notebook
    installs; the same in the program that it is part of; the project's requirements, nearest file first; what of Keras
    the file calls; the distributions installed beside mplint (`installed` stands for those: versions by name).
    """
    if settings_keras != "auto":
        return Evidence(settings_keras, f"keras is set to {settings_keras}")
    memory = _memories.setdefault(project, _Memory())
    return _Judge(project, memory, _installed() if installed is None else installed).judge(path)


def tensorflow_of(project: Project, path: Path) -> Range:
    """The releases of TensorFlow that the project asks for, by the file nearest to `path` that asks for any."""
    memory = _memories.setdefault(project, _Memory())
    return _Judge(project, memory, {}).tensorflow(path)


def is_of_tensorflow_1(project: Project, path: Path) -> bool:
    """Whether the file at `path`, or one that it imports, can only run with TensorFlow 1."""
    return any(_is_for_tensorflow_1(project, other) for other in sorted({path, *project.closure(path)}))


def _is_for_tensorflow_1(project: Project, path: Path) -> bool:
    if not project.mentions(path, b"tensorflow"):
        return False
    try:
        return project.glance(path, is_for_tensorflow_1)
    except SourceError:
        return False


@dataclass
class _Memory:
    """What was read of one project."""

    programs: dict[Path, frozenset[Path]] = field(default_factory=dict)
    demands: dict[Path, tuple[Demand, ...]] = field(default_factory=dict)


_memories: WeakKeyDictionary[Project, _Memory] = WeakKeyDictionary()


class _Judge:
    def __init__(self, project: Project, memory: _Memory, installed: Mapping[str, str]) -> None:
        self._project = project
        self._memory = memory
        self._installed = installed

    def judge(self, path: Path) -> Evidence:
        own = self._of_own_keras(path)
        if own is not None:
            return own
        claims = self._claims(path)
        if claims.flavors == {Flavor.TF_KERAS}:
            return Evidence("2", "tf_keras is imported")
        if claims.falls_back:
            return Evidence("2", "tf_keras is imported where it is installed")
        if claims.flavors == {Flavor.KERAS_CORE}:
            return Evidence("3", "keras_core is imported")
        if {Flavor.TF_KERAS, Flavor.KERAS_CORE} & claims.flavors:
            return Evidence(None, f"{_listed(flavor.value for flavor in claims.flavors)} are both imported")
        if claims.guarded is not None:
            return Evidence(None, f"the file is written for both: {claims.guarded}")
        if claims.switch is not None and Flavor.KERAS not in claims.flavors:
            return Evidence(claims.switch, "TF_USE_LEGACY_KERAS is set in the file")
        if claims.imported:
            imported = _unanimous(claims.imported) or Evidence(None, "the file imports from both generations")
            return self._contradicted(path, imported) or imported

        undecided = False
        by_cells = self._of_cells(path, claims.flavors)
        for found in (by_cells, self._of_program(path, claims), self._of_requirements(path, claims.flavors)):
            if found is not None and found.generation is not None:
                return found
            undecided = undecided or found is not None
        if claims.used:
            return _unanimous(claims.used) or Evidence(None, "the file uses both generations")
        found = self._of_calls_in_program(path)
        if found is None and not undecided:
            found = self._of_environment(claims.flavors)
        return found or Evidence(None, "nothing says which Keras this is")

    def _claims(self, path: Path) -> Claims:
        if not self._project.mentions(path, *_MENTIONED):
            return _NO_CLAIMS
        try:
            return self._project.glance(path, claims_of)
        except SourceError:
            return _NO_CLAIMS

    def _of_own_keras(self, path: Path) -> Evidence | None:
        """In a checkout of Keras itself, its version."""
        for package in ("keras", "tf_keras"):
            top = self._project.path_of(package)
            if top is None or top.name != "__init__.py" or top.parent not in path.parents:
                continue
            if package == "tf_keras":
                return Evidence("2", "the file is part of tf_keras")
            for name in ("src/version.py", "version.py", "__init__.py"):
                try:
                    text = self._project.data(top.parent / name)
                except SourceError:
                    continue
                if version := re.search(rb"""__version__ = ['"](\d)""", text):
                    major: Generation = "3" if version[1] >= b"3" else "2"
                    return Evidence(major, f"the file is part of Keras {major}")
        return None

    # The program

    def _program(self, path: Path) -> frozenset[Path]:
        """The other files that run together with `path`: what the programs that contain it import."""
        found = self._memory.programs.get(path)
        if found is None:
            project = self._project
            entries = {one for one in project.importers(path) if project.is_test(path) or not project.is_test(one)}
            together = {path, *entries}
            waiting = list(together)
            while waiting:
                fresh = project.imports(waiting.pop()) - together
                together |= fresh
                waiting.extend(fresh)
            found = self._memory.programs[path] = frozenset(together - {path})
        return found

    def _contradicted(self, path: Path, found: Evidence) -> Evidence | None:
        """Evidence of None where a file that this one imports, itself or through others, imports the other Keras."""
        for other in sorted(self._project.closure(path) - {path}):
            theirs = self._claims(other)
            for generation, what in theirs.imported.items() if theirs.guarded is None else ():
                if generation != found.generation:
                    return Evidence(None, f"{found.why}, and {what} in {self._project.naming.file(other)}")
        return None

    def _of_program(self, path: Path, claims: Claims) -> Evidence | None:
        """What the rest of the program imports and switches; Evidence of None where that contradicts itself."""
        by_tensorflow = Flavor.KERAS not in claims.flavors
        said: dict[Generation, _Said] = {}
        switched: dict[Generation, _Said] = {}
        for other, theirs in self._claims_in_program(path):
            if theirs.switch is not None:
                _note(switched, theirs.switch, "TF_USE_LEGACY_KERAS is set", other)
            if by_tensorflow and (theirs.flavors == {Flavor.TF_KERAS} or theirs.falls_back):
                _note(said, "2", "tf_keras is imported", other)
            for generation, what in theirs.imported.items():
                _note(said, generation, what, other)
        if by_tensorflow and switched:
            return self._unanimous(switched) or Evidence(None, "the program sets TF_USE_LEGACY_KERAS both ways")
        if said:
            return self._unanimous(said) or Evidence(None, "the program imports both generations")
        return None

    def _of_calls_in_program(self, path: Path) -> Evidence | None:
        used: dict[Generation, _Said] = {}
        for other, theirs in self._claims_in_program(path):
            for generation, what in theirs.used.items():
                _note(used, generation, what, other)
        return self._unanimous(used)

    def _claims_in_program(self, path: Path) -> Iterator[tuple[Path, Claims]]:
        for other in self._program(path):
            theirs = self._claims(other)
            if theirs is not _NO_CLAIMS and theirs.guarded is None:
                yield other, theirs

    def _unanimous(self, said: Mapping[Generation, _Said]) -> Evidence | None:
        if len(said) != 1:
            return None
        ((generation, (path, what)),) = said.items()
        return Evidence(generation, f"{what} in {self._project.naming.file(path)}")

    # What is asked for, and what is there

    def tensorflow(self, path: Path) -> Range:
        """The releases of TensorFlow that are asked for."""
        asked = (self._installs(path), *(demand.ranges for demand in self._demands(path)))
        return next((ranges["tensorflow"] for ranges in asked if "tensorflow" in ranges), Range())

    def _installs(self, path: Path) -> Mapping[str, Range]:
        """What a notebook installs."""
        if path.suffix != NOTEBOOK:
            return {}
        try:
            return installs_in(self._project.data(path).decode(errors="replace"))
        except SourceError:
            return {}

    def _of_cells(self, path: Path, flavors: frozenset[Flavor]) -> Evidence | None:
        found = _verdict(self._installs(path), flavors)
        return None if found is None else Evidence(found[0], f"the notebook installs {found[1]}")

    def _demands(self, path: Path) -> Iterator[Demand]:
        """What files of the project ask for, the nearest first."""
        root = self._project.root
        directories = [path.parent]
        while directories[-1] != root and root in directories[-1].parents:
            directories.append(directories[-1].parent)
        for directory in directories:
            demands = self._memory.demands.get(directory)
            if demands is None:
                demands = self._memory.demands[directory] = demands_in(directory)
            yield from demands

    def _of_requirements(self, path: Path, flavors: frozenset[Flavor]) -> Evidence | None:
        for demand in self._demands(path):
            found = _verdict(demand.ranges, flavors)
            if found is not None:
                generation, because = found
                return Evidence(generation, f"{self._project.naming.file(demand.path)} asks for {because}")
        return None

    def _of_environment(self, flavors: frozenset[Flavor]) -> Evidence | None:
        ranges = {name: parse_range(version) for name, version in self._installed.items()}
        found = _verdict(ranges, flavors)
        return None if found is None else Evidence(found[0], f"installed beside mplint: {found[1]}", of_machine=True)


def _verdict(ranges: Mapping[str, Range], flavors: frozenset[Flavor]) -> tuple[Generation | None, str] | None:
    """The generation that these versions give for Keras under all of the names `flavors`.

    None where they leave it open; a generation of None where they name both, so that only code can tell.
    """
    names = (flavors & {Flavor.TENSORFLOW, Flavor.KERAS}) or {Flavor.TENSORFLOW, Flavor.KERAS}
    verdicts = {_verdict_for(ranges, flavor) for flavor in names}
    if len(verdicts) == 1:
        return verdicts.pop()
    generations = {verdict and verdict[0] for verdict in verdicts}
    if len(generations) == 1:
        return next(iter(verdicts))
    return None if None in verdicts else (None, "both generations")


def _verdict_for(ranges: Mapping[str, Range], flavor: Flavor) -> tuple[Generation | None, str] | None:
    tensorflow, keras = ranges.get("tensorflow", Range()), ranges.get("keras", Range())
    by_tensorflow: Generation | None = None
    if tensorflow.is_below(_KERAS3_TENSORFLOW):
        by_tensorflow = "2"
    elif tensorflow.is_from(_KERAS3_TENSORFLOW):
        by_tensorflow = "3"
    by_keras: Generation | None = "2" if keras.is_below(_KERAS3) else "3" if keras.is_from(_KERAS3) else None

    if flavor is Flavor.KERAS:
        generation, package = (by_keras, "Keras") if by_keras else (by_tensorflow, "TensorFlow")
    else:
        generation, package = (by_tensorflow, "TensorFlow") if by_tensorflow else (by_keras, "Keras")
        if generation == "3" and "tf-keras" in ranges:
            return None, "tf-keras beside Keras 3"
    if generation is None:
        return None
    if package == "Keras":
        return generation, f"Keras {generation}"
    return generation, "TensorFlow before 2.16" if generation == "2" else "TensorFlow 2.16 or later"


_Said = tuple[Path, str]


def _note(said: dict[Generation, _Said], generation: Generation, what: str, path: Path) -> None:
    """Keep of several files the first by name, so that the answer is the same each time."""
    known = said.get(generation)
    if known is None or path < known[0]:
        said[generation] = path, what


def _unanimous(said: Mapping[Generation, str]) -> Evidence | None:
    if len(said) != 1:
        return None
    ((generation, why),) = said.items()
    return Evidence(generation, why)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))


@functools.cache
def _installed() -> Mapping[str, str]:
    return dict(_distributions())


def _distributions() -> Iterator[tuple[str, str]]:
    for name in ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "keras", "tf-keras"):
        try:
            version = importlib.metadata.version(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue
        yield ("tensorflow" if name.startswith("tensorflow") else name), version
