"""What happened in one world, in order: the only thing that rules ever see of a run (through `World`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mplint.interpreter.frames import Context
from mplint.interpreter.values import (
    Address,
    Api,
    Const,
    Instance,
    Made,
    Place,
    Policy,
    Scaling,
    Symbol,
    Tensor,
    Value,
    immutable,
)
from mplint.keras_api import Copy, Use

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments


@immutable()
class LayerMade:
    """A layer, or an object of a subclass of Layer, was constructed by the call at `place`."""

    layer: Instance
    place: Place
    context: Context
    base: str
    """The library class: `keras.layers.Dense`; for a class of the program the library class that it derives from."""
    arguments: tuple[tuple[str, Value], ...]
    policy: Policy
    asked: bool
    """Whether the program gave the layer a dtype of its own."""


@immutable()
class ModelMade:
    """A model was constructed by the call at `place`; `form` is that of `world.Model`."""

    model: Instance
    place: Place
    context: Context
    form: str
    policy: Policy


@immutable()
class LayerCalled:
    """A layer or model was applied to tensors; `inner` when that is inside another model or on symbolic tensors."""

    layer: Instance
    place: Place
    inputs: tuple[Tensor, ...]
    output: Value
    inner: bool
    context: Context


@immutable()
class Returned:
    """A function of the program, entered by the call at `place`, gave a tensor."""

    place: Place
    context: Context
    output: Tensor


@immutable()
class VariableMade:
    """A variable was made by the call at `place`: `add_weight` or `tf.Variable`."""

    place: Place
    dtype: str | None


@immutable()
class ModelUsed:
    """A model became a part of something larger: it was called inside another one, cut open, or put into one."""

    model: Instance


@immutable()
class Opened:
    """A layer inside a model was taken out, or asked for what it gives: the model may be no more than its source."""

    model: Instance


@immutable()
class Escaped:
    """An object went into a call that nobody saw."""

    address: Address


@immutable()
class Settled:
    """A half-precision result of a model called on data was cast to float32 by its caller."""

    model: Instance


@immutable()
class PolicySet:
    """The global policy was set by the call at `place`."""

    place: Place
    context: Context
    policy: Policy
    copy: Copy
    """The copy of Keras that it was set in."""


@immutable()
class PolicyReset:
    """`clear_session()` at `place` put the global policy, which was `before`, back to the default (Keras 3)."""

    place: Place
    before: Policy


@immutable()
class PolicyRefused:
    """Keras raises over `value`, given as a policy by the call at `place`, or takes it though no layer works with it.

    `name` is what the value names and `use` what takes it; `guarded` says that an exception would be caught.
    """

    place: Place
    value: Value
    name: str
    use: Use
    guarded: bool


@immutable()
class ScopeEntered:
    """The body of `with strategy.scope():` begins; `strategy` is the class, None where it is not known."""

    strategy: str | None


@immutable()
class ScopeLeft:
    """The body of the innermost such statement ends."""


@immutable()
class Compiled:
    """`model.compile(...)`.

    `given` is the optimizer that it was given, or the name of one, `optimizer` what `model.optimizer` is behind it;
    `unscaled` says that the program has turned the scaling of the loss off, `chosen` that it names an optimizer,
    `jit` that it asks for XLA.
    """

    model: Instance
    context: Context
    policy: Policy
    """The global policy at the time."""
    place: Place
    given: Value
    optimizer: Value
    unscaled: bool
    chosen: bool
    jit: bool


@immutable()
class OptimizerMade:
    """An optimizer of the library was made: something is going to be trained."""

    place: Place
    context: Context
    optimizer: Instance
    arguments: tuple[tuple[str, Value], ...]


@immutable()
class OptimizerWrapped:
    """An optimizer was given to `wrapper`, what another library than Keras puts around optimizers."""

    place: Place
    context: Context
    optimizer: Instance
    wrapper: str


@immutable()
class OptimizerUsed:
    """A method of an optimizer of the library was called with `arguments`, or an attribute read.

    Of the attributes those that have to do with the loss scale, and those that this generation has not, methods among
    them: `keras_api.optimizers.has_member` says what there is.
    """

    place: Place
    context: Context
    optimizer: Instance
    name: str
    arguments: tuple[Value, ...] = ()


@immutable()
class GradientTaken:
    """The gradient of what `made` has as operands was taken with respect to `sources`.

    `several` says whether these are a sequence, and the gradient is one; None where that is not known.
    """

    place: Place
    context: Context
    made: Scaling
    sources: tuple[Tensor, ...]
    several: bool | None


@immutable()
class FunctionDifferentiated:
    """`jax.grad`, called at `at`, gave the gradient function that the call at `place` took the gradient `made` with.

    `function` is what was differentiated; `has_aux` says that only the first of what it gives is the loss, `with_value`
    that what it gives is given, too.
    """

    place: Place
    context: Context
    made: Scaling
    function: Value
    at: Place
    has_aux: bool
    with_value: bool


@immutable()
class GradientsApplied:
    """Gradients were given to an optimizer of the library, for `variables`; `whole` says that all of them are known.

    In a `stateless` step the optimizer's own variables are given, too, and its scale with them.
    """

    place: Place
    context: Context
    optimizer: Instance
    gradients: tuple[Tensor, ...]
    variables: tuple[Tensor, ...]
    whole: bool
    stateless: bool = False


@immutable()
class Reported:
    """Tensors were shown to people: put into a metric, logged, printed, or returned by a `train_step`."""

    place: Place
    context: Context
    values: tuple[Tensor, ...]
    how: str
    """What shows them: `update_state`, `tensorflow.summary.scalar`, `return`."""


@immutable()
class Computed:
    """An operator or a function of the library was applied at `place`, and half precision takes part.

    Or of a cross-entropy, may have before; or of products of matrices and convolutions, would without a cast right
    before them.

    `by` is its name as in the table (`operator.*`, `tensorflow.cast`), `arguments` what it was given by parameter: an
    operator is given `left` and `right`, a cast `x`; an object of a class of losses is there too, as `loss`, with its
    `from_logits`.  `result` is the tensor that comes out, the first of several, and None where it raises for operands
    of these dtypes.
    """

    place: Place
    context: Context
    by: str
    arguments: tuple[tuple[str, Value], ...]
    result: Tensor | None
    operands: tuple[Tensor, ...] = ()
    """The tensors among the arguments, those in lists too, as they were then."""
    inside: Instance | None = None
    """The layer, or object of the program's own, whose method computes."""


@immutable()
class Updated:
    """A layer's own variable, which the layer reads in half precision, was given another content at `place`."""

    place: Place
    context: Context
    method: str
    variable: Tensor
    """As the layer reads it."""
    given: Value
    inside: Instance | None


@immutable()
class Piped:
    """`map` of a `tf.data` pipeline was called at `place`; `element` is what its function gives for each element."""

    place: Place
    context: Context
    element: Value


@immutable()
class Fed:
    """Data in half precision, tensors or arrays, were given at `place` to `model`; to a dataset, where that is None."""

    place: Place
    context: Context
    model: Instance | None
    inputs: Value
    targets: Value


@immutable()
class Counted:
    """Whole numbers were made one after the other (`tf.range`): `made` says how, `stop` where they end, if known."""

    made: Made
    stop: int | None


@immutable()
class LossGiven:
    """Tensors are terms of what is trained: given to `add_loss`, or by a loss function that the library calls."""

    place: Place
    context: Context
    values: tuple[Tensor, ...]


@immutable()
class DTypeTaken:
    """The attribute `name` of a dtype was asked for, of a tensor of Keras 3 whose dtype is a string and has none."""

    place: Place
    context: Context
    name: str


@immutable()
class Applied:
    """Gradients were given to an optimizer, as far as the name of the method tells."""

    place: Place


@immutable()
class Ran:
    """A method of a model that computes or reads its weights: fit, evaluate, predict, load_weights."""

    model: Instance
    method: str
    policy: Policy


@immutable()
class Batched:
    """Data are put into batches of `size` by the call at `place`, which is told so as `parameter`, at `position`.

    `method` is what is called where nothing is known of its object: it is a dataset's where a model is fed from it.
    """

    place: Place
    size: Const
    parameter: str
    position: int
    method: Symbol | None = None


@immutable()
class FedFrom:
    """Something unknown is data for a model, or has a method that only datasets have."""

    symbol: Symbol


@immutable()
class Kept:
    """A model or its weights were written to a file."""

    model: Instance


@immutable()
class NameRead:
    """A name of a library that is not in every release was read at `place`: an attribute, or what an import brings.

    Where the program would catch that it is missing, nothing is recorded.
    """

    place: Place
    context: Context
    name: Api


@immutable()
class LibraryCalled:
    """Something that takes other arguments than it did, or switches half precision on, was called at `place`."""

    place: Place
    context: Context
    callee: Api
    arguments: Arguments
    options: tuple[tuple[Value, Value], ...] = ()
    """What the dict holds that it is given, at that time."""


@immutable()
class EnvironmentSet:
    """The program sets a variable of the environment that switches half precision on."""

    place: Place
    name: str
    value: Value


Event = (
    LayerMade
    | ModelMade
    | LayerCalled
    | Returned
    | VariableMade
    | ModelUsed
    | Opened
    | Escaped
    | Settled
    | PolicySet
    | PolicyReset
    | PolicyRefused
    | ScopeEntered
    | ScopeLeft
    | Compiled
    | OptimizerMade
    | OptimizerWrapped
    | OptimizerUsed
    | GradientTaken
    | FunctionDifferentiated
    | GradientsApplied
    | Reported
    | Computed
    | Counted
    | Fed
    | Updated
    | Piped
    | LossGiven
    | DTypeTaken
    | Applied
    | Ran
    | Batched
    | FedFrom
    | Kept
    | NameRead
    | LibraryCalled
    | EnvironmentSet
)


@dataclass(slots=True)
class Known:
    """How much was known of one kind of thing: by the place that makes it, how often its dtype was, how often not."""

    places: dict[Place, tuple[int, int]] = field(default_factory=dict)
    total: int = 0
    """How many things were counted."""

    def count(self, place: Place, known: bool) -> None:
        """Count one more thing made at `place`."""
        self.total += 1
        times, others = self.places.get(place, (0, 0))
        self.places[place] = (times + known, others + (not known))


@dataclass(slots=True)
class Trace:
    """The events of one run, and how much of it was known."""

    events: list[Event] = field(default_factory=list)
    layers: Known = field(default_factory=Known)
    tensors: Known = field(default_factory=Known)
    mixed: dict[Instance | Place, dict[Place, None]] = field(default_factory=dict)
    """Layers, and calls of softmax functions, whose results meet another half-precision tensor, and where."""
    cut: bool = False
    """The budget ended the run early: nothing negative ("never …") may be concluded from it."""

    escapes: int = 0
    """How many of the events only say that something went out of sight."""

    @property
    def interest(self) -> int:
        """How often the run has come to a layer, a tensor or a policy so far."""
        return self.layers.total + self.tensors.total + len(self.events) - self.escapes
