"""Runs programs in real Keras, one process for all of a generation.

    python -m tests.generator.real GENERATION

Reads one job (a JSON object) a line and answers each with one line. `{"id", "source", "inputs"}` asks what the models
in the program's module give: their outputs' dtypes, from a real call, and what each softmax among the outputs was
computed in, from the graph of that call; and whether ids are rounded on the way to a table. `{"id", "source", "fixed",
"inputs"}` trains both texts under a float32 policy from one seed and says whether all weights are the same, bit for
bit. `{"id", "source", "exact", "trials", "inputs"}` asks what the numbers of the program's models come to.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.generator.numerics import measured
from tools.measure import GENERATION, RESULTS, KerasIsLegacy, example, keras, surroundings

import numpy as np  # isort: skip  (both behind tools.measure, which makes TensorFlow's settings)
import tensorflow as tf  # isort: skip

HIDDEN = "hidden"
"""A softmax, or none, inside a loop."""
SEVERAL = "several"
"""Softmaxes put together, each in the dtype that follows."""
EXACT = {"float16": 2048, "bfloat16": 256}
"""Up to here a dtype holds all whole numbers."""
STEPS = 3
SEED = 7
HALF_POLICIES = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})
_CARRY = frozenset(
    "Cast ExpandDims GatherV2 Identity IdentityN PreventGradient Reshape ReverseV2 Slice SplitV Squeeze "
    "StopGradient StridedSlice Tile Transpose Unpack".split()
)
"""Operations whose result is made of elements of their first operand; `Split` has it second."""


def names_of_models(namespace: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The models that a program leaves in its module."""
    return ((name, value) for name, value in namespace.items() if isinstance(value, keras.Model))


def run(source: str) -> dict[str, Any]:
    """Execute a program as `__main__`; what its module holds afterwards."""
    module = types.ModuleType("__main__")
    module.__file__ = "program.py"
    keeper, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        exec(compile(source.encode(), "program.py", "exec"), module.__dict__)
    finally:
        sys.modules["__main__"] = keeper
    return module.__dict__


def observe(job: dict[str, Any]) -> dict[str, Any]:
    """What the models of one program give."""
    row: dict[str, Any] = {"id": job["id"], "error": None, "models": {}, "rounds": False}
    try:
        with surroundings({}), rounded_ids(row), measured.without_training():
            for name, model in names_of_models(run(job["source"])):
                row["models"][name] = outputs_of(model, job["inputs"].get(name))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the program raises is a result)
        row["error"] = told(error)
    return row


@contextmanager
def rounded_ids(row: dict[str, Any]) -> Iterator[None]:
    """Note whether a table is asked for ids in half precision of which some are not exact."""
    real = keras.layers.Embedding.call

    @functools.wraps(real)
    def call(this: Any, inputs: Any) -> Any:
        most = EXACT.get(tf.as_dtype(inputs.dtype).name)
        row["rounds"] |= most is not None and this.input_dim - 1 > most
        return real(this, inputs)

    keras.layers.Embedding.call = call
    try:
        yield
    finally:
        keras.layers.Embedding.call = real


def outputs_of(model: Any, given: list[str] | None) -> Any:
    """[dtype, what its softmax was computed in] of each output; the error where the model cannot be called."""
    try:
        batch = example(model, given)
        if batch is None:
            return "its inputs are not known"

        @tf.function(autograph=False)  # type: ignore[untyped-decorator]
        def traced(inputs: Any) -> Any:
            return model(inputs)

        concrete = traced.get_concrete_function(batch)
        real = [tf.as_dtype(tensor.dtype).name for tensor in tf.nest.flatten(model(batch))]
        graph = concrete.graph
        ends = [softmax_of(tensor) for tensor in graph.outputs]
        assert [tensor.dtype.name for tensor in graph.outputs] == real, "the trace differs from the call"
    except Exception as error:  # noqa: BLE001  (what the model raises is the answer)
        return told(error)
    return [list(pair) for pair in zip(real, ends, strict=True)]


def softmax_of(tensor: Any) -> str | None:
    """The dtype that the softmax behind an output was computed in, or HIDDEN; None where the output is no softmax."""
    while True:
        if tensor.op.type in _CARRY:
            tensor = tensor.op.inputs[0]
        elif tensor.op.type == "Split" or (tensor.op.type == "SelectV2" and "softmax" in tensor.op.name):
            tensor = tensor.op.inputs[1]  # the second is that of Keras 3's softmax under a mask
        elif tensor.op.type in ("PartitionedCall", "StatefulPartitionedCall"):  # a tf.function inside
            called = tensor.op.graph._get_function(tensor.op.get_attr("f").name)
            inside = called.graph.outputs[tensor.value_index]
            arguments = [each is inside for each in called.graph.inputs]
            tensor = tensor.op.inputs[arguments.index(True)] if any(arguments) else inside
        else:
            break
    if tensor.op.type in ("Pack", "ConcatV2"):  # the steps of a sequence, or heads side by side
        found = {softmax_of(each) for each in tensor.op.inputs if each.dtype.is_floating}
        return f"{SEVERAL} {found.pop()}" if len(found) == 1 and not found <= {None, HIDDEN} else None
    if tensor.op.type == "Softmax":
        return str(tf.as_dtype(tensor.op.get_attr("T")).name)
    return HIDDEN if "While" in tensor.op.type or tensor.op.type.startswith("TensorList") else None


def told(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


# -- training


@contextmanager
def policies_replaced() -> Iterator[None]:
    """Every half-precision policy is float32."""
    policy = keras.DTypePolicy if GENERATION == "3" else keras.mixed_precision.Policy
    real = policy.__init__

    @functools.wraps(real)
    def init(this: Any, name: Any = None, *rest: Any, **options: Any) -> None:
        if isinstance(name, str) and name in HALF_POLICIES:
            name = "float32"
        real(this, *(() if name is None else (name,)), *rest, **options)

    policy.__init__ = init
    try:
        yield
    finally:
        policy.__init__ = real


def compare(job: dict[str, Any]) -> dict[str, Any]:
    """Train the original and the rewritten program."""
    row: dict[str, Any] = {"id": job["id"], "error": None, "models": {}}
    trained: list[dict[str, Any]] = []
    for text in (job["source"], job["fixed"]):
        try:
            with surroundings({}), policies_replaced(), measured.without_training():
                trained.append(dict(weights_after(text, job["inputs"])))
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the program raises is a result)
            row["error"] = f"{'the original' if not trained else 'the rewritten one'}: {told(error)}"
            return row
    before, after = trained
    found = {name: difference(before[name], after.get(name)) for name in before}
    row["models"] = {name: text for name, text in found.items() if text is not None}
    return row


def difference(before: Any, after: Any) -> str | None:
    """What is different between two lists of weights; None where nothing is, or the original cannot be trained."""
    if isinstance(before, str):
        return None
    if not isinstance(after, list):
        return f"the rewritten one cannot be trained: {after}"
    if [each.shape for each in before] != [each.shape for each in after]:
        return "other weights"
    if all(one.tobytes() == two.tobytes() for one, two in zip(before, after, strict=True)):
        return None
    largest = max(float(np.abs(one - two).max()) for one, two in zip(before, after, strict=True) if one.size)
    return f"trained to other weights, by {largest} at most"


def weights_after(source: str, inputs: dict[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """All weights of each model after some steps; the error where it cannot be trained."""
    keras.utils.set_random_seed(SEED)
    for name, model in names_of_models(run(source)):
        keras.utils.set_random_seed(SEED)
        try:
            yield name, train(model, inputs.get(name))
        except Exception as error:  # noqa: BLE001  (what the model raises is the answer)
            yield name, told(error)


def train(model: Any, given: list[str] | None) -> list[Any]:
    """A few steps of plain gradient descent towards random targets."""
    random = np.random.RandomState(SEED)
    batch = tf.nest.map_structure(lambda leaf: random_like(random, leaf), example(model, given))
    goal = tf.nest.map_structure(lambda leaf: random_like(random, leaf), model(batch))
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            given_back = tf.nest.flatten(model(batch, training=True))
            losses = [
                tf.reduce_mean(tf.square(tf.cast(one, "float32") - tf.cast(two, "float32")))
                for one, two in zip(given_back, tf.nest.flatten(goal), strict=True)
            ]
            loss = tf.add_n([*losses, *(tf.cast(each, "float32") for each in model.losses)])
        variables = model.trainable_variables
        gradients = tape.gradient(loss, variables)
        pairs = [
            (gradient, variable)
            for gradient, variable in zip(gradients, variables, strict=True)
            if gradient is not None
        ]
        if pairs:
            optimizer.apply_gradients(pairs)
    return [np.array(weight, dtype="float32") for weight in model.get_weights()]


def random_like(random: Any, leaf: Any) -> Any:
    """Random numbers of the shape and dtype of a tensor."""
    if leaf.dtype.is_floating:
        return tf.constant(random.uniform(size=leaf.shape), leaf.dtype)
    return tf.constant(random.randint(0, 3, size=leaf.shape), leaf.dtype)


def main() -> None:
    """Answer jobs until there are no more."""
    if GENERATION == "2":
        sys.meta_path.insert(0, KerasIsLegacy())
    sys.dont_write_bytecode = True
    gc.freeze()  # Keras collects garbage before each program: what was imported is none, and takes half of the time
    for line in sys.stdin:
        job = json.loads(line)
        if "trials" in job:
            answer = measured.compared(run, job, policies_replaced)
        else:
            answer = compare(job) if "fixed" in job else observe(job)
        os.write(RESULTS, (json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    main()
