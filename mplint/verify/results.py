"""What the harness measured, as the parent knows it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mplint.interpreter.values import HALF

AFTER: Final = "after"
BEFORE: Final = "before"
AFTER_FLOAT32: Final = "after32"
BEFORE_FLOAT32: Final = "before32"
CONTROL: Final = "control"

RUNS: Final = {
    AFTER: "the program",
    BEFORE: "the original program",
    BEFORE_FLOAT32: "the original program in float32",
    AFTER_FLOAT32: "the rewritten program in float32",
    CONTROL: "the original program in float32 once more",
}
"""The runs that a job can have, in words."""


@dataclass(frozen=True)
class Trouble:
    """What stopped the program, or the measuring of one model.

    `kind` is "crash", "exit" (it ended itself with an error), "died" (its process ended), "kernel" (TensorFlow has no
    kernel for the operation on this machine), "keras" (it makes models of a Keras that is not watched), "target" (there
    is nothing of that name) or "internal" (mplint's fault).
    """

    kind: str
    text: str
    stage: str
    where: tuple[Path, int] | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Trouble:
        """From the report."""
        where = data["where"]
        return cls(
            data["kind"], data["text"], data["stage"], None if where is None else (Path(where[0]), int(where[1]))
        )


@dataclass(frozen=True)
class Output:
    """One output of a model, as a trace has it."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]

    @property
    def is_half(self) -> bool:
        """Whether it leaves the model in half precision."""
        return self.dtype in HALF


@dataclass(frozen=True)
class Training:
    """Some real steps of training.

    `source` is what trained: the program's "fit", its "train_on_batch", its own "loop", or the "harness" where the
    program did not train. `loss` is Keras's mean over the first steps. `moved` of `followed` trainable variables
    changed. `skipped` steps overflowed and lowered the loss scale; in the program's own loop that is not seen. `more`
    steps than asked for were trained, since all before were skipped.
    """

    source: str
    data: str
    steps: int
    skipped: int | None
    losses: tuple[float, ...]
    loss: float | None
    milliseconds: float | None
    moved: int
    followed: int
    finite: bool
    scale: float | None
    first_scale: float | None
    more: int = 0

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Training:
        """From the report."""
        return cls(**{**data, "losses": tuple(data["losses"])})

    @property
    def loss_is_finite(self) -> bool:
        """No infinity and no NaN among the losses."""
        return all(math.isfinite(loss) for loss in self.losses)


@dataclass(frozen=True)
class ModelRun:
    """One model after one run of the program."""

    name: str
    kind: str
    policy: str
    outputs: tuple[Output, ...]
    variables: Mapping[str, int]
    half_trainable: tuple[str, ...]
    layers: int
    half_layers: int
    trainable: int
    training: Training | None
    troubles: tuple[Trouble, ...]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ModelRun:
        """From the report."""
        return cls(
            name=data["name"],
            kind=data["kind"],
            policy=data["policy"],
            outputs=tuple(Output(row["name"], row["dtype"], tuple(row["shape"])) for row in data["outputs"]),
            variables=dict(data["variables"]),
            half_trainable=tuple(data["half_trainable"]),
            layers=data["layers"],
            half_layers=data["half_layers"],
            trainable=data["trainable"],
            training=None if data["training"] is None else Training.read(data["training"]),
            troubles=tuple(map(Trouble.read, data["troubles"])),
        )

    @property
    def half_outputs(self) -> tuple[Output, ...]:
        """The outputs in half precision."""
        return tuple(output for output in self.outputs if output.is_half)


@dataclass(frozen=True)
class Reached:
    """The rewritten places of a file, as first and last row, and those that the run did not come to.

    A file that was not `loaded` is no part of the program, as it ran.
    """

    places: tuple[tuple[int, int], ...]
    unreached: tuple[tuple[int, int], ...]
    loaded: bool = True


@dataclass(frozen=True)
class Made:
    """What one call of the program made: layers or models of one class, or variables (`kind` "variable").

    `at` is the first row and column and the last ones of the call, columns counted in bytes from 0; or its row alone.
    `policies` holds pairs of compute and variable dtype, `weights` the dtypes of floating variables, `outputs` the
    dtypes of all tensors of what each call gave, on data or in a trace.
    """

    file: str
    at: tuple[int, ...]
    kind: str
    policies: tuple[tuple[str, str], ...]
    weights: tuple[str, ...]
    outputs: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Made:
        """From the report."""
        return cls(
            data["file"],
            tuple(data["at"]),
            data["kind"],
            tuple((compute, variable) for compute, variable in data["policies"]),
            tuple(data["weights"]),
            tuple(map(tuple, data["outputs"])),
        )


@dataclass(frozen=True)
class Run:
    """One run of the program. `stopped`: its own training loop was ended after enough steps.

    `made` and `named`, the outputs of the models in module variables, are recorded for an audit alone.
    """

    models: tuple[ModelRun, ...]
    others: tuple[str, ...]
    hint: str | None
    trouble: Trouble | None
    stopped: bool
    policy: str | None
    reach: Mapping[Path, Reached]
    seconds: float
    made: tuple[Made, ...] = ()
    named: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Run:
        """From the report."""
        return cls(
            models=tuple(map(ModelRun.read, data["models"])),
            others=tuple(data["others"]),
            hint=data["hint"],
            trouble=None if data["trouble"] is None else Trouble.read(data["trouble"]),
            stopped=data["stopped"],
            policy=data["policy"],
            reach={
                Path(path): Reached(_spans(reached["places"]), _spans(reached["unreached"]), reached["loaded"])
                for path, reached in data["reach"].items()
            },
            seconds=data["seconds"],
            made=tuple(map(Made.read, data["made"])),
            named={name: tuple(map(tuple, outputs)) for name, outputs in data["named"].items()},
        )


def _spans(rows: Iterable[Iterable[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in rows)


@dataclass(frozen=True)
class Comparison:
    """The weights of the two float32 runs. Where they differ, `repeatable` says if the original trains alike twice."""

    equal: bool
    largest: float | None
    weights: int
    repeatable: bool | None


@dataclass(frozen=True)
class Versions:
    """What the program ran with."""

    python: str
    tensorflow: str
    keras: str
    generation: str


@dataclass(frozen=True)
class Evidence:
    """All that a child process reported, and what it printed last. `unfinished` is the run that was cut off."""

    versions: Versions | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    comparison: Comparison | None = None
    unavailable: str | None = None
    timed_out: bool = False
    unfinished: str | None = None
    output: str = ""
    seconds: float = 0.0

    @classmethod
    def read(cls, events: Iterable[Mapping[str, Any]], *, timed_out: bool, output: str, seconds: float) -> Evidence:
        """From the lines of the report."""
        versions: Versions | None = None
        comparison: Comparison | None = None
        unavailable: str | None = None
        unfinished: str | None = None
        runs: dict[str, Run] = {}
        for event in events:
            facts = {key: value for key, value in event.items() if key != "event"}
            match event["event"]:
                case "ready":
                    versions = Versions(**facts)
                case "started":
                    unfinished = facts["label"]
                case "run":
                    runs[facts["label"]] = Run.read(facts)
                    unfinished = None
                case "compared":
                    comparison = Comparison(**facts)
                case "unavailable":
                    unavailable = facts["text"]
                case _:
                    unfinished = None
        return cls(versions, runs, comparison, unavailable, timed_out, unfinished, output, seconds)
