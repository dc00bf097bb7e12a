"""What mplint says of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mplint.analysis import Report, analyze
from mplint.interpreter.ends import EndFault, faulty_ends
from mplint.interpreter.predict import output_dtypes
from mplint.interpreter.program import Program as Interpreted
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project
from mplint.settings import Settings
from tests.generator.program import Program
from tests.generator.verdict import Disagreement

FILE: Final = Path("/program/main.py")
SOFTMAX, OTHER, PURE = "a half softmax", "a half output", "a half policy"
"""The faults of an output, as far as its dtype and its graph show them."""
_KINDS = {
    EndFault.SOFTMAX: SOFTMAX,
    EndFault.SOFTMAX_CAST_AFTERWARDS: SOFTMAX,
    EndFault.OUTPUT: OTHER,
    EndFault.INEFFECTIVE_FLOAT32: OTHER,
    EndFault.PURE_POLICY: PURE,
}


@dataclass(frozen=True)
class Opinion:
    """Of the models in module-level names, and of the program as a whole."""

    dtypes: Mapping[str, Sequence[str | None]]
    """The outputs of each; none where not even their number is known."""
    faults: Mapping[str, set[str]]
    """What is wrong with the ends of each."""
    report: Report

    def knows(self, name: str) -> bool:
        """Whether all outputs of a model are known."""
        return None not in (self.dtypes.get(name) or [None])


def opinion(program: Program) -> Opinion | Disagreement:
    """Ask mplint; that it raises is a disagreement with anything."""
    try:
        report = analyze(*asked(program))
        return Opinion(output_dtypes(program.source, program.generation), _faults(program), report)
    except Exception as error:  # noqa: BLE001  (a crash is to be found, not to end the search)
        return Disagreement.crash(program, error)


def _faults(program: Program) -> dict[str, set[str]]:
    project, _, _ = asked(program)
    found: dict[str, set[str]] = {}
    for world in run_script(Interpreted(project), FILE, program.generation):
        names = {value: name for name, value in world.module_bindings(FILE).items() if name in program.models}
        for fault, kind in _KINDS.items():
            for end, _ in faulty_ends(world, fault):
                if end.model.instance in names:
                    found.setdefault(names[end.model.instance], set()).add(kind)
    return found


def asked(program: Program, source: str | None = None) -> tuple[Project, list[Path], Settings]:
    """What mplint's functions take, for the program or for another text instead of it."""
    text = program.source if source is None else source
    settings = Settings(root=FILE.parent, keras="2" if program.generation == "2" else "3")
    return Project(FILE.parent, [FILE], {FILE: text.encode()}), [FILE], settings
