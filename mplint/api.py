"""Everything that a rule may import.

A rule is a subclass of `Rule` in a module of the package `mplint.rules`.  It looks at finished worlds, says what is
wrong at which place, and names the rewrite that mends it; it never sees syntax, files or positions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from mplint.codemods.by_dtype import FitFloat16
from mplint.codemods.compiling import CompileScaling
from mplint.codemods.dtype_texts import DTypeItself
from mplint.codemods.dynamic import ScaleDynamically
from mplint.codemods.feeding import KeepFloat32
from mplint.codemods.float32 import InFloat32
from mplint.codemods.graph_options import PolicyInstead, WithoutOption
from mplint.codemods.half_losses import LossInFloat32
from mplint.codemods.heads import Float32End
from mplint.codemods.integers import KeepIntegers
from mplint.codemods.logits import KeepLogits
from mplint.codemods.lowering import Lowered
from mplint.codemods.matching import Matched
from mplint.codemods.minimizing import Minimized
from mplint.codemods.moving import SetEarlier
from mplint.codemods.other_names import NameOfOther
from mplint.codemods.overflows import KeepOverflows
from mplint.codemods.preprocessing import Float32Preprocessing
from mplint.codemods.probabilities import Float32Probabilities
from mplint.codemods.renaming import NamePolicy
from mplint.codemods.reports import ShowUnscaled
from mplint.codemods.rescaling import ScaleInner, ScaleInsideTape, ScaleOnce, ScaleTerms
from mplint.codemods.rewrite import Rewrite, Together
from mplint.codemods.scale_arguments import ScaleOfToday, WithoutDynamic
from mplint.codemods.scale_calls import (
    AlwaysDynamic,
    AppliedByKeras2,
    ScaledByKeras2,
    ScaledByKeras3,
    ScaleRead,
)
from mplint.codemods.scaling import AddLossScaling, ScaleLoss
from mplint.codemods.setters import SetAgain, SetElsewhere
from mplint.codemods.sizes import RoundUp, RoundUpBatch
from mplint.codemods.spelling import NameOfToday
from mplint.codemods.unscaled_uses import UseUnscaled
from mplint.codemods.unscaling import Unscale, UnscaleOnce
from mplint.codemods.unwrapping import Unwrap, WrapOnce
from mplint.codemods.without_unscaling import LeftToKeras3
from mplint.codemods.wrappers import Float32Wrapper
from mplint.findings import Applicability, Severity
from mplint.interpreter.batches import Batches
from mplint.interpreter.defeated import Defeat, defeats
from mplint.interpreter.ends import EndFault, faulty_ends, in_vain
from mplint.interpreter.feeding import Feeding
from mplint.interpreter.graph_rewriting import GraphRewriting
from mplint.interpreter.half_losses import HalfLoss, HalfLosses
from mplint.interpreter.history import History
from mplint.interpreter.ineffective import Ineffective
from mplint.interpreter.integers import Integers, Rounded
from mplint.interpreter.loops import Loops
from mplint.interpreter.mismatches import Mismatch, mismatches
from mplint.interpreter.numerics import Numerics, Overflow, Underflow, Unstable
from mplint.interpreter.other_generation import OptimizerUse, OtherGeneration
from mplint.interpreter.outdated import Outdated
from mplint.interpreter.preprocessing import half_preprocessing
from mplint.interpreter.probabilities import Probabilities, RoundedLoss
from mplint.interpreter.running import LostUpdate, lost_updates
from mplint.interpreter.scalers import Scalers
from mplint.interpreter.sizes import Sizes
from mplint.interpreter.values import HALF, Place, Policy
from mplint.interpreter.world import End, Layer, Model, World
from mplint.keras_api import lacks_kernel, nearest_policy
from mplint.keras_api.precision import shown_number
from mplint.keras_api.stability import Sensitivity
from mplint.source.file import Syntax
from mplint.source.silence import Unused


@dataclass(frozen=True)
class Fault:
    """What a rule has to say about one place."""

    at: Place
    severity: Severity
    says: str
    policy: Policy | None = None
    """The policy that brings the fault about."""
    rewrite: Rewrite | None = None


class Rule(ABC):
    """One rule.  The docstring of its module is its page."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    """The strongest severity that it reports."""
    fixes: ClassVar[tuple[Applicability, ...]] = ()
    gives_way_to: ClassVar[tuple[str, ...]] = ()
    """The rules that, where they speak of a place, say all there is to say."""

    @abstractmethod
    def check(self, world: World) -> Iterator[Fault]:
        """The faults of one world."""


def first_at_each_place(faults: Iterable[Fault]) -> Iterator[Fault]:
    """One fault a place, where what brings it about comes there in several ways."""
    found: dict[Place, Fault] = {}
    for fault in faults:
        found.setdefault(fault.at, fault)
    yield from found.values()


class FileRule(Rule):
    """A rule about files that cannot be interpreted at all."""

    def check(self, world: World) -> Iterator[Fault]:
        """A world only has files that could be read."""
        return iter(())

    @abstractmethod
    def check_unreadable(self, syntax: Syntax) -> str:
        """The message for a file that is no Python."""


class CommentRule(Rule):
    """A rule about the comments that silence the others."""

    def check(self, world: World) -> Iterator[Fault]:
        """A world has no comments."""
        return iter(())

    @abstractmethod
    def check_unused(self, unused: Unused) -> str:
        """The message for a comment that silences nothing."""


__all__ = [
    "HALF",
    "AddLossScaling",
    "AlwaysDynamic",
    "Applicability",
    "AppliedByKeras2",
    "Batches",
    "CommentRule",
    "CompileScaling",
    "DTypeItself",
    "Defeat",
    "End",
    "EndFault",
    "Fault",
    "Feeding",
    "FileRule",
    "FitFloat16",
    "Float32End",
    "Float32Preprocessing",
    "Float32Probabilities",
    "Float32Wrapper",
    "GraphRewriting",
    "HalfLoss",
    "HalfLosses",
    "History",
    "InFloat32",
    "Ineffective",
    "Integers",
    "KeepFloat32",
    "KeepIntegers",
    "KeepLogits",
    "KeepOverflows",
    "Layer",
    "LeftToKeras3",
    "Loops",
    "LossInFloat32",
    "LostUpdate",
    "Lowered",
    "Matched",
    "Minimized",
    "Mismatch",
    "Model",
    "NameOfOther",
    "NameOfToday",
    "NamePolicy",
    "Numerics",
    "OptimizerUse",
    "OtherGeneration",
    "Outdated",
    "Overflow",
    "Place",
    "Policy",
    "PolicyInstead",
    "Probabilities",
    "Rewrite",
    "RoundUp",
    "RoundUpBatch",
    "Rounded",
    "RoundedLoss",
    "Rule",
    "ScaleDynamically",
    "ScaleInner",
    "ScaleInsideTape",
    "ScaleLoss",
    "ScaleOfToday",
    "ScaleOnce",
    "ScaleRead",
    "ScaleTerms",
    "ScaledByKeras2",
    "ScaledByKeras3",
    "Scalers",
    "Sensitivity",
    "SetAgain",
    "SetEarlier",
    "SetElsewhere",
    "Severity",
    "ShowUnscaled",
    "Sizes",
    "Syntax",
    "Together",
    "Underflow",
    "Unscale",
    "UnscaleOnce",
    "Unstable",
    "Unused",
    "Unwrap",
    "UseUnscaled",
    "WithoutDynamic",
    "WithoutOption",
    "World",
    "WrapOnce",
    "defeats",
    "faulty_ends",
    "first_at_each_place",
    "half_preprocessing",
    "in_vain",
    "lacks_kernel",
    "lost_updates",
    "mismatches",
    "nearest_policy",
    "shown_number",
]
