"""What each name of a dtype policy does, what variables layers make under a pure float16 one, and which take none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from keras_table.layer_recipes import Recipe, recipe_for
from keras_table.layers import Bench, Form, classes
from keras_table.packages import keras, set_policy, tf

FLOATS = ("float16", "bfloat16", "float32", "float64", "half", "float", "double", "single", "longdouble", "float128")
OTHERS = (
    "int int_ int2 int4 int8 int16 int32 int64 uint uint2 uint4 uint8 uint16 uint32 uint64 long short byte bool bool_ "
    "complex complex64 complex128 string str object resource variant qint8 quint8 qint16 quint16 qint32 "
    "float8 float8_e4m3 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 float8_e5m2fnuz float4_e2m1fn"
)
MIXED = "mixed mixed_float16 mixed_bfloat16 mixed_float32 mixed_float64 mixed_half mixed_float8 mixed_int8 mixed16"
MISTAKES = (
    "fp16 fp32 fp64 fp8 f16 bf16 tf32 f2 f4 f8 <f2 e f d mixed_fp16 mixed_bf16 mixed_fp32 mixed_16 amp autocast "
    "mixed-float16 16-mixed bf16-mixed 16 32 Mixed_Float16 MIXED_FLOAT16 Float16 FLOAT16 FP16 tf.float16 none None "
    "auto default infer _infer mixed_precision O1 O2"
)
SPACED = ("", " mixed_float16", "mixed_float16 ", "mixed float16")
REFERENCES = tuple(f"{name}_ref" for name in FLOATS)
OUTPUT_MODES = ("", "int", "one_hot", "multi_hot", "count", "tf_idf")
NAMES = (*FLOATS, *REFERENCES, *SPACED, *f"{OTHERS} {MIXED} {MISTAKES}".split())


def measure() -> dict[str, Any]:
    """The names that are taken anywhere, by what takes them, and the variables of the layers."""
    names = {name: found for name in NAMES if (found := _taken(name))}
    set_policy("float32")
    return {"names": names, "variables": dict(_variables()), "own": dict(_own())}


def _taken(name: str) -> dict[str, str]:
    """By what takes the name (the setter, the constructor, a layer): the compute dtype that it then has."""

    def setter() -> Any:
        set_policy(name)
        return keras.mixed_precision.global_policy().compute_dtype

    ways: dict[str, Callable[[], Any]] = {
        "setter": setter,
        "constructor": lambda: keras.mixed_precision.Policy(name).compute_dtype,
        "layer": lambda: keras.layers.Dense(2, dtype=name).compute_dtype,
    }
    found: dict[str, str] = {}
    for way, run in ways.items():
        set_policy("float32")
        try:
            found[way] = str(run())
        except Exception:  # noqa: BLE001  (whatever is raised, the name is refused)
            continue
    return found


def _variables() -> Iterator[tuple[str, list[str]]]:
    """Each layer with trainable variables, and their dtypes under the global policy float16."""
    for path, cls in classes():
        recipe = recipe_for(cls.__name__)
        if recipe is None:
            continue
        bench = Bench(cls, recipe)
        try:
            layer = bench.make({}, Form("float16"))
            with tf.__internal__.FuncGraph("variables").as_default():
                inputs = [tf.compat.v1.placeholder(recipe.dtype, shape) for shape in recipe.shapes]
                bench.call(layer, inputs, {})
        except Exception:  # noqa: BLE001  (it cannot be called in float16 at all)
            continue
        dtypes = {tf.as_dtype(variable.dtype).name for variable in layer.trainable_variables}
        if dtypes:
            yield path, sorted(dtypes)
    set_policy("float32")


def _own() -> Iterator[tuple[str, dict[str, str]]]:
    """Each layer that computes in a dtype of its own whatever the global policy is, by its `output_mode`."""
    for path, cls in classes():
        recipe = recipe_for(cls.__name__)
        if recipe is None:
            continue
        modes = OUTPUT_MODES if "output_mode" in inspect.signature(cls.__init__).parameters else ("",)
        found = {mode: dtype for mode in modes if (dtype := _own_dtype(cls, recipe, mode)) is not None}
        if found:
            yield path, found
    set_policy("float32")


def _own_dtype(cls: Any, recipe: Recipe, mode: str) -> str | None:
    made = set()
    for policy in ("mixed_float16", "mixed_bfloat16"):
        set_policy(policy)
        try:
            layer = cls(**{**recipe.arguments(), **({"output_mode": mode} if mode else {})})
        except Exception:  # noqa: BLE001  (it has no such mode)
            return None
        made.add(str(layer.compute_dtype))
    return made.pop() if len(made) == 1 else None
