"""Distribution strategies: which one is in force while layers are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import containers
from mplint.interpreter.calls import Arguments, unseen
from mplint.interpreter.keras import structures, variables
from mplint.interpreter.trace import ScopeEntered, ScopeLeft
from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    Dataset,
    Instance,
    List,
    Made,
    Place,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_SCOPE: Final = Api("tensorflow.distribute.Strategy.scope")
_RUNS: Final = frozenset({"run", "experimental_run_v2"})
_REDUCES: Final = {"reduce": 1, "all_reduce": 1, "gather": 0, "all_gather": 0}
"""The methods that make one value of those of all replicas, scaled as they are, and where these stand."""
_METHODS: Final = _RUNS | _REDUCES.keys() | {"scope", "experimental_distribute_dataset", "experimental_local_results"}


_UNFIT: Final = {
    "2": frozenset({"TPUStrategy", "ParameterServerStrategy", "CentralStorageStrategy"}),
    "3": frozenset({"TPUStrategy"}),
}
"""Strategies under which mixed_float16 is refused (Keras 2) or has no hardware that computes in it (TPU)."""
REPLICA: Final = Api("tensorflow.distribute.ReplicaContext")
OF_REPLICA: Final = "tensorflow.distribute.get_replica_context"
CURRENT: Final = "tensorflow.distribute.get_strategy"


def is_unfit(path: str, generation: str) -> bool:
    """Whether mixed_float16 does not work under the strategy class `path`."""
    return is_strategy(path) and path.rpartition(".")[2] in _UNFIT[generation]


def is_strategy(path: str) -> bool:
    """Whether `path` is a class of distribution strategies."""
    return path.startswith("tensorflow.distribute.") and path.endswith("Strategy")


def make(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """`tf.distribute.TPUStrategy(…)`."""
    return Instance(m.allocate(place, "strategy"), callee)


def current(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.distribute.get_strategy()`."""
    return Instance(m.allocate(place, "strategy"), Api("tensorflow.distribute.Strategy"))


def attribute(strategy: Instance, name: str) -> Value | None:
    """What can be read of a strategy; None of a method."""
    if name in _METHODS or not isinstance(strategy.cls, Api):
        return None
    return Unknown(Symbol("attribute", Symbol("strategy", strategy.cls.path), name))


def method(m: Machine, strategy: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a strategy: what it is given goes where it cannot be followed."""
    if name == "scope":
        scope = Instance(m.allocate(place, "scope"), _SCOPE)
        m.put(scope.address, "strategy", strategy)
        return scope
    if name in _RUNS:
        return _run(m, arguments, place)
    if name in _REDUCES:
        return _reduced(m, name, arguments, place)
    if name == "experimental_local_results":
        given = arguments.get("value", 0)
        return UNKNOWN if given is None else Tuple((), given)
    unseen(m, UNKNOWN, arguments)
    given = arguments.get("dataset", 0) if name == "experimental_distribute_dataset" else None
    return given if isinstance(given, Dataset) else UNKNOWN


def replica(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.distribute.get_replica_context()`."""
    return Instance(m.allocate(place, "replica"), REPLICA)


def replica_method(m: Machine, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a replica's context."""
    if name in _REDUCES:
        return _reduced(m, name, arguments, place)
    if name == "merge_call":  # which gives the strategy to a function first
        strategy = current(m, arguments, place)
        given = containers.passed(m, arguments.get("args", 1), arguments.get("kwargs", 2), place)
        function = arguments.get("merge_fn", 0)
        return UNKNOWN if function is None else m.call(function, given.behind(strategy), place)
    return unseen(m, UNKNOWN, arguments)


def _reduced(m: Machine, name: str, arguments: Arguments, place: Place) -> Value:
    """One value for those of all replicas, in the same structure."""
    given = arguments.get("value", _REDUCES[name])
    if given is None or isinstance(given, Unknown):
        return unseen(m, UNKNOWN, arguments)

    def reduced(tensor: Tensor) -> Tensor:
        held = variables.read(m, tensor)
        made = Made("operation", place, m.context, by=f"tensorflow.distribute.{name}", operands=(held,))
        return Tensor(tensor.dtype, made, False)

    changed = structures.changed(m, given, place, reduced)
    return m.new_list(place, changed) if isinstance(given, List) and isinstance(changed, Tuple) else changed


def _run(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`strategy.run(fn, args=(…), kwargs={…})`: what `fn` gives, as on a single replica."""
    function = arguments.get("fn", 0)
    if function is None:
        return unseen(m, UNKNOWN, arguments)
    passed = containers.passed(m, arguments.get("args", 1), arguments.get("kwargs", 2), place)
    return m.call(function, passed, place)


def is_scope(value: Value) -> bool:
    """Whether `value` is what `strategy.scope()` gives."""
    return isinstance(value, Instance) and value.cls == _SCOPE


def enter(m: Machine, scope: Value) -> None:
    """What begins with `with strategy.scope():`."""
    strategy = m.field(scope.address, "strategy") if isinstance(scope, Instance) else None
    path = strategy.cls.path if isinstance(strategy, Instance) and isinstance(strategy.cls, Api) else None
    m.record(ScopeEntered(path))


def leave(m: Machine) -> None:
    """The scope that was entered last is left."""
    m.record(ScopeLeft())
