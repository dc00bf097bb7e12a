"""Imports: running a module's top level once per world, and what an import statement binds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from mplint.interpreter.activations import Activation, OutOfBudget, PolicyMatters, Split
from mplint.interpreter.code import block, dotted
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras.names import names_below
from mplint.interpreter.keras.usage import note_read
from mplint.interpreter.sequences import concatenate, updated
from mplint.interpreter.state import POLICY, Cell, State
from mplint.interpreter.trace import PolicySet
from mplint.interpreter.values import (
    UNKNOWN,
    Address,
    Api,
    Const,
    Entries,
    List,
    Module,
    Policy,
    Symbol,
    Tuple,
    Value,
)
from mplint.keras_api import canonical
from mplint.source.file import ParseFault, SourceError

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


@dataclass(eq=False)
class Loaded:
    """What importing a module does beside filling its own namespace and making layers and models.

    Those are `Program.imports`.
    """

    events: tuple[PolicySet, ...] = ()
    """Where it sets the policy."""
    policy: Policy | None = None
    """The global policy that its top level leaves, where it sets one."""
    writes: tuple[tuple[Cell, object, object], ...] = ()
    """What it writes that is not its own (a registry, another module's variable): the cell, before and after."""
    symbols: frozenset[Symbol] = frozenset()
    """The unknown conditions that it, or what it imports, has joined over: where one is decided, it is run again."""
    needs: tuple[Path, ...] = ()
    """The modules that it imports."""
    cut: bool = False
    effects: dict[Path, Loaded] = field(default_factory=dict)
    """The modules that it imports, directly or through others, and itself, as far as they do something, in order."""
    reach: dict[Path, None] = field(default_factory=dict)
    """Where there are such effects: all that it imports, directly or through others."""

    @property
    def acts(self) -> bool:
        """Whether the module itself does something that its importers see."""
        return bool(self.events or self.writes or self.cut)


class Shelf:
    """The namespaces of all modules imported in one generation under one policy, shared by the runs that start there.

    Below it stands the neutral shelf of the generation (the one without `neutral`), with the modules that neither ask
    for the policy nor set it: most do neither, and are run once for all policies.  A module whose top level has several
    worlds, or that is imported under another policy, is on no shelf: it is run in the run that imports it.
    """

    def __init__(self, generation: str, policy: Policy, neutral: Shelf | None) -> None:
        self.generation = generation
        self.policy = policy
        self.neutral = neutral
        self.state: State = State(neutral.state if neutral is not None else None)
        self.state.pins = 1
        self.loaded: dict[Path, Loaded | None] = {}

    @property
    def is_neutral(self) -> bool:
        """Whether the policy is not to be asked for."""
        return self.neutral is None

    def drop(self, path: Path) -> None:
        """Take the module `path` off, and those that import it."""
        gone = {path}
        self.loaded[path] = None
        while gone:
            left = [(other, loaded) for other, loaded in self.loaded.items() if loaded is not None]
            gone = {other for other, loaded in left if not gone.isdisjoint(loaded.needs)}
            self.loaded.update(dict.fromkeys(gone))


def load(m: Machine, path: Path, name: str | None = None) -> Frame:
    """Import the module in the file `path`: run its top level unless this run has done so; its namespace."""
    frame = m.program.module_frame(path)
    m.effects += 1
    if m.recording is not None:
        m.recording.loaded.add(path)
    if path in m.imported:
        return frame
    if name is None and (m.shelf.is_neutral or m.policy == m.shelf.policy):
        loaded = _on_shelf(m, path)
        if loaded is not None and (not m.decisions or loaded.symbols.isdisjoint(m.decisions)):
            _apply(m, path, loaded)
            return frame
    m.imported[path] = None
    _run(m, path, frame, name)
    return frame


def _apply(m: Machine, path: Path, loaded: Loaded) -> None:
    """Do to a run what importing the module does, the modules that it imports first."""
    m.imported[path] = None
    m.undecided |= loaded.symbols
    if not loaded.effects:
        return
    for module, effect in loaded.effects.items():
        if module != path and module in m.imported:
            continue
        m.trace.events.extend(effect.events)
        m.replayed.update(effect.events)
        m.trace.cut = m.trace.cut or effect.cut
        if effect.policy is not None:
            m.set_policy(effect.policy)
        for cell, before, after in effect.writes:
            m.given[cell] = _changed(m.given.get(cell, m.shelf.state.get(cell)), before, after)
            _write(m, cell, _changed(m.state.get(cell), before, after))
    m.imported.update(loaded.reach)


def _write(m: Machine, cell: Cell, content: object) -> None:
    owner, name = cell
    if isinstance(owner, Frame) and isinstance(content, Value):
        m.bind(owner, name, content)
    else:
        m.state.set(cell, content)


def _changed(now: object, before: object, after: object) -> object:
    """The contents `now` of a cell behind a write that made `after` of `before`.

    What it put into a container comes to what others have put there.
    """
    if now is None or now == before:
        return after
    if isinstance(now, Entries) and isinstance(after, Entries):
        known = dict(before.pairs) if isinstance(before, Entries) else {}
        fresh = tuple(pair for pair in after.pairs if known.get(pair[0]) != pair[1])
        return updated(now, Entries(fresh, after.rest))
    if isinstance(now, Tuple) and isinstance(before, Tuple) and isinstance(after, Tuple):
        length = len(before.items)
        return (
            concatenate(now, Tuple(after.items[length:], after.rest)) if after.items[:length] == before.items else after
        )
    return after


def _on_shelf(m: Machine, path: Path) -> Loaded | None:
    """The module on the lowest shelf that can hold it, put there now if need be; None where none can."""
    if m.shelf.neutral is not None:
        loaded = _put(m, m.shelf.neutral, path)
        return loaded if loaded is not None else _put(m, m.shelf, path)
    loaded = _put(m, m.shelf, path)
    if loaded is None:  # the module that imports it differs from policy to policy as it does
        raise PolicyMatters
    return loaded


def _put(m: Machine, shelf: Shelf, path: Path) -> Loaded | None:
    """The module on `shelf`, put there now if need be; None where it cannot be."""
    if path in shelf.loaded:
        return shelf.loaded[path]
    loaded = shelf.loaded[path] = Loaded()  # already there for the modules that it imports and that import it
    machine = type(m)(m.program, shelf, {}, True)
    machine.imported[path] = None
    try:
        _run(machine, path, m.program.module_frame(path), None)
    except (Split, PolicyMatters):
        shelf.drop(path)
        return None
    except OutOfBudget:
        loaded.cut = True
    if machine.pending is not None:  # several worlds, as above
        shelf.drop(path)
        return None
    changes = machine.state.above(shelf.state)
    policy = changes.pop(POLICY, None)
    own = {cell: content for cell, content in changes.items() if _is_own(machine, path, cell, content)}
    shelf.state.cells.update(own)
    before = {cell: machine.given.get(cell, shelf.state.get(cell)) for cell in changes if cell not in own}
    loaded.writes = tuple((cell, was, changes[cell]) for cell, was in before.items() if was != changes[cell])
    events = [event for event in machine.trace.events if event not in machine.replayed]
    loaded.events = tuple(event for event in events if isinstance(event, PolicySet))
    if len(events) > len(loaded.events):
        m.program.imports.append((path, machine))
    loaded.policy = policy if isinstance(policy, Policy) and loaded.events else None
    loaded.symbols = frozenset(machine.undecided)
    loaded.needs = tuple(needed for needed in machine.imported if needed != path)
    for needed in loaded.needs:
        below = _found(shelf, needed)
        if below is not None:
            loaded.effects.update(below.effects)
            loaded.reach.update(below.reach)
    if loaded.acts:
        loaded.effects[path] = loaded
    loaded.reach = {**loaded.reach, **dict.fromkeys(loaded.needs)} if loaded.effects else {}
    return loaded


def _is_own(machine: Machine, path: Path, cell: Cell, content: object) -> bool:
    """Whether importing the module in `path` fills a cell of its own: a variable of it, a field of what it made."""
    owner = cell[0]
    if isinstance(owner, Address):
        return machine.has_made(owner) or owner.role.startswith("member ")
    if isinstance(owner, Frame):
        # importing a module of a package binds it there
        return owner.kind == "function" or owner.source.path == path or isinstance(content, Module)
    return False


def _found(shelf: Shelf, path: Path) -> Loaded | None:
    """The module `path` on `shelf` or below."""
    here = shelf.loaded.get(path)
    return shelf.neutral.loaded.get(path) if here is None and shelf.neutral is not None else here


def _run(m: Machine, path: Path, frame: Frame, name: str | None) -> None:
    m.bind(frame, "__name__", Const(name or m.program.project.module_name(path)))
    context, m.context = m.context, m.program.root_context
    stack, m.stack, learned = m.stack, [Activation(frame)], m.learned
    try:
        tree = m.program.source(path).module
    except (SourceError, ParseFault):  # reported as MP001 by whoever asked for the file
        m.bind(frame, "*", UNKNOWN)
    else:
        m.execute(frame, block(tree))
    finally:
        m.context, m.stack, m.learned = context, stack, learned


def names_of(node: cst.Import | cst.ImportFrom) -> Iterator[str]:
    """The dotted names that an absolute import asks for."""
    if isinstance(node, cst.Import):
        yield from (dotted(alias.name) for alias in node.names)
    elif not node.relative and node.module is not None and not isinstance(node.names, cst.ImportStar):
        yield from (f"{dotted(node.module)}.{dotted(alias.name)}" for alias in node.names)


def imported(m: Machine, frame: Frame, node: cst.Import) -> Iterator[tuple[str, Value]]:
    """The bindings of `import a.b as c, d`."""
    for alias in node.names:
        name = dotted(alias.name)
        value = find(m, frame, name, 0)
        note_read(m, value, m.place(frame, alias))
        if alias.asname is not None:
            yield dotted(alias.asname.name), value
        else:
            yield name.partition(".")[0], value if "." not in name else find(m, frame, name.partition(".")[0], 0)


def imported_from(m: Machine, frame: Frame, node: cst.ImportFrom) -> Iterator[tuple[str, Value]]:
    """The bindings of `from a.b import c as d`."""
    name = dotted(node.module) if node.module is not None else ""
    level = len(node.relative)
    source = find(m, frame, name, level)
    if isinstance(node.names, cst.ImportStar):
        yield from _star(m, source)
        return
    for alias in node.names:
        wanted = dotted(alias.name)
        bound = dotted(alias.asname.name) if alias.asname is not None else wanted
        yield bound, member(m, frame, source, wanted, name, level, alias)


def member(
    m: Machine,
    frame: Frame,
    source: Value,
    wanted: str,
    name: str,
    level: int,
    node: cst.ImportAlias | None = None,
) -> Value:
    """`wanted` out of an imported module: a binding of it, or a module below it; `node` asks for it."""
    match source:
        case Module(frame=namespace):
            found = m.variable(namespace, wanted)
            if found is not None:
                return found
            below = find(m, frame, f"{name}.{wanted}" if name else wanted, level)
            if isinstance(below, Module):
                m.bind(namespace, wanted, below)
                return below
            return m.attribute(source, wanted, m.place(frame, frame.source.module))
        case Api():
            below = find(m, frame, f"{name}.{wanted}" if name else wanted, level)  # of a package without a file
            place = m.place(frame, node if node is not None else cst.Name(wanted))
            return below if isinstance(below, Module) else m.attribute(source, wanted, place)
        case _:
            return UNKNOWN


def _star(m: Machine, source: Value) -> Iterator[tuple[str, Value]]:
    match source:
        case Module(frame=namespace):
            listed = _listed(m, m.variable(namespace, "__all__"))
            for name in namespace.bound if listed is None else listed:
                value = m.variable(namespace, name)
                if value is not None and (listed is not None or not name.startswith("_")):
                    yield name, value
        case Api(path=path):
            for name in names_below(path):
                yield name, Api(canonical(f"{path}.{name}"), f"{path}.{name}")
        case _:
            pass


def _listed(m: Machine, names: Value | None) -> list[str] | None:
    """What `__all__` lists; None where there is none, or it is not known."""
    items = m.items(names) if isinstance(names, List) else names
    if not isinstance(items, Tuple) or items.rest is not None:
        return None
    found = [item.value for item in items.items if isinstance(item, Const) and isinstance(item.value, str)]
    return found if len(found) == len(items.items) else None


def find(m: Machine, frame: Frame, name: str, level: int) -> Value:
    """The module `name` imported from the file of `frame`; of the program it is loaded, else a name of a library."""
    resolved = m.program.project.resolve(name, level, frame.source.path)
    if isinstance(resolved, Path):
        if not level:
            _load_packages(m, frame, name)
        return Module(load(m, resolved))
    if not resolved:
        return UNKNOWN
    return Api(canonical(resolved), resolved)


def _load_packages(m: Machine, frame: Frame, name: str) -> None:
    """Importing a.b.c imports a and a.b, and makes each an attribute of the one before."""
    parts = name.split(".")
    before: Frame | None = None
    for count in range(1, len(parts) + 1):
        resolved = m.program.project.resolve(".".join(parts[:count]), 0, frame.source.path)
        if not isinstance(resolved, Path):
            before = None
            continue
        here = load(m, resolved)
        if before is not None and m.variable(before, parts[count - 1]) is None:
            m.bind(before, parts[count - 1], Module(here))
        before = here
