"""What each layer gives: it is made and called, under every policy and on every kind of input."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keras_table.layer_recipes import (
    CALL,
    COMPANIONS,
    GENERAL,
    GENERAL_ONLY,
    WRAPPED,
    Recipe,
    is_heavy,
    other_values,
    recipe_for,
)
from keras_table.packages import GENERATION, keras, np, set_policy, tf
from keras_table.shapes import leaf_dtypes

RAISES = "!"


@dataclass(frozen=True)
class Form:
    """A way to give a layer its policy: the global one, or `dtype=` under a global one that says something else."""

    policy: str
    own: str | None = None

    @property
    def key(self) -> str:
        return self.policy if self.own is None else f"dtype={self.own}"


MIXED = Form("mixed_float16")
PLAIN = Form("float32")
OWN_PLAIN = Form("mixed_float16", "float32")
OWN_MIXED = Form("float32", "mixed_float16")
FORMS = (
    MIXED,
    PLAIN,
    OWN_PLAIN,
    OWN_MIXED,
    Form("mixed_bfloat16"),
    Form("float16"),
    Form("bfloat16"),
    Form("float64"),
    Form("mixed_float16", "float64"),
    Form("mixed_float16", "bfloat16"),
    Form("float32", "float16"),
    Form("float32", "mixed_bfloat16"),
)
INTEGER_FORMS = (Form("mixed_float16", "int32"), Form("mixed_float16", "int64"))
CATEGORICAL = frozenset(
    [
        "CategoryEncoding",
        "Discretization",
        "HashedCrossing",
        "Hashing",
        "IntegerLookup",
        "StringLookup",
        "TextVectorization",
    ]
)
INPUTS = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "bool")
MIXES = (("float16", "float32"), ("float32", "int32"), ("int32", "float32"), ("float32", "bool"), ("bool", "float32"))
MAX_PRODUCT = 48


def measure() -> dict[str, Any]:
    """Layer class (its public path) -> what was found."""
    found: dict[str, Any] = {}
    for path, cls in classes():
        recipe = recipe_for(cls.__name__)
        if recipe is not None:
            found[path] = Bench(cls, recipe).measure()
    set_policy("float32")
    return found


def witness() -> list[Any]:
    """A few results that must be the same whenever they are measured: that nothing has changed this process."""
    found: list[Any] = []
    for name in ("Dense", "LSTM", "RNN", "TimeDistributed", "Bidirectional", "Discretization"):
        recipe = recipe_for(name)
        assert recipe is not None
        bench = Bench(getattr(keras.layers, name), recipe)
        dtypes = (recipe.dtype,) * len(recipe.shapes)
        for form in (MIXED, OWN_PLAIN, PLAIN):
            ways = (bench.eager, bench.traced, bench.symbolic)
            found.append([name, form.key, *(way({}, form, dtypes) for way in ways)])
        found.append([name, bench.wraps()])
    set_policy("float32")
    return found


def classes() -> Iterator[tuple[str, Any]]:
    """Every layer class of this generation, by its public path."""
    modules = [("keras.layers", keras.layers)]
    if GENERATION == "2":
        modules.append(("keras.layers.experimental", keras.layers.experimental))
    seen: set[Any] = set()
    for prefix, module in modules:
        for name in sorted(dir(module)):
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, keras.layers.Layer) and cls not in seen:
                seen.add(cls)
                yield f"{prefix}.{name}", cls


class Bench:
    """Makes and calls one layer class in many ways."""

    def __init__(self, cls: Any, recipe: Recipe) -> None:
        self.cls = cls
        self.recipe = recipe

    def measure(self) -> dict[str, Any]:
        natural = (self.recipe.dtype,) * len(self.recipe.shapes)
        base = self.probed({}, natural)
        if base[MIXED.key] in (None, RAISES):
            return {"raises": self.error({}, MIXED, natural)}
        free: list[str] = []
        decisive: dict[str, list[Any]] = {}
        unknown: list[str] = []
        carries = self.carries({})
        breaking: dict[str, list[Any]] = {}
        for parameter, values in self.alternatives():
            same: list[Any] = []
            other: list[Any] = []
            failed: list[Any] = []
            for value in values:
                results = self.probed({parameter: value}, natural)
                if results[MIXED.key] == RAISES and parameter in COMPANIONS:
                    companions = COMPANIONS[parameter]
                    results = self.probed({parameter: value, **companions}, natural)
                    if results == self.probed(companions, natural):
                        results = base  # with its companions the argument changes nothing
                if results[MIXED.key] in (None, RAISES):
                    failed.append(value)
                    continue
                (same if results == base else other).append(value)
                if (
                    carries
                    and _is_literal(value)
                    and not parameter.startswith(CALL)
                    and self.carries({parameter: value}) is False
                ):
                    breaking.setdefault(parameter, []).append(value)
            if other:
                decisive[parameter] = [value for value in values if value not in failed]
            elif same:
                free.append(parameter)
            else:
                unknown.append(parameter)
        points = {}
        for variant in self.variants(decisive):
            points[_key(variant)] = [variant, self.points(variant)]
        return {
            "points": list(points.values()),
            "free": sorted(free),
            "decisive": decisive,
            "unknown": sorted(unknown),
            "carries": carries,
            "joins": self.joins(),
            "breaking": breaking,
            "wraps": self.wraps(),
            "keeps": self.keeps(),
        }

    def probed(self, variant: Mapping[str, Any], dtypes: tuple[str, ...]) -> dict[str, Any]:
        """A few points, enough to see that an argument matters."""
        found = {MIXED.key: self.ran(variant, MIXED, dtypes)}
        if GENERATION == "3":  # Keras 2 traces to make its KerasTensors
            found["symbolic"] = self.symbolic(variant, MIXED, dtypes)
        return found

    def ran(self, variant: Mapping[str, Any], form: Form, dtypes: tuple[str, ...]) -> Any:
        """The result of running, or where there is no kernel for that of tracing (which takes much longer)."""
        result = self.eager(variant, form, dtypes)
        return self.traced(variant, form, dtypes) if result is None else result

    def alternatives(self) -> Iterator[tuple[str, list[Any]]]:
        """Every argument with other values for it."""
        given = self.recipe.arguments()
        names: dict[str, Any] = {}
        for parameter in inspect.signature(self.cls.__init__).parameters.values():
            if parameter.name in ("self", "dtype") or parameter.kind in (
                inspect.Parameter.VAR_KEYWORD,
                inspect.Parameter.VAR_POSITIONAL,
            ):
                continue
            default = None if parameter.default is inspect.Parameter.empty else parameter.default
            names[parameter.name] = given.get(parameter.name, default)
        for parameter, value in {**GENERAL, **GENERAL_ONLY}.items():
            if parameter not in names:
                yield parameter, [value]
        if "input_shape" not in names and len(self.recipe.shapes) == 1:
            yield "input_shape", [self.recipe.shapes[0][1:]]
            yield "batch_input_shape", [self.recipe.shapes[0]]
            yield "input_dim", [self.recipe.shapes[0][-1]]
            yield "batch_size", [self.recipe.shapes[0][0]]
        for name in inspect.signature(self.cls.call).parameters:
            if name in ("training", "return_attention_scores"):
                yield CALL + name, [True]
        for name, default in names.items():
            if name in GENERAL:
                yield name, [GENERAL[name]]
            elif name not in WRAPPED:
                yield name, list(other_values(name, default, self.cls.__name__))

    def variants(self, decisive: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
        """All combinations of the arguments that decide; one argument at a time where there are too many."""
        yield {}
        choices = [[(name, value) for value in values] for name, values in decisive.items()]
        size = 1
        for each in choices:
            size *= len(each) + 1
        most = len(choices) if size <= MAX_PRODUCT else 1
        for count in range(1, most + 1):
            for chosen in itertools.combinations(choices, count):
                for pairs in itertools.product(*chosen):
                    yield dict(pairs)

    def points(self, variant: dict[str, Any]) -> list[list[Any]]:
        """[form, input dtypes, real result, symbolic result or None] for every point measured."""
        short = is_heavy(self.cls.__name__) or "autocast" in variant
        forms = FORMS + (INTEGER_FORMS if self.cls.__name__ in CATEGORICAL else ())
        if WRAPPED & set(self.recipe.arguments()):
            forms = tuple(form for form in forms if form.own is None)  # see `wraps`
        found = []
        for form in forms:
            for dtypes in self.input_dtypes(form, short):
                real = self.ran(variant, form, dtypes)
                if form in (MIXED, OWN_MIXED) and dtypes[0] in ("float32", "int32", self.recipe.dtype):
                    traced = self.traced(variant, form, dtypes)
                    if real != traced and RAISES not in (real, traced):
                        real = None  # running and tracing differ: not known
                    elif real == RAISES:
                        real = traced
                symbolic = self.symbolic(variant, form, dtypes) if form in (MIXED, PLAIN) else None
                found.append([form.key, ",".join(dtypes), real, symbolic])
        return found

    def input_dtypes(self, form: Form, short: bool) -> Iterator[tuple[str, ...]]:
        count = len(self.recipe.shapes)
        natural = self.recipe.dtype
        everything = form in (MIXED, PLAIN)
        if natural == "string":
            yield ("string",) * count
            return
        if short:
            wanted: tuple[str, ...] = ("float16", "float32", "int32") if everything else ("float32",)
        else:
            wanted = INPUTS if everything else ("float32", "int32")
        for dtype in dict.fromkeys((natural, *wanted)):
            yield (dtype,) * count
        if self.cls.__name__ in ("Hashing", "HashedCrossing"):
            yield ("string",) * count
        if count == 2 and form in (MIXED, PLAIN, OWN_PLAIN):
            yield from MIXES

    def make(self, variant: Mapping[str, Any], form: Form) -> Any:
        set_policy(form.policy)
        own = {} if form.own is None else {"dtype": form.own}
        given = {name: value for name, value in variant.items() if not name.startswith(CALL)}
        return self.cls(**{**self.recipe.arguments(), **given, **own})

    def traced(self, variant: Mapping[str, Any], form: Form, dtypes: tuple[str, ...]) -> Any:
        """The result's dtypes where a tf.function is traced: no kernel has to exist."""
        try:
            layer = self.make(variant, form)
            with tf.__internal__.FuncGraph("trace").as_default():
                inputs = [
                    tf.compat.v1.placeholder(dtype, shape)
                    for dtype, shape in zip(dtypes, self.recipe.shapes, strict=True)
                ]
                return leaf_dtypes(self.call(layer, inputs, variant))
        except ImportError:
            return None
        except Exception:  # noqa: BLE001  (whatever is raised, the point is that it is)
            return RAISES

    def error(self, variant: Mapping[str, Any], form: Form, dtypes: tuple[str, ...]) -> str:
        try:
            layer = self.make(variant, form)
            self.call(
                layer,
                [self.value(dtype, shape) for dtype, shape in zip(dtypes, self.recipe.shapes, strict=True)],
                variant,
            )
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"[:300]
        return "only when traced"

    def eager(self, variant: Mapping[str, Any], form: Form, dtypes: tuple[str, ...]) -> Any:
        try:
            layer = self.make(variant, form)
            inputs = [self.value(dtype, shape) for dtype, shape in zip(dtypes, self.recipe.shapes, strict=True)]
            return leaf_dtypes(self.call(layer, inputs, variant))
        except (ImportError, tf.errors.NotFoundError, tf.errors.UnimplementedError):
            return None  # an optional package or a kernel that this machine lacks
        except Exception:  # noqa: BLE001
            return RAISES

    def symbolic(self, variant: Mapping[str, Any], form: Form, dtypes: tuple[str, ...]) -> Any:
        if self.recipe.style == "cell":
            return None
        try:
            layer = self.make(variant, form)
            inputs = [
                keras.Input(shape[1:], batch_size=shape[0], dtype=dtype)
                for dtype, shape in zip(dtypes, self.recipe.shapes, strict=True)
            ]
            return leaf_dtypes(self.call(layer, inputs, variant))
        except Exception:  # noqa: BLE001
            return RAISES

    @staticmethod
    def value(dtype: str, shape: tuple[int, ...]) -> Any:
        if dtype == "string":
            return tf.fill(shape, "a")
        return tf.ones(shape, dtype) if dtype != "bool" else tf.fill(shape, True)

    def call(self, layer: Any, inputs: list[Any], variant: Mapping[str, Any]) -> Any:
        style = self.recipe.style
        given = {name.removeprefix(CALL): value for name, value in variant.items() if name.startswith(CALL)}
        if style == "positional":
            return layer(*inputs, **given)
        if style == "cell":
            dtype = {"dtype": layer.compute_dtype} if GENERATION == "2" else {}
            return layer(inputs[0], layer.get_initial_state(batch_size=2, **dtype), **given)[0]
        if style == "list":
            return layer(tuple(inputs) if self.cls.__name__ == "HashedCrossing" else inputs, **given)
        return layer(inputs[0], **given)

    def carries(self, variant: Mapping[str, Any]) -> bool | None:
        """Whether the result only holds elements of the input, chosen by their place and not by their values."""
        if self.recipe.style != "one" or self.recipe.dtype != "float32":
            return False
        try:
            layer = self.make(variant, PLAIN)
            return carried(layer, self.recipe.shapes[0])
        except Exception:  # noqa: BLE001
            return None

    def joins(self) -> bool:
        """Whether the result only holds elements of the inputs, chosen by their place and not by their values."""
        if self.recipe.style != "list" or self.recipe.dtype != "float32" or len(set(self.recipe.shapes)) != 1:
            return False
        try:
            layer = self.make({}, PLAIN)
            inputs = (len(self.recipe.shapes), *self.recipe.shapes[0])
            return carried(lambda x: self.call(layer, tf.unstack(x), {}), inputs)
        except Exception:  # noqa: BLE001
            return False

    def wraps(self) -> str | None:
        """For a layer around others: whose policy the result follows, "own" or "inner"."""
        given = self.recipe.arguments()
        if not WRAPPED & set(given):
            return None
        found = set()
        for inner, outer in (("float32", "mixed_float16"), ("mixed_float16", "float32")):
            set_policy(inner)
            arguments = self.recipe.arguments()
            set_policy(outer)
            try:
                layer = self.cls(**arguments)
                with tf.__internal__.FuncGraph("wraps").as_default():
                    inputs = [tf.compat.v1.placeholder("float32", shape) for shape in self.recipe.shapes]
                    result = leaf_dtypes(self.call(layer, inputs, {}))
            except Exception:  # noqa: BLE001
                return RAISES
            computed = {"float32": "float32", "mixed_float16": "float16"}
            found.add("own" if result == computed[outer] else "inner" if result == computed[inner] else "?")
        return found.pop() if len(found) == 1 else None

    def keeps(self) -> bool:
        """Whether a float32 layer stays float32 inside a TimeDistributed that computes in float16.

        Keras 3's TimeDistributed runs the inner layer's code without its casts: what casts by itself keeps its dtype.
        """
        if GENERATION == "2" or self.recipe.style != "one" or self.recipe.dtype == "string":
            return False  # Keras 2 calls the inner layer as it calls any other
        set_policy("mixed_float16")
        try:
            layer = keras.layers.TimeDistributed(self.cls(**{**self.recipe.arguments(), "dtype": "float32"}))
            batch, *shape = self.recipe.shapes[0]
            return bool(leaf_dtypes(layer(self.value(self.recipe.dtype, (batch, 3, *shape)))) == "float32")
        except Exception:  # noqa: BLE001
            return False


def carried(function: Any, shape: tuple[int, ...]) -> bool:
    """Call a function on different values: is it the same fixed choice of places each time, and of nothing else?"""
    size = int(np.prod(shape))
    places = set()
    for seed in range(3):
        values = np.random.default_rng(seed).permutation(size).astype("float32") - size / 2 + 0.25
        result = np.asarray(function(tf.constant(values.reshape(shape)))).astype("float32").ravel()
        where = {float(value): place for place, value in enumerate(values)}
        places.add(tuple(where.get(float(value), -1) for value in result))
    only = places.pop()
    return not places and len(only) > 0 and -1 not in only


def _is_literal(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, tuple))


def _key(variant: Mapping[str, Any]) -> str:
    return repr(sorted(variant.items(), key=lambda pair: pair[0]))
