"""How many examples a program trains with at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from mplint.interpreter.history import History
from mplint.interpreter.origins import literals, value_of
from mplint.interpreter.sizes import TENSOR_CORES
from mplint.interpreter.trace import Applied, Batched, Compiled, FedFrom, GradientsApplied, LayerMade, Ran
from mplint.interpreter.values import HALF, Policy, compute_dtype
from mplint.interpreter.world import World


class Batches:
    """The batches in one finished run."""

    def __init__(self, world: World) -> None:
        self._world = world

    @cached_property
    def all(self) -> tuple[Batched, ...]:
        """What says how large batches are."""
        events = self._world.trace.events
        fed = [event.symbol for event in events if isinstance(event, FedFrom)]
        return tuple(
            event
            for event in events
            if isinstance(event, Batched)
            and (event.method is None or any(event.method in symbol.tree for symbol in fed))
        )

    def unaligned(self) -> Iterator[tuple[Batched, Policy]]:
        """Those that are no multiples of what Tensor Cores work in, where a model in half precision is trained."""
        world = self._world
        found = [batched for batched in self.all if self._is_unaligned(batched)]
        if not found or world.is_test or world.trace.cut or History(world).trains_nothing:
            return
        policy = self._policy
        trains = (Applied, Compiled, GradientsApplied, Ran)
        if policy is not None and any(isinstance(event, trains) for event in world.trace.events):
            for batched in found:
                yield batched, policy

    def _is_unaligned(self, batched: Batched) -> bool:
        size = value_of(batched.size)
        told = literals(self._world.machine.program, batched.size) is not None
        return told and size > TENSOR_CORES and size % TENSOR_CORES != 0

    @property
    def _policy(self) -> Policy | None:
        """The half-precision policy of a layer."""
        made = (event.policy for event in self._world.trace.events if isinstance(event, LayerMade))
        return next((policy for policy in made if compute_dtype(policy.name) in HALF), None)
