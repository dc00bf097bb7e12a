"""Abstract values: what an expression of the program can stand for.

Values are immutable and hashable.  Whatever the program can mutate (lists, dicts, instances, layers, models) is an
`Address` whose contents live in the `State`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from typing import TypeGuard

    import libcst as cst
    from typing_extensions import dataclass_transform

    from mplint.interpreter.code import ClassCode, FunctionCode
    from mplint.interpreter.frames import Context, Frame
    from mplint.source.file import SourceFile
else:

    def dataclass_transform(**_: object) -> Callable[[_T], _T]:
        """Says something to type checkers alone."""
        return lambda decorator: decorator


_T = TypeVar("_T")


class Symbol:
    """The origin of an unknown value, as a small expression tree: equal symbols are equal values in one run.

    `parts` are the kind of the expression and its operands; `size` counts the nodes of the tree; where it is certainly
    one of a few values, `domain` holds them; `is_compound` says that its tree holds a connective (`a and b`),
    `is_predicted` that it holds what a model predicts.
    """

    __slots__ = ("_has_domain", "_hash", "_subjects", "_tree", "domain", "is_compound", "is_predicted", "parts", "size")

    def __init__(self, *parts: object, domain: tuple[Value, ...] = ()) -> None:
        self.parts = parts
        self.domain = domain
        self.size = 1
        self.is_compound = parts[0] in CONNECTIVES
        self.is_predicted = parts[0] == _PREDICTED
        self._has_domain = bool(domain)
        for part in parts:
            if type(part) is Symbol:
                self.size += part.size
                self.is_compound = self.is_compound or part.is_compound
                self.is_predicted = self.is_predicted or part.is_predicted
                self._has_domain = self._has_domain or part._has_domain
        self._hash = hash(parts)
        self._tree: dict[Symbol, None] | None = None
        self._subjects: KeysView[Symbol] | None = None

    @property
    def tree(self) -> KeysView[Symbol]:
        """The symbol and all that it is made from, in order."""
        if self._tree is None:
            self._tree = {self: None}
            for part in self.parts:
                if type(part) is Symbol:
                    self._tree.update(dict.fromkeys(part.tree))
        return self._tree.keys()

    @property
    def subjects(self) -> KeysView[Symbol]:
        """What it says something about where its outcome is known.

        Itself, the conditions that it joins, and what is equal to something.
        """
        if self._subjects is None:
            found = {self: None}
            kind, *operands = self.parts
            for part in operands if kind in CONNECTIVES else operands[:1] if kind in ("Equal", "is") else ():
                if type(part) is Symbol:
                    found.update(dict.fromkeys(part.subjects))
            self._subjects = found.keys()
        return self._subjects

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Symbol) or self._hash != other._hash or self.parts != other.parts:
            return False
        if not self._has_domain and not other._has_domain:
            other.parts = self.parts  # equal as they are, it takes no second look at what they are made from
        return True

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Symbol{self.parts!r}"


CONNECTIVES: Final = frozenset({"not", "bool", "and", "or", "if"})
"""The kinds of symbols that join conditions; `if` has a condition, what it is where that holds, and what else."""
MAX_OPTIONS: Final = 5
"""More alternatives than this become unknown, with what they share."""
MAX_CALLED: Final = 16
"""So many functions and classes of the program may be alternatives: a registry, from which some name takes one."""
_MAX_SYMBOL: Final = 40
_PREDICTED: Final = "predicted"


class Place:
    """A node of the program: its file and its syntax node (interned: compare with is)."""

    __slots__ = ("node", "source")

    def __init__(self, source: SourceFile, node: cst.CSTNode) -> None:
        self.source = source
        self.node = node

    def __repr__(self) -> str:
        return f"Place({self.source.path.name}, {type(self.node).__name__})"


class Address:
    """Where a mutable object lives: the place that allocates it, in one calling context (interned: compare with is)."""

    __slots__ = ("context", "place", "role")

    def __init__(self, place: Place, context: Context, role: str) -> None:
        self.place = place
        self.context = context
        self.role = role

    def __repr__(self) -> str:
        return f"Address({self.place!r}, {self.role})"


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(*, eq: bool = True) -> Callable[[type[_T]], type[_T]]:
    """A dataclass with slots, frozen to a type checker alone: what is frozen at run time, too, takes longer to make."""
    return dataclass(slots=True, eq=eq, unsafe_hash=eq)


class Value:
    """Base of all abstract values."""

    __slots__ = ()


class Const(Value):
    """A Python constant: None, bool, int, float, complex, str, bytes or Ellipsis.

    `parts` are the operator and the operands of the arithmetic that gives a number; they do not enter comparisons.
    """

    __slots__ = ("parts", "value")

    def __init__(self, value: object, parts: tuple[str, Const, Const] | None = None) -> None:
        self.value = value
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are equal in Python but are different values of the program
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


NONE: Final = Const(None)
TRUE: Final = Const(True)
FALSE: Final = Const(False)


@immutable()
class Candidate:
    """A value that an unknown may have: it does where the condition `symbol` comes out as `holds`."""

    value: Value
    symbol: Symbol
    holds: bool = True


@immutable()
class Unknown(Value):
    """Anything; with a symbol where its origin is known.

    And with the values that it is likely to have where the program names them (the choices and the default of an
    option); `closed` says that it has no others.
    """

    symbol: Symbol | None = None
    candidates: tuple[Candidate, ...] = field(default=(), compare=False)
    closed: bool = field(default=False, compare=False)


@immutable()
class Varying(Value):
    """What is made of a library's version: a Python object for each release that there may be, in their order.

    `symbol` is that of an unknown with the same origin.
    """

    cases: tuple[object, ...]
    symbol: Symbol | None = field(default=None, compare=False)


UNKNOWN: Final = Unknown()
NEVER: Final = Unknown(Symbol("never"))
"""The result of a call that does not return: it raises, or ends the program."""


def derived(kind: str, *parts: object) -> Unknown:
    """An unknown made from other values by `kind`; it keeps a symbol only while every part has a name.

    Beyond that it keeps the models from whose predictions it is computed.
    """
    symbols: list[object] = [kind]
    size = 1
    for part in parts:
        if isinstance(part, (Unknown, Varying)):
            if part.symbol is None:
                return _nameless(kind, parts)
            symbols.append(part.symbol)
            size += part.symbol.size
        elif isinstance(part, (Const, Api, str)) or is_member(part):
            symbols.append(part)
        else:
            return _nameless(kind, parts)
    return Unknown(Symbol(*symbols)) if size <= _MAX_SYMBOL else _nameless(kind, parts)


ASKING: Final = frozenset(
    {"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual", "is", "in", "not", "bool",
     "isinstance", "callable", "hasattr"}
)  # fmt: skip
"""The kinds of symbols that are questions: their values are True and False."""


def predicted(models: Iterable[Instance]) -> Unknown:
    """What is computed from the predictions of `models`; nothing more is known of it."""
    found = tuple(dict.fromkeys(models))
    return Unknown(Symbol(_PREDICTED, *found)) if 0 < len(found) <= _MAX_SYMBOL else UNKNOWN


def models_behind(value: Value) -> Iterable[Instance]:
    """The models from whose predictions an unknown is computed."""
    symbol = value.symbol if isinstance(value, Unknown) else None
    return () if symbol is None or not symbol.is_predicted else _predicting(symbol)


def _predicting(symbol: Symbol) -> Iterator[Instance]:
    stack = [symbol]
    while stack:
        kind, *parts = stack.pop().parts
        if kind == _PREDICTED:
            yield from (part for part in parts if isinstance(part, Instance))
        elif kind not in ASKING:
            stack.extend(part for part in _contents(kind, parts) if isinstance(part, Symbol))


def _contents(kind: object, parts: Sequence[object]) -> Sequence[object]:
    """What something is made of; which item of it was chosen is another question."""
    return parts[:1] if kind == "item" else parts


def _nameless(kind: str, parts: tuple[object, ...]) -> Unknown:
    if kind in ASKING:
        return UNKNOWN  # two questions about the same predictions may have different answers
    return predicted(
        model for part in _contents(kind, parts) if isinstance(part, Unknown) for model in models_behind(part)
    )


@immutable()
class Choice(Value):
    """One of several values; which one is not known."""

    options: tuple[Value, ...]


@immutable()
class Api(Value):
    """A name of an installed library, canonical where the table knows it: `keras.layers.Dense`, `numpy.pi`.

    `spelled` is the path that the program wrote (which copy of Keras it came from).
    """

    path: str
    spelled: str = field(default="", compare=False)


@immutable()
class Module(Value):
    """A module of the project; its namespace is the module's frame."""

    frame: Frame


@immutable()
class Function(Value):
    """A function or lambda of the program with its closure."""

    code: FunctionCode
    frame: Frame = field(repr=False)
    defaults: tuple[tuple[str, Value], ...] = field(default=(), repr=False)


class Class(Value):
    """A class of the program; its attributes are the bindings of `frame`.

    `mro` is what attribute lookup goes through: the program's own classes first, the library's behind them.
    """

    __slots__ = ("bases", "code", "frame", "mro")

    def __init__(self, code: ClassCode, frame: Frame, bases: tuple[Value, ...]) -> None:
        self.code = code
        self.frame = frame
        self.bases = bases
        order: list[Value] = [self]
        for base in bases:
            for entry in base.mro if isinstance(base, Class) else (base,):
                if entry in order:
                    order.remove(entry)
                order.append(entry)
        own = [entry for entry in order if isinstance(entry, Class)]
        self.mro: tuple[Value, ...] = (*own, *(entry for entry in order if not isinstance(entry, Class)))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Class) and self.frame is other.frame and self.bases == other.bases)

    def __hash__(self) -> int:
        return hash(self.frame)

    def __repr__(self) -> str:
        return f"Class({self.code.qualname})"


@immutable()
class Bound(Value):
    """A callable with its receiver: a method of the program, or (`callee` an `ApiMethod`) one of a library object."""

    receiver: Value
    callee: Value


@immutable()
class ApiMethod(Value):
    """The method `name` of a library object or builtin container; meaningful inside `Bound`."""

    name: str


@immutable()
class Partial(Value):
    """`functools.partial(callee, *args, **keywords)`."""

    callee: Value
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@immutable()
class Instance(Value):
    """An object with an address: of a class of the program, or of a library class (`cls` an `Api`)."""

    address: Address
    cls: Class | Api


@immutable()
class Tuple(Value):
    """An immutable sequence; `rest` joins the elements after `items` when their number is not known."""

    items: tuple[Value, ...]
    rest: Value | None = None


@immutable()
class List(Value):
    """A list, set or generator; its contents are the `Tuple` at (address, "[]")."""

    address: Address
    kind: str = "list"


@immutable()
class Dict(Value):
    """A dict; its contents are the `Entries` at (address, "{}")."""

    address: Address


@immutable()
class Entries:
    """What a dict holds: known pairs in order, and the join of values under unknown keys.

    Of the known keys, those in `optional` may be missing; of a `shuffled` dict their order is not known.
    """

    pairs: tuple[tuple[Value, Value], ...] = ()
    rest: Value | None = None
    optional: frozenset[Value] = frozenset()
    shuffled: bool = False


@immutable()
class Fields(Value):
    """The attributes of an object, or the variables of a module, as a dict: `vars(obj)`, `globals()`."""

    of: Instance | Frame


@immutable()
class Maybe(Value):
    """What a cell of the state holds that may be empty: `value` where it is not, None where it surely is.

    Only `Machine` reads it; no expression has it for a value, but an argument that may not be given.
    """

    value: Value | None


@immutable()
class Range(Value):
    """`range(start, stop, step)` with known bounds."""

    start: int
    stop: int
    step: int


@immutable()
class DType(Value):
    """A dtype object, by its canonical name; `text` says that it is no more than that name, a string."""

    name: str
    text: bool = field(default=False, compare=False)


@immutable()
class Policy(Value):
    """A dtype policy, by its name; `None` when not known.

    `set_by` is the call that made it the global policy, `named_by` the name that it was made from (for messages; they
    do not enter comparisons).  Of the global policy, `elsewhere` holds those of other copies of Keras that the program
    uses, where they differ.
    """

    name: str | None
    set_by: tuple[Place, ...] = field(default=(), compare=False, repr=False)
    elsewhere: tuple[tuple[str, Policy], ...] = ()
    named_by: Value | None = field(default=None, compare=False, repr=False)


@immutable()
class Undecided(Value):
    """The global policy behind branches that set different ones: one of `policies`, and `conditions` decide which.

    Whether that matters shows when the policy is asked for, or one of the conditions again; often neither happens.
    """

    conditions: tuple[Symbol, ...]
    policies: tuple[Policy, ...]

    @classmethod
    def of(cls, contents: Sequence[object], condition: Symbol | None) -> Undecided:
        """What is left where branches under `condition` meet that leave these contents of the policy's cell."""
        conditions: list[Symbol] = []
        policies: list[Policy] = []
        for content in contents:
            if isinstance(content, Undecided):
                conditions += content.conditions
                policies += content.policies
            elif isinstance(content, Policy):
                policies.append(content)
        if condition is not None:
            conditions.append(condition)
        return cls(tuple(dict.fromkeys(conditions)), tuple(dict.fromkeys(policies)))


class Made:
    """A node of the provenance graph: how a tensor came to be.

    `kind` is one of input, layer, operation, cast, model, composite, argument, variable, joined, softmaxes, or one of
    `Scaling`.  `place` is the call or expression that made it; `layer` the layer (or model) that was called, or whose
    variable it is; `computed_in` the dtype of the computation.  What a model, or a composite (a layer of the program)
    gives was computed inside: its one operand is that result, and `given` what the layer was called on.  `others` are
    operands of arithmetic that are no tensors, and what of the arguments of a function is not known; `arguments` are
    all that an operation or a cast was given, by parameter: an operator is given `left` and `right`, a cast `x`.
    """

    __slots__ = ("arguments", "by", "computed_in", "context", "given", "kind", "layer", "operands", "others", "place")

    def __init__(
        self,
        kind: str,
        place: Place | None,
        context: Context | None,
        *,
        by: str = "",
        layer: Instance | None = None,
        operands: tuple[Tensor, ...] = (),
        given: tuple[Tensor, ...] | None = None,
        computed_in: str | None = None,
        others: tuple[Value, ...] = (),
        arguments: tuple[tuple[str, Value], ...] = (),
    ) -> None:
        self.kind = kind
        self.place = place
        self.context = context
        self.by = by
        self.layer = layer
        self.operands = operands
        self.given = given
        self.computed_in = computed_in
        self.others = others
        self.arguments = arguments

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that the layer was called on, or the operation done to."""
        return self.operands if self.given is None else self.given

    def same(self, other: Made) -> bool:
        """Whether both stand for the same computation (the same place in the same context)."""
        return self is other or (
            self.kind == other.kind
            and self.place == other.place
            and self.context is other.context
            and self.layer == other.layer
        )

    def __repr__(self) -> str:
        return f"Made({self.kind}, {self.by}, {self.place!r})"


class Variable(Made):
    """How a variable comes to be that the program makes: the state holds at `address` what was assigned to it last."""

    __slots__ = ("address",)

    def __init__(
        self, place: Place, context: Context, *, by: str, address: Address, layer: Instance | None = None
    ) -> None:
        super().__init__("variable", place, context, by=by, layer=layer)
        self.address = address


class Scaling(Made):
    """A step of a training loop: its `kind` is one of scaled, unscaled, scale, gradient.

    `optimizer` is the one whose loss scale it is; `tapes` are the gradient tapes that record the step, or that take the
    gradient.  A scale is `stale` that was read when a function was compiled, and stays in it.
    """

    __slots__ = ("optimizer", "stale", "tapes")

    def __init__(
        self,
        kind: str,
        place: Place,
        context: Context,
        *,
        by: str,
        operands: tuple[Tensor, ...] = (),
        others: tuple[Value, ...] = (),
        optimizer: Instance | None = None,
        tapes: tuple[Instance, ...] = (),
        stale: bool = False,
    ) -> None:
        super().__init__(kind, place, context, by=by, operands=operands, others=others)
        self.optimizer = optimizer
        self.stale = stale
        self.tapes = tapes

    def same(self, other: Made) -> bool:
        """Whether both stand for the same step of the same optimizer."""
        return super().same(other) and isinstance(other, Scaling) and self.optimizer == other.optimizer


@immutable(eq=False)
class Tensor(Value):
    """A tensor: its dtype (None: not known), how it was made, and the softmax whose values it still carries.

    `symbolic` is true for a KerasTensor, false for a tensor with data, None where both are possible.
    `autocast` marks a layer's own variable, read in the compute dtype inside `call`.
    """

    dtype: str | None
    made: Made
    symbolic: bool | None = None
    softmax: Made | None = None
    autocast: bool = False

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Tensor)
            and self.dtype == other.dtype
            and self.symbolic == other.symbolic
            and (self.softmax is None) == (other.softmax is None)
            and self.made.same(other.made)
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.made.kind, self.made.place))


@immutable()
class Array(Value):
    """A NumPy array, or with `scalar` a NumPy scalar (None: either); its dtype where known.

    `number` is the value of a scalar, and that of all elements of an array that is filled with one; `rounded` is the
    call that made half precision of it, and `computed` an operation that it went through in that; `exact` says that
    nothing was lost so far. `of` is the tensor whose numbers it holds, where a loss scale may be in them.
    """

    dtype: str | None = None
    scalar: bool | None = None
    number: float | None = None
    rounded: Place | None = None
    computed: Place | None = None
    exact: bool = False
    of: Tensor | None = None


@immutable()
class Dataset(Value):
    """A `tf.data.Dataset`, by what one of its elements holds."""

    element: Value


def is_member(value: object) -> TypeGuard[Instance]:
    """Whether `value` is a member of an enum class."""
    return isinstance(value, Instance) and value.address.role.startswith("member ")


@immutable()
class Super(Value):
    """`super()`: attribute lookup on `receiver` starting behind `after` in the method resolution order."""

    receiver: Value
    after: Class


@immutable()
class Property(Value):
    """A property of a class, by its getter and its setter."""

    getter: Value
    setter: Value | None = None


@immutable()
class StaticMethod(Value):
    """A function that takes no receiver."""

    function: Value


@immutable()
class ClassMethod(Value):
    """A function whose receiver is the class."""

    function: Value


ABSENT: Final = Maybe(None)


HALF: Final = frozenset({"float16", "bfloat16"})
HALF_POLICIES: Final = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})
FLOATS: Final = frozenset({"float16", "bfloat16", "float32", "float64"})
WIDE: Final = FLOATS - HALF


OUTER: Final = frozenset({"model", "composite"})
"""Kinds of `Made` whose numbers were computed inside."""


def compute_dtype(policy: str | None) -> str | None:
    """The dtype that a layer of the policy `policy` computes in; None when not known."""
    if policy is None:
        return None
    return policy.removeprefix("mixed_")


def variable_dtype(policy: str | None) -> str | None:
    """The dtype of the variables of a layer of the policy `policy`; None when not known."""
    if policy is None:
        return None
    return "float32" if policy.startswith("mixed_") else policy


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives that `value` stands for."""
    return value.options if isinstance(value, Choice) else (value,)


def choice(values: list[Value]) -> Value:
    """One of `values`, flattened and without repetitions; what they share when they are too many."""
    first = values[0] if values else None
    for value in values:
        if value is not first:
            break
    else:
        if first is not None:
            return first
    flat: list[Value] = []
    for value in values:
        for option in options(value):
            if option not in flat:
                flat.append(option)
    if len(flat) == 1:
        return flat[0]
    if any(isinstance(option, Unknown) for option in flat) and not any(isinstance(option, Tensor) for option in flat):
        return _covering(flat)
    if all(isinstance(option, Tensor) for option in flat):
        tensors = [option for option in flat if isinstance(option, Tensor)]
        return tensors[0] if len(tensors) == 1 else _joined(tensors)
    most = MAX_CALLED if all(isinstance(option, (Function, Class)) for option in flat) else MAX_OPTIONS
    if len(flat) > most or not flat:
        return UNKNOWN
    return Choice(tuple(flat))


def _covering(values: list[Value]) -> Unknown:
    """The one of `values` that is not known, where all the others are among its candidates; else anything."""
    for value in values:
        if isinstance(value, Unknown):
            known = {candidate.value for candidate in value.candidates}
            return value if known and all(other is value or other in known for other in values) else UNKNOWN
    return UNKNOWN


def _joined(tensors: list[Tensor]) -> Tensor:
    """One tensor of several ways to be made; its operands are the alternatives."""
    alternatives: list[Tensor] = []
    for tensor in tensors:
        alternatives.extend(tensor.made.operands if tensor.made.kind == "joined" else (tensor,))
    kept: list[Tensor] = []
    for tensor in alternatives:
        if tensor not in kept:
            kept.append(tensor)
    first = kept[0]
    dtype = first.dtype if all(t.dtype == first.dtype for t in kept) else None
    symbolic = first.symbolic if all(t.symbolic == first.symbolic for t in kept) else None
    autocast = all(t.autocast for t in kept)
    if not autocast and any(t.autocast for t in kept):
        dtype = None  # they may have one dtype here, and others inside a call
    joined = Tensor(dtype, Made("joined", None, None, operands=tuple(kept)), symbolic, None, autocast)
    return made_somewhere(joined) if len(kept) > 2 * MAX_OPTIONS else joined


def made_somewhere(joined: Tensor) -> Tensor:
    """A tensor of too many ways to be made to speak of any of them."""
    return Tensor(joined.dtype, Made("argument", None, None), joined.symbolic)


def alternatives(tensor: Tensor) -> tuple[Tensor, ...]:
    """The ways in which `tensor` may have been made."""
    return tensor.made.operands if tensor.made.kind == "joined" else (tensor,)


def softmaxes(tensor: Tensor) -> tuple[Made, ...]:
    """The softmaxes whose values `tensor` still carries: several where tensors were put together."""
    if tensor.softmax is None or tensor.softmax.kind != "softmaxes":
        return () if tensor.softmax is None else (tensor.softmax,)
    return tuple(dict.fromkeys(leaf for operand in tensor.softmax.operands for leaf in softmaxes(operand)))
