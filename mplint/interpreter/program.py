"""The program under analysis: its modules and code objects, and what all runs share.

Contexts, frames and addresses are interned here, so that they mean the same in every world.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter.code import ClassCode, Code, FunctionCode
from mplint.interpreter.configuration import files
from mplint.interpreter.frames import Context, Frame
from mplint.interpreter.implications import branches_of, computed
from mplint.interpreter.makings import Makings
from mplint.interpreter.memo import Memo
from mplint.interpreter.modules import Shelf
from mplint.interpreter.replays import Replays
from mplint.interpreter.values import (
    FLOATS,
    HALF_POLICIES,
    Address,
    Candidate,
    Choice,
    Class,
    Const,
    Instance,
    Place,
    Policy,
    Symbol,
    Unknown,
)
from mplint.project.generation import is_of_tensorflow_1, tensorflow_of
from mplint.source.file import SourceFile

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine
    from mplint.project.modules import Project

_MAX_COMPARED: Final = 16
"""Constants that one unknown is compared with; what comes after them is not noted."""
_POLICIES: Final = HALF_POLICIES | FLOATS


class Program:
    """A project seen by the interpreter."""

    def __init__(self, project: Project, device: str = "auto") -> None:
        self.project = project
        self.device = device
        """What it runs on: gpu, tpu, or auto where its distribution strategies tell."""
        self.root_context = Context(None, None, 0)
        self._of_tensorflow_1: dict[Path, bool] = {}
        self.entered: set[cst.CSTNode] = set()
        """Functions that some call in the program has entered."""
        self.passed: set[tuple[cst.CSTNode, str]] = set()
        """The parameters with a default that some call of their function has given a value."""
        self.roots: set[cst.CSTNode] = set()
        """Functions that are run on their own, since nothing in the program entered them."""
        self.makings = Makings()
        """With what the classes of the program are called."""
        self.looked_up: dict[Path, set[tuple[str, str | None]]] = {}
        """Modules out of which something is taken by a name that is not known: the generations and policies then."""
        self.parts: set[Address] = set()
        """Models that some run uses as a part of something larger."""
        self.opened: set[Address] = set()
        """Models of which a layer was taken out, or asked for what it gives."""
        self.trained: set[Address] = set()
        """Models that are compiled, or run on data by a method of their own."""
        self.escaped: set[Address] = set()
        """Objects that some run loses sight of."""
        self.settled: set[Address] = set()
        """Models whose half-precision results some run casts to float32."""
        self.steps: dict[tuple[str, Place | None, Context | None], set[Address]] = {}
        """Computations inside models (not their ends), by kind, place and context: the models that they are in."""
        self.step_places: set[Place | None] = set()
        """Where these are computed."""
        self.middle: dict[Place, set[Context]] = {}
        """The calls, with their contexts, that give such a computation in what may be half precision."""
        self.scaled_for_float16: set[Place] = set()
        """Where optimizers that scale the loss are made, in runs in which something computes in float16."""
        self.strategies: set[Symbol] = set()
        """The unknown conditions that decide on a distribution strategy."""
        self.several: set[Address] = set()
        """Addresses that stand for several objects in some state of some run."""
        self.patched: set[str] = set()
        """Names of attributes that the program puts on a library's objects."""
        self.context_managers: set[object] = set()
        """Function nodes under @contextmanager."""
        self.aliases = False
        """Whether some object's items are its attributes, too."""
        self.groups: set[FunctionCode] = set()
        """Functions that are groups of commands."""
        self.cached: set[cst.CSTNode] = set()
        """Functions that are run once for the same arguments."""
        self.choices: dict[Choice, tuple[Symbol, Instance, Instance] | None] = {}
        """What decides which of two objects something is: that where the condition holds, and where it does not.

        None where several conditions do.
        """
        self.hooks: frozenset[str] = frozenset()
        """Those of `code.HOOKS` that some class of the program defines."""
        self.answers: dict[tuple[Path, object], dict[str, object]] = {}
        """What files ask of the versions of libraries, and the answers, by the generation of Keras."""
        self.guesses: set[Path] = set()
        """The files that make something of a version that cannot be followed."""
        self.tests: dict[Symbol, tuple[Place, bool]] = {}
        """Where unknown conditions are asked for, and whether what is asked holds where the condition does."""
        self.counters: dict[cst.CSTNode, frozenset[str]] = {}
        """The variables that each loop counts in."""
        self.tested: dict[cst.CSTNode, tuple[str, ...]] = {}
        """The variables that each test asks."""
        self.compared: dict[Symbol, dict[Const, None]] = {}
        """The texts and numbers that the program compares an unknown with: it may be one of them."""
        self.literals: dict[int, Const] = {}
        self.literal_places: dict[int, Place] = {}
        """Where the text of a string or of an integer stands, by the identity of the constant."""
        self.memo = Memo()
        self.replays = Replays()
        self.places: dict[int, Place] = {}
        """The places by the identity of their nodes: a place keeps its node, so that no other gets the same."""
        self.imports: list[tuple[Path, Machine]] = []
        """The runs that put modules on shelves and made layers or models there."""
        self._shelves: dict[tuple[str, Policy | None], Shelf] = {}
        self._named: dict[files.Keys, tuple[Const, ...]] = {}
        self._codes: dict[int, Code] = {}
        self._frames: dict[tuple[int, Context, Frame | None], Frame] = {}
        self._modules: dict[Path, Frame] = {}
        self._addresses: dict[tuple[int, Context, str], Address] = {}

    def runs_before(self, path: Path, release: tuple[int, int]) -> bool:
        """Whether the file at `path` runs with releases of TensorFlow before `release`, and with no other.

        That is what the project asks for, or what the program uses is only in TensorFlow 1.
        """
        if path not in self._of_tensorflow_1:
            self._of_tensorflow_1[path] = is_of_tensorflow_1(self.project, path)
        return self._of_tensorflow_1[path] or tensorflow_of(self.project, path).is_below(release)

    @cached_property
    def has_several_kerases(self) -> bool:
        """Whether the program speaks of tf_keras, which may stand beside another copy of Keras."""
        return any(self.project.mentions(path, b"tf_keras") for path in self.project.files)

    @cached_property
    def sets_legacy_switch(self) -> bool:
        """Whether the program decides by itself that `tf.keras` is tf_keras."""
        return any(self.project.mentions(path, b"TF_USE_LEGACY_KERAS") for path in self.project.files)

    def is_for_both(self, path: Path) -> bool:
        """Whether the file asks for the generation of Keras, and is told, and so is written for both."""
        return path not in self.guesses and any(
            asker == path and len(set(answers.values())) > 1 for (asker, _), answers in self.answers.items()
        )

    def note_comparison(self, symbol: Symbol, constant: Const) -> None:
        """Note that the program asks whether the unknown `symbol` is `constant`."""
        known = self.compared.setdefault(symbol, {})
        if len(known) < _MAX_COMPARED:
            known[constant] = None

    def candidates(self, value: Unknown) -> tuple[Candidate, ...]:
        """What an unknown is likely to be: its own candidates, and the policies that it is compared with."""
        found = dict.fromkeys(value.candidates)
        for leaf in value.symbol.tree if value.symbol is not None else ():
            for constant in (*self.compared.get(leaf, ()), *self._in_files(leaf)):
                made = computed(value.symbol, {leaf: constant.value}) if value.symbol is not None else None
                if made in _POLICIES:
                    found[Candidate(Const(made), Symbol("Equal", leaf, constant))] = None
        ways = branches_of(value.symbol) if value.symbol is not None else None
        for branch in ways[1:] if ways is not None else ():
            for each in self.candidates(Unknown(branch)) if isinstance(branch, Symbol) else ():
                found[Candidate(each.value, Symbol("Equal", value.symbol, each.value))] = None
        return tuple(found)

    def _in_files(self, leaf: Symbol) -> tuple[Const, ...]:
        """What the configuration files of the project have under the name of an unknown."""
        keys = files.keys_of(leaf)
        if keys is None:
            return ()
        if keys not in self._named:
            self._named[keys] = tuple(dict.fromkeys(files.named(self.project, keys)))
        return self._named[keys]

    def source(self, path: Path) -> SourceFile:
        """The file `path`."""
        return self.project.source(path)

    def shelf(self, generation: str, policy: Policy | None = None) -> Shelf:
        """The modules imported in `generation` under `policy`; under None, those to which the policy is the same."""
        key = (generation, policy)
        found = self._shelves.get(key)
        if found is None:
            neutral = None if policy is None else self.shelf(generation)
            found = self._shelves[key] = Shelf(generation, policy or Policy(None), neutral)
        return found

    def module_frame(self, path: Path) -> Frame:
        """The namespace of the module in the file `path`."""
        found = self._modules.get(path)
        if found is None:
            found = self._modules[path] = Frame("module", self.source(path), None, self.root_context, None, None)
        return found

    def note_lookup(self, frame: Frame, generation: str, policy: Policy) -> None:
        """Note that anything in the module of `frame` may be what the program goes on with."""
        self.looked_up.setdefault(frame.module.source.path, set()).add((generation, policy.name))

    def frame(
        self,
        node: cst.CSTNode,
        kind: str,
        source: SourceFile,
        code: Code | None,
        context: Context,
        parent: Frame | None,
        names: frozenset[str] | None,
        owner: Class | None,
    ) -> Frame:
        """The frame of running `node` in `context`."""
        key = (id(node), context, parent)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(kind, source, code, context, parent, names, owner)
        return found

    def place(self, source: SourceFile, node: cst.CSTNode) -> Place:
        """Where `node` stands."""
        found = self.places.get(id(node))
        if found is None:
            found = self.places[id(node)] = Place(source, node)
        return found

    def address(self, place: Place, context: Context, role: str) -> Address:
        """The address of what `place` makes in `context`."""
        key = (id(place.node), context, role)
        found = self._addresses.get(key)
        if found is None:
            found = self._addresses[key] = Address(place, context, role)
        return found

    def function_code(self, node: cst.FunctionDef | cst.Lambda, source: SourceFile, frame: Frame) -> FunctionCode:
        """The code object of a function, read once."""
        found = self._codes.get(id(node))
        if not isinstance(found, FunctionCode):
            name = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
            found = self._codes[id(node)] = FunctionCode(node, source, _qualified(frame, name))
        return found

    def class_code(self, node: cst.ClassDef, source: SourceFile, frame: Frame) -> ClassCode:
        """The code object of a class, read once."""
        found = self._codes.get(id(node))
        if not isinstance(found, ClassCode):
            found = self._codes[id(node)] = ClassCode(node, source, _qualified(frame, node.name.value))
        return found


def _qualified(frame: Frame, name: str) -> str:
    return f"{frame.code.qualname}.{name}" if frame.code is not None else name
