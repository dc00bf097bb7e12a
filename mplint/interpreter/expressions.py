"""Expressions: the abstract value of each kind of node."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import (
    arrays,
    candidates,
    containers,
    mappings,
    namespaces,
    objects,
    questions,
    sequences,
    strings,
    versions,
)
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import (
    class_attribute,
    enum_item,
    is_closed,
    is_dataclass,
    is_enum,
    library_bases,
    tuple_fields,
)
from mplint.interpreter.code import target_names
from mplint.interpreter.concrete import MAX_TEXT, concrete
from mplint.interpreter.conditions import bind_narrowed, condition, decisive, truth
from mplint.interpreter.configuration import absl, environment
from mplint.interpreter.folding import NotKnown, fold
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import losses, tensors
from mplint.interpreter.keras.names import is_callable, is_known, is_object
from mplint.interpreter.python import BUILTINS
from mplint.interpreter.sequences import MAX_PASSES
from mplint.interpreter.targets import assign
from mplint.interpreter.values import (
    FALSE,
    NEVER,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Array,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    DType,
    Entries,
    Fields,
    Function,
    Instance,
    List,
    Module,
    Place,
    Policy,
    Range,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
    Varying,
    choice,
    derived,
    is_member,
    models_behind,
    options,
    predicted,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


# -- names and literals


_KEYWORDS: Final[dict[str, Value]] = {"True": TRUE, "False": FALSE, "None": NONE}
_BUILTINS: Final[dict[str, Value]] = {name: Api(f"builtins.{name}") for name in BUILTINS}


def _name(m: Machine, frame: Frame, node: cst.Name) -> Value:
    name = node.value
    literal = _KEYWORDS.get(name)
    if literal is not None:
        return literal
    here: Frame | None = frame
    while here is not None:
        if here.names is None or name in here.names:
            found = m.variable(here, name)
            if found is not None:
                return found
            if here.parent is None and name not in BUILTINS:
                missing = m.variable(here, "*")  # a star import of something unseen may have brought it
                if missing is not None:
                    return missing
        here = here.parent
        while here is not None and here.kind == "class":
            here = here.parent
    builtin = _BUILTINS.get(name)
    if builtin is not None:
        return builtin
    if name == "__file__":
        return Unknown(Symbol("file", str(frame.source.path)))
    return UNKNOWN


def _literal(m: Machine, frame: Frame, node: cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString) -> Value:
    cache = m.program.literals
    found = cache.get(id(node))
    if found is None:
        try:
            found = Const(node.evaluated_value)
        except (SyntaxError, ValueError):  # the parser lets pass more than Python: `"\\x1"`, a million digits
            return UNKNOWN
        cache[id(node)] = found
        if isinstance(node, (cst.SimpleString, cst.Integer)):
            m.program.literal_places[id(found)] = m.place(frame, node)
    return found


def _string(m: Machine, frame: Frame, node: cst.ConcatenatedString) -> Value:
    left, right = m.evaluate(frame, node.left), m.evaluate(frame, node.right)
    match left, right:
        case Const(value=str(a)), Const(value=str(b)):
            return Const(a + b)
        case Const(value=bytes(a)), Const(value=bytes(b)):
            return Const(a + b)
        case _:
            return derived("text", left, right)


def _formatted(m: Machine, frame: Frame, node: cst.FormattedString) -> Value:
    pieces: list[tuple[cst.FormattedStringExpression | None, Value]] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            pieces.append((None, Const(part.value.replace("{{", "{").replace("}}", "}"))))
        elif isinstance(part, cst.FormattedStringExpression):
            pieces.append((part, m.evaluate(frame, part.expression)))

    def written(source: Value | None = None, candidate: Value | None = None) -> Value:
        """The text; with `candidate` for each piece that is `source`."""
        text = ""
        for part, value in pieces:
            meant = candidate if candidate is not None and value == source else value
            shown = str(getattr(meant, "value", "")) if part is None else _shown(m, frame, part, meant)
            if shown is None or len(text) > MAX_TEXT:
                return UNKNOWN
            text += shown
        return Const(text) if len(text) <= MAX_TEXT else UNKNOWN

    text = written()
    if text != UNKNOWN:
        return text
    losses.written(m, [value for _, value in pieces], m.place(frame, node), "f-string")
    plain = all(part is None or (part.format_spec is None and part.conversion is None) for part, _ in pieces)
    result: Value = derived("text" if plain else "formatted", *(value for _, value in pieces))
    source = next((value for _, value in pieces if isinstance(value, Unknown) and value.candidates), NONE)
    return candidates.through(source, result, lambda value: written(source, value))


def _shown(m: Machine, frame: Frame, part: cst.FormattedStringExpression, value: Value) -> str | None:
    """What one `{…}` of an f-string becomes; None where that is not known."""
    if part.equal is not None:
        return None
    pattern = ""
    for piece in part.format_spec or ():
        if isinstance(piece, cst.FormattedStringText):
            pattern += piece.value
        elif isinstance(piece, cst.FormattedStringExpression):
            inner = _shown(m, frame, piece, m.evaluate(frame, piece.expression))
            if inner is None:
                return None
            pattern += inner
    if type(value) is Const and not pattern and part.conversion is None:
        return str(value.value)
    try:
        return strings.written(concrete(m, value), part.conversion, pattern)
    except NotKnown:
        return None


def _ellipsis(m: Machine, frame: Frame, node: cst.Ellipsis) -> Value:
    return Const(...)


# -- displays and comprehensions


def _elements(m: Machine, frame: Frame, elements: Sequence[cst.BaseElement]) -> Tuple:
    result = Tuple(())
    for element in elements:
        if type(element) is cst.StarredElement:
            value = m.evaluate(frame, element.value)
            result = sequences.concatenate(result, sequences.iterate(m, value, m.place(frame, element), whole=True))
        else:
            result = sequences.concatenate(result, Tuple((m.evaluate(frame, element.value),)))
    return result


def _tuple(m: Machine, frame: Frame, node: cst.Tuple) -> Value:
    return _elements(m, frame, node.elements)


def _list(m: Machine, frame: Frame, node: cst.List) -> Value:
    return m.new_list(m.place(frame, node), _elements(m, frame, node.elements))


def _set(m: Machine, frame: Frame, node: cst.Set) -> Value:
    items = _elements(m, frame, node.elements)
    return m.new_list(m.place(frame, node), containers.as_set(items.items, items.rest), "set")


def _dict(m: Machine, frame: Frame, node: cst.Dict) -> Value:
    entries = Entries()
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            more = m.evaluate(frame, element.value)
            entries = sequences.updated(entries, containers.mapping(m, more, m.place(frame, element)))
        elif isinstance(element, cst.DictElement):
            key, value = m.evaluate(frame, element.key), m.evaluate(frame, element.value)
            entries = sequences.updated(entries, sequences.entry(key, value))
    return m.new_dict(m.place(frame, node), entries)


def _comprehension(
    m: Machine, frame: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp
) -> Value:
    inner = _comprehension_frame(m, frame, node)
    if isinstance(node, cst.DictComp) and (entries := _by_item(m, frame, inner, node)) is not None:
        return m.new_dict(m.place(frame, node), entries)
    found: list[tuple[Value, ...]] = []
    learned = m.learned
    sure = _clauses(m, frame, inner, node.for_in, node, found)
    m.learned = learned  # what is not done for each element is not known behind them
    place = m.place(frame, node)
    if isinstance(node, cst.DictComp):
        pairs = [(row[0], row[1]) for row in found]
        if sure:
            entries = Entries()
            for key, value in pairs:
                entries = sequences.updated(entries, sequences.entry(key, value))
            return m.new_dict(place, entries)
        return m.new_dict(place, Entries((), choice([value for _, value in pairs]) if pairs else UNKNOWN))
    values = [row[0] for row in found]
    items = Tuple(tuple(values)) if sure else Tuple((), choice(values) if values else UNKNOWN)
    if isinstance(node, cst.SetComp):
        items = containers.as_set(items.items, items.rest)
    kind = {cst.SetComp: "set", cst.GeneratorExp: "iterator"}.get(type(node), "list")
    return m.new_list(place, items, kind)


def _by_item(m: Machine, outer: Frame, inner: Frame, node: cst.DictComp) -> Entries | None:
    """What `{… for key, value in held.items() if …}` takes over of a dict that may hold more than is known of it."""
    match node.for_in:
        case (
            cst.CompFor(
                iter=cst.Call(func=cst.Attribute(value=cst.Name() as name, attr=cst.Name(value="items")), args=()),
                inner_for_in=None,
            ) as clause
        ):
            held = m.evaluate(outer, name)
        case _:
            return None
    entries = m.entries(held) if isinstance(held, Dict) else Entries()
    if not entries.pairs or not (entries.rest or entries.optional) or len(entries.pairs) > MAX_PASSES:
        return None
    rows = [(Tuple((key, value)), key not in entries.optional) for key, value in entries.pairs]
    if entries.rest is not None:
        rows.append((Tuple((UNKNOWN, entries.rest)), False))
    taken, missing = Entries(), set[Value]()
    for row, there in rows:
        found: list[tuple[Value, ...]] = []
        run = partial(_passes, m, outer, inner, clause, node, found, (row,))
        sure = run() if there else m.perhaps(run)
        for key, value in found:
            taken = sequences.updated(taken, sequences.entry(key, value))
            if not (there and sure):
                missing.add(key)
    kept = {key for key, _ in taken.pairs}
    return replace(taken, optional=frozenset(missing & kept), shuffled=entries.shuffled or taken.shuffled)


def _comprehension_frame(m: Machine, frame: Frame, node: cst.BaseComp) -> Frame:
    names: set[str] = set()
    clause: cst.CompFor | None = node.for_in
    while clause is not None:
        names.update(target_names(clause.target))
        clause = clause.inner_for_in
    return m.program.frame(node, "function", frame.source, None, m.context, frame, frozenset(names), frame.owner)


def _clauses(
    m: Machine, outer: Frame, inner: Frame, clause: cst.CompFor, node: cst.BaseComp, found: list[tuple[Value, ...]]
) -> bool:
    """Run one `for … if …` of a comprehension; false when how often it yields is not known."""
    sequence = sequences.iterate(m, m.evaluate(outer, clause.iter), m.place(outer, clause.iter))
    sure = sequence.rest is None and len(sequence.items) <= MAX_PASSES
    if not sure:
        element = sequences.anything(sequence)
        m.perhaps(lambda: _passes(m, outer, inner, clause, node, found, (element,)))
        return False
    return _passes(m, outer, inner, clause, node, found, sequence.items)


def _passes(
    m: Machine,
    outer: Frame,
    inner: Frame,
    clause: cst.CompFor,
    node: cst.BaseComp,
    found: list[tuple[Value, ...]],
    elements: tuple[Value, ...],
) -> bool:
    """Run what stands behind one `for` of a comprehension once for each element; false when a test is not known."""
    sure = True
    context = m.context
    for index, element in enumerate(elements):
        m.context = context.at(m.place(outer, clause), index)
        assign(m, inner, clause.target, element)
        outcome: bool | None = True
        for test in clause.ifs:
            outcome = truth(m, m.evaluate(inner, test.test))
            if outcome is not True:
                break
        if outcome is False:
            continue
        sure = sure and outcome is True
        if clause.inner_for_in is not None:
            sure = _clauses(m, inner, inner, clause.inner_for_in, node, found) and sure
        elif isinstance(node, cst.DictComp):
            found.append((m.evaluate(inner, node.key), m.evaluate(inner, node.value)))
        elif isinstance(node, cst.BaseSimpleComp):
            found.append((m.evaluate(inner, node.elt),))
    m.context = context
    return sure


# -- operators


def _binary(m: Machine, frame: Frame, node: cst.BinaryOperation) -> Value:
    left, right = m.evaluate(frame, node.left), m.evaluate(frame, node.right)
    return binary(m, type(node.operator).__name__, left, right, m.place(frame, node))


def binary(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value:
    """`left <name> right` for an operator of LibCST's naming."""
    if isinstance(left, Const) and isinstance(right, Const):
        folded = _fold(name, left.value, right.value)
        if type(folded) is Const and type(folded.value) in _NUMBERS:
            folded.parts = (name, left, right)
        return folded
    if isinstance(left, Choice) or isinstance(right, Choice):
        pairs = [(a, b) for a in options(left) for b in options(right)]
        if len(pairs) > _MAX_PAIRS:
            return UNKNOWN
        return choice(tensors.in_doubt(m, [partial(binary, m, name, a, b, place) for a, b in pairs]))
    if type(left) is Varying or type(right) is Varying:
        return versions.binary(m, name, left, right, place)
    if name == "Modulo" and isinstance(left, Const) and isinstance(left.value, str):
        losses.written(m, [left, right], place, "operator.%")
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return tensors.operator(m, name, left, right, place)
    if isinstance(left, Array) or isinstance(right, Array):
        return arrays.operator(m, name, left, right, place)
    if name == "Add" and _is_sequence(left) and _is_sequence(right):
        both = sequences.concatenate(sequences.iterate(m, left, place), sequences.iterate(m, right, place))
        return m.new_list(place, both) if isinstance(left, List) else both
    if name == "Multiply" and isinstance(left, Const) and _is_sequence(right):
        left, right = right, left
    if name == "Multiply" and _is_sequence(left) and isinstance(right, Const):
        items = sequences.iterate(m, left, place)
        times = right.value
        if isinstance(times, int) and items.rest is None and len(items.items) * times <= 256:
            result = Tuple(items.items * times)
        else:
            result = Tuple((), sequences.anything(items))
        return m.new_list(place, result) if isinstance(left, List) else result
    if name == "Modulo" and isinstance(left, Const) and isinstance(right, (Tuple, Dict)):
        try:
            return _fold(name, left.value, concrete(m, right))
        except NotKnown:
            return UNKNOWN
    if name in _OF_SETS and isinstance(left, List) and left.kind in ("set", "keys"):
        as_set = List(left.address, "set")
        return containers.list_method(m, as_set, _OF_SETS[name], Arguments((right,)), place)
    if name == "BitOr" and isinstance(left, Dict) and isinstance(right, Dict):
        return m.new_dict(place, sequences.updated(m.entries(left), m.entries(right)))
    special = objects.operator_method(m, name, left, right, place)
    if special is not None:
        return special
    if name in _COMPARED and isinstance(left, _COMPARABLE) and isinstance(right, _COMPARABLE):
        try:
            return Const(bool(fold(name, concrete(m, left), concrete(m, right))))
        except NotKnown:
            if versions.varies(m, left) or versions.varies(m, right):
                return versions.binary(m, name, left, right, place)
    asked = questions.about_a_number(name, left, right)
    if asked is not None:
        return asked
    if name in ("Equal", "NotEqual"):
        same = _same(m, left, right)
        if same is not None:
            return Const(same if name == "Equal" else not same)
        if name == "NotEqual":
            return _negated(m, binary(m, "Equal", left, right, place))
        candidates.note_comparison(m, left, right)
        candidates.note_comparison(m, right, left)
    unknown: Value = derived(name, left, right)
    if isinstance(left, Unknown) and left.candidates:
        return candidates.through(left, unknown, lambda value: binary(m, name, value, right, place))
    return candidates.through(right, unknown, lambda value: binary(m, name, left, value, place))


_NUMBERS: Final = (int, float)
_MAX_PAIRS: Final = 9
"""Of operands with more alternatives together the result is not known."""
_COMPARED: Final = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_COMPARABLE: Final = (Tuple, List, Dict, Const, Range, Instance)
_OF_SETS: Final = {
    "BitOr": "union",
    "BitAnd": "intersection",
    "Subtract": "difference",
    "BitXor": "symmetric_difference",
}


def _is_sequence(value: Value) -> bool:
    return isinstance(value, Tuple) or (isinstance(value, List) and value.kind == "list")


def _fold(name: str, left: object, right: object) -> Value:
    try:
        result = fold(name, left, right)
    except NotKnown:
        return UNKNOWN
    if isinstance(result, (str, bytes)) and len(result) > MAX_TEXT:
        return UNKNOWN
    return Const(result) if isinstance(result, (bool, int, float, complex, str, bytes)) else UNKNOWN


_MIXED_IN: Final = frozenset({"builtins.str", "builtins.int", "enum.StrEnum", "enum.IntEnum"})
"""Bases that make the members of an enumeration equal to their values."""


def _same(m: Machine, left: Value, right: Value) -> bool | None:
    """Whether two values that are not both constants are equal; None when not known."""
    for a, b in ((left, right), (right, left)):
        if isinstance(a, DType):
            name = tensors.dtype_of(m, b)
            return name == a.name if name is not None else None
        if isinstance(a, Policy) and a.name is not None and isinstance(b, Const):
            return a.name == b.value
    for a, b in ((left, right), (right, left)):
        if is_member(a) and isinstance(b, Const) and isinstance(a.cls, Class) and _MIXED_IN & set(library_bases(a.cls)):
            return m.field(a.address, "value") == b
    if is_member(left) and is_member(right):
        return left == right or m.field(left.address, "value") == m.field(right.address, "value")
    known = (Function, Class, Module, Instance, DType, Tuple, Const, List, Dict)
    if isinstance(left, known) and isinstance(right, known) and type(left) is not type(right):
        return None if any(_may_equal(m, value) for value in (left, right)) else False
    if isinstance(left, Instance) and isinstance(right, Instance) and not _may_equal(m, left):
        return _identical(m, left, right)
    if isinstance(left, (Function, Class, Module)) and type(left) is type(right):
        return left == right
    if isinstance(left, Api) and isinstance(right, Api) and is_known(left.path):
        return left.path == right.path if is_known(right.path) else None
    if isinstance(left, Api) and isinstance(right, Const) and is_callable(left.path):
        return False
    return None


def _may_equal(m: Machine, value: Value) -> bool:
    """Whether an object may say that it equals another one."""
    if not isinstance(value, Instance):
        return False
    cls = value.cls
    if is_member(value) and isinstance(cls, Class):
        return bool(_MIXED_IN & set(library_bases(cls)))
    return not isinstance(cls, Class) or not is_closed(cls) or is_dataclass(m, cls)


def _comparison(m: Machine, frame: Frame, node: cst.Comparison) -> Value:
    left = m.evaluate(frame, node.left)
    results: list[Value] = []
    for part in node.comparisons:
        right = m.evaluate(frame, part.comparator)
        results.append(compare(m, type(part.operator).__name__, left, right, m.place(frame, node)))
        left = right
    if len(results) == 1:
        return results[0]
    outcomes = [truth(m, result) for result in results]
    return FALSE if False in outcomes else TRUE if all(outcomes) else UNKNOWN


_HELD: Final = (Instance, List, Dict)
"""Objects with an address: each place makes another one."""


def compare(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value:
    """`left <name> right` for a comparison of LibCST's naming."""
    if isinstance(left, Choice) and not isinstance(right, Choice):
        return choice([compare(m, name, option, right, place) for option in left.options])
    match name:
        case "Is" | "IsNot" if right in (TRUE, FALSE):
            if questions.is_question(left):
                return left if (name == "Is") is (right == TRUE) else _negated(m, left)
            return binary(m, "Equal" if name == "Is" else "NotEqual", left, right, place)
        case "Is" | "IsNot":
            same = _identical(m, left, right)
            if same is None and (is_member(left) or is_member(right)):
                return binary(m, "Equal" if name == "Is" else "NotEqual", left, right, place)
            if same is None:
                value: Value = derived("is", left, right)
                return _negated(m, value) if name == "IsNot" else value
            return Const(same if name == "Is" else not same)
        case "In" | "NotIn" if type(left) is Varying or type(right) is Varying:
            return versions.binary(m, name, left, right, place)
        case "In" | "NotIn":
            inside = _contains(m, left, right, place)
            if inside is None:
                value = _membership(m, left, right, place)
                return _negated(m, value) if name == "NotIn" else value
            return Const(inside if name == "In" else not inside)
        case _:
            return binary(m, name, left, right, place)


def _membership(m: Machine, left: Value, right: Value, place: Place) -> Value:
    """The unknown `left in right`: a container that is written out here is the same each time."""
    if right == environment.ENVIRON:
        given = environment.get(m, Arguments((left,)), place)
        return _negated(m, compare(m, "Is", given, NONE, place))
    named: Value = derived("in", left, right)
    if isinstance(left, Unknown) and left.symbol is not None:
        listed: tuple[Value, ...] = ()
        if isinstance(right, Dict):
            listed = tuple(key for key, _ in m.entries(right).pairs) if m.entries(right).rest is None else ()
        elif isinstance(right, Tuple) or (isinstance(right, List) and right.kind != "iterator"):
            items = right if isinstance(right, Tuple) else m.items(right)
            listed = items.items if items.rest is None else ()
        for item in listed:
            candidates.note_comparison(m, left, item)
        if listed and all(isinstance(item, Const) for item in listed):
            named = Unknown(Symbol("in", left.symbol, Tuple(listed)))
        elif named == UNKNOWN:
            return Unknown(Symbol("in", left.symbol, place))

    def held(needle: Value, hay: Value) -> Value:
        inside = _contains(m, needle, hay, place)
        return UNKNOWN if inside is None else Const(inside)

    if isinstance(right, Unknown):
        return candidates.through(right, named, lambda hay: held(left, hay))
    return candidates.through(left, named, lambda needle: held(needle, right))


def _identical(m: Machine, left: Value, right: Value) -> bool | None:
    if isinstance(left, Const) and isinstance(right, Const):
        return left == right
    for a, b in ((left, right), (right, left)):
        if a == NONE and not isinstance(b, (Unknown, Choice, Const)):
            return False if not isinstance(b, Api) or is_object(b.path) else None
    if isinstance(left, _HELD) and isinstance(right, _HELD):
        if left.address is right.address:
            return None if m.is_several(left.address) else True
        return False
    if isinstance(left, (Tuple, Range)) or isinstance(right, (Tuple, Range)):
        return False if isinstance(left, _HELD) or isinstance(right, _HELD) else None
    return _same(m, left, right)


def _contains(m: Machine, needle: Value, hay: Value, place: Place) -> bool | None:
    if type(hay) is Instance and (isinstance(hay.cls, Api) or class_attribute(m, hay.cls, "__contains__") is None):
        hay = mappings.view(hay)
    match hay:
        case Const(value=str(text)):
            return needle.value in text if isinstance(needle, Const) and isinstance(needle.value, str) else None
        case List(kind="iterator"):
            items = sequences.iterate(m, hay, place)
            return None if items.items or items.rest is not None else False
        case Tuple() | List():
            items = hay if isinstance(hay, Tuple) else m.items(hay)
            outcomes = [_are_equal(m, item, needle, place) for item in items.items]
            if True in outcomes:
                return True
            return None if None in outcomes or items.rest is not None else False
        case Dict():
            return sequences.holds(m.entries(hay), needle)
        case Api(path="os.environ"):
            return environment.holds(m, needle)
        case Fields():
            name = needle.value if isinstance(needle, Const) else None
            return namespaces.has(m, hay, name) if isinstance(name, str) else None
        case Instance(cls=Class() as cls):
            method = class_attribute(m, cls, "__contains__")
            if method is not None:
                return truth(m, m.call(Bound(hay, method), Arguments((needle,)), place))
            return _contains(m, needle, sequences.iterate(m, hay, place), place) if is_closed(cls) else None
        case _:
            return None


def _are_equal(m: Machine, item: Value, needle: Value, place: Place) -> bool | None:
    if isinstance(item, Unknown) or isinstance(needle, Unknown):
        return None
    return _identical(m, item, needle) or truth(m, binary(m, "Equal", item, needle, place))


def _negated(m: Machine, value: Value) -> Value:
    outcome = truth(m, value)
    if outcome is not None:
        return Const(not outcome)
    return candidates.through(value, derived("not", value), lambda inner: _negated(m, inner))


def _boolean(m: Machine, frame: Frame, node: cst.BooleanOperation) -> Value:
    left = m.evaluate(frame, node.left)
    outcome = truth(m, left)
    is_and = type(node.operator) is cst.And
    if outcome is not None:
        return m.evaluate(frame, node.right) if outcome is is_and else left
    symbol, holds = decisive(left)
    learned = m.learned
    right = m.evaluate(frame, node.right)
    m.learned = learned  # whether that was run is not known
    decided = truth(m, right)
    if is_and and decided is False:
        return right
    if not is_and and decided is True and isinstance(right, Const) and isinstance(right.value, bool):
        return right
    if decided is not None and isinstance(right, Const) and isinstance(right.value, bool):
        return left if isinstance(left, Unknown) else UNKNOWN  # `x and True`, `x or False`: decided by x alone
    if isinstance(left, Unknown) and isinstance(right, Unknown):
        return candidates.connected("and" if is_and else "or", left, right)
    # `x or default`, `x and value`: x decides which of the two it is
    return _one_of_two(m, symbol, holds is not is_and, [left, right])


def _unary(m: Machine, frame: Frame, node: cst.UnaryOperation) -> Value:
    value = m.evaluate(frame, node.expression)
    if type(node.operator) is cst.Not:
        return _negated(m, value)
    name = type(node.operator).__name__
    if isinstance(value, (Tensor, Array)):
        return tensors.unary(m, name, value, m.place(frame, node))
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        number = value.value
        if name == "Minus":
            return Const(-number)
        if name == "Plus":
            return Const(+number)
        if name == "BitInvert" and isinstance(number, int):
            return Const(~number)
    return derived(name, value)


def _conditional(m: Machine, frame: Frame, node: cst.IfExp) -> Value:
    outcome, symbol, positive, narrowed, by_release = condition(m, frame, node.test)
    if outcome is not None:
        with m.falling_back(by_release):
            return m.evaluate(frame, node.body if outcome else node.orelse)
    values: list[Value] = []

    def arm(expression: cst.BaseExpression, taken: bool) -> Callable[[], bool]:
        def run() -> bool:
            bind_narrowed(m, frame, narrowed, taken)
            with m.falling_back(by_release):
                values.append(m.assuming(symbol, taken is positive, lambda: m.evaluate(frame, expression)))
            return True

        return run

    m.alternatives([arm(node.body, True), arm(node.orelse, False)], (symbol,) if symbol is not None else (), positive)
    return _one_of_two(m, symbol, positive, values)


def _one_of_two(m: Machine, symbol: Symbol | None, first: bool, values: list[Value]) -> Value:
    """One of two values: the first where the condition comes out as `first`, else the second."""
    if symbol is None:
        return m.one_of(values)
    m.join_values(values, (symbol,))
    return m.one_of(values, (symbol,), [{symbol: first}, {symbol: not first}])


def _walrus(m: Machine, frame: Frame, node: cst.NamedExpr) -> Value:
    value = m.evaluate(frame, node.value)
    home = frame
    while home.code is None and home.parent is not None and home.kind == "function":  # out of a comprehension
        home = home.parent
    assign(m, home, node.target, value)
    return value


# -- access


def _attribute(m: Machine, frame: Frame, node: cst.Attribute) -> Value:
    return m.attribute(m.evaluate(frame, node.value), node.attr.value, m.place(frame, node))


def _subscript(m: Machine, frame: Frame, node: cst.Subscript) -> Value:
    value = m.evaluate(frame, node.value)
    place = m.place(frame, node)
    if len(node.slice) != 1:
        for element in node.slice:
            if isinstance(element.slice, cst.Index):
                m.evaluate(frame, element.slice.value)
        if isinstance(value, Tensor):
            return tensors.part_of(m, value, place)
        return value if isinstance(value, (Array, Api, Class)) else predicted(models_behind(value))
    inner = node.slice[0].slice
    if type(inner) is cst.Slice:
        bounds = [
            NONE if bound is None else m.evaluate(frame, bound) for bound in (inner.lower, inner.upper, inner.step)
        ]
        return choice([_sliced(m, option, bounds, place) for option in options(value)])
    assert isinstance(inner, cst.Index)
    index = m.evaluate(frame, inner.value)
    results = [subscript(m, option, key, place) for option in options(value) for key in options(index)]
    return choice(results)


def _sliced(m: Machine, value: Value, bounds: list[Value], place: Place) -> Value:
    match value:
        case Tuple():
            return sequences.slice_of(value, *bounds)
        case List():
            return m.new_list(place, sequences.slice_of(m.items(value), *bounds))
        case Range():
            return m.new_list(place, sequences.slice_of(sequences.iterate(m, value, place), *bounds))
        case Const(value=str(text)):
            part = sequences.numbers(*bounds)
            return Const(text[part]) if part is not None else UNKNOWN
        case Tensor():
            return tensors.part_of(m, value, place)
        case Array():
            return value
        case Varying() if (part := sequences.numbers(*bounds)) is not None:
            return versions.apply(m, lambda text: text[part], (value,), place, "slice")
        case _:
            return derived("slice", value, *bounds)


def subscript(m: Machine, value: Value, index: Value, place: Place) -> Value:
    """`value[index]`."""
    if type(value) is Instance and (isinstance(value.cls, Api) or class_attribute(m, value.cls, "__getitem__") is None):
        value = mappings.view(value)
    if isinstance(value, (Tuple, List, Dict)) and questions.is_question(index):
        return _answered(m, value, index, place)
    match value:
        case Tuple() | List():
            items = value if isinstance(value, Tuple) else m.items(value)
            match index:
                case Const(value=int(i)):
                    return sequences.item(items, i)
                case _:
                    return sequences.anything(items) if items.items or items.rest else UNKNOWN
        case Range():
            return subscript(m, sequences.iterate(m, value, place), index, place)
        case Dict():
            unsure = candidates.looked_up(index, m.entries(value))
            if unsure is not None and m.state.get((value.address, sequences.FACTORY)) is None:
                return unsure
            found = sequences.lookup(m.entries(value), index)
            if found is None or index not in dict(m.entries(value).pairs):
                return _made_up(m, value, index, found, place)
            return found
        case Fields():
            held = None
            if isinstance(index, Const) and isinstance(index.value, str):
                held = namespaces.read(m, value, index.value)
                if held is None and isinstance(value.of, Instance):
                    held = mappings.missing(m, value.of, index.value)
            elif isinstance(value.of, Frame):
                return namespaces.looked_up(m, value.of, index)
            return UNKNOWN if held is None else held
        case Const(value=str(text)):
            match index:
                case Const(value=int(i)) if -len(text) <= i < len(text):
                    return Const(text[i])
                case _:
                    return UNKNOWN
        case Tensor():
            return tensors.part_of(m, value, place)
        case Class() if is_enum(value):
            return enum_item(m, value, index)
        case Array() | Class():  # a generic class: List[int]
            return value
        case Instance() if tuple_fields(m, value) is not None:
            return subscript(m, sequences.iterate(m, value, place), index, place)
        case Instance(cls=Class() as cls):
            method = class_attribute(m, cls, "__getitem__")
            return UNKNOWN if method is None else m.call(Bound(value, method), Arguments((index,)), place)
        case Api(path="os.environ"):
            return environment.item(m, index)
        case absl.FLAGS:
            return absl.item(index)
        case Api():
            return value if is_callable(value.path) else derived("item", value, index)
        case Varying():
            return versions.apply(m, operator.getitem, (value, index), place, "item")
        case _:
            return derived("item", value, index)


def _answered(m: Machine, value: Value, question: Value, place: Place) -> Value:
    """`{True: a, False: b}[question]`, `(b, a)[question]`: as `a if question else b`."""
    outcome = truth(m, question)
    if outcome is not None:
        return subscript(m, value, Const(outcome), place)
    values = [subscript(m, value, TRUE, place), subscript(m, value, FALSE, place)]
    symbol, holds = decisive(question)
    return _one_of_two(m, symbol, holds, values)


def _made_up(m: Machine, value: Dict, key: Value, found: Value | None, place: Place) -> Value:
    """`d[key]` where there may be no such key: a `defaultdict` makes what is missing, and keeps it."""
    factory = m.state.get((value.address, sequences.FACTORY))
    if not isinstance(factory, Value):
        return UNKNOWN if found is None else found
    fresh = m.call(factory, Arguments(), place)
    result = fresh if found is None else choice([found, fresh])
    m.put_entries(value.address, sequences.updated(m.entries(value), sequences.entry(key, result)))
    return result


# -- calls and functions


def _call(m: Machine, frame: Frame, node: cst.Call) -> Value:
    place = m.place(frame, node)
    func = node.func
    if type(func) is cst.Name and func.value == "super" and not node.args:
        return objects.super_of(m, frame)
    callee = m.evaluate(frame, func)
    if callee is NEVER:
        return NEVER
    result = m.call(callee, arguments(m, frame, node.args), place)
    # a nameless unknown gets a name, so that conditions on it stay the same condition
    nameless = type(result) is Unknown and result.symbol is None
    return Unknown(Symbol("value", place, m.context)) if nameless else result


def arguments(m: Machine, frame: Frame, args: Sequence[cst.Arg]) -> Arguments:
    """The evaluated arguments of a call."""
    positional: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    rest: Value | None = None
    more: Value | None = None
    for arg in args:
        value = m.evaluate(frame, arg.value)
        if arg.star == "*":
            sequence = sequences.iterate(m, value, m.place(frame, arg), whole=True)
            if rest is None:
                positional.extend(sequence.items)
                rest = sequence.rest
            else:
                rest = choice([rest, sequences.anything(sequence)])
        elif arg.star == "**":
            found, others = containers.as_keywords(m, value, m.place(frame, arg))
            keywords += found
            more = more if others is None else others
        elif arg.keyword is not None:
            keywords.append((arg.keyword.value, value))
        elif rest is not None:
            rest = choice([rest, value])
        else:
            positional.append(value)
    return Arguments(tuple(positional), tuple(keywords), rest, more)


def _lambda(m: Machine, frame: Frame, node: cst.Lambda) -> Value:
    code = m.program.function_code(node, frame.source, frame)
    defaults = tuple((p.name, m.evaluate(frame, p.default)) for p in code.parameters if p.default is not None)
    return Function(code, frame, defaults)


def _await(m: Machine, frame: Frame, node: cst.Await) -> Value:
    return m.evaluate(frame, node.expression)


def _yield(m: Machine, frame: Frame, node: cst.Yield) -> Value:
    if isinstance(node.value, cst.From):
        items = sequences.iterate(m, m.evaluate(frame, node.value.item), m.place(frame, node))
        for item in items.items:
            objects.yielded(m, item)
        if items.rest is not None:
            objects.yielded(m, items.rest)
            m.stack[-1].loose = True
    else:
        objects.yielded(m, NONE if node.value is None else m.evaluate(frame, node.value))
    return UNKNOWN


HANDLERS: Final[dict[type[cst.CSTNode], Callable[..., Value]]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.SimpleString: _literal,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _formatted,
    cst.Integer: _literal,
    cst.Float: _literal,
    cst.Imaginary: _literal,
    cst.Ellipsis: _ellipsis,
    cst.Tuple: _tuple,
    cst.List: _list,
    cst.Set: _set,
    cst.Dict: _dict,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _comprehension,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.NamedExpr: _walrus,
    cst.Subscript: _subscript,
    cst.Lambda: _lambda,
    cst.Await: _await,
    cst.Yield: _yield,
}
