"""Small programs, one concept each, whose real output dtypes are on record in dtypes.json.

They are the measurements behind the rules, written out as source: the forms of `dtype=` and the operations on a half
tensor (`forms/`, `ends/`, `inputs/`), what models pass on (`models/`, `lies/`), the rewritten heads (`heads/`), and
models built in depth (`depth/`).
`tools/measure_truth.py` runs them in Keras 2 and Keras 3 and writes the record.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tests.truth.depth import DEPTH
from tests.truth.found import FOUND


@dataclass(frozen=True)
class Program:
    """One source text; `inputs` tells what to call those models on that do not know their inputs."""

    name: str
    source: str
    generations: tuple[str, ...] = ("2", "3")
    inputs: dict[str, list[str]] = field(default_factory=dict)


def prelude(policy: str) -> str:
    return (
        "import numpy as np\n"
        "import tensorflow as tf\n"
        "from tensorflow import keras\n"
        "from tensorflow.keras import layers\n"
        "\n"
        f'keras.mixed_precision.set_global_policy("{policy}")\n\n'
    )


BATCH = "float32[4, 8]"


def program(name: str, body: str, *, policy: str = "mixed_float16", only: str = "23", calls: str = "") -> Program:
    body = textwrap.dedent(body).strip()
    gap = "\n" if body.startswith("class ") else ""
    return Program(name, prelude(policy) + gap + body + "\n", tuple(only), {"model": [calls]} if calls else {})


# The forms of `dtype=` on a layer.
FORMS = {
    "none": "",
    "none-written": "dtype=None",
    "float32-string": 'dtype="float32"',
    "float32-tensorflow": "dtype=tf.float32",
    "float32-tensorflow-dtypes": "dtype=tf.dtypes.float32",
    "float32-numpy": "dtype=np.float32",
    "float32-numpy-dtype": 'dtype=np.dtype("float32")',
    "float32-name-of": "dtype=tf.float32.name",
    "float32-policy": 'dtype=keras.mixed_precision.Policy("float32")',
    "float32-floatx": "dtype=keras.backend.floatx()",
    "mixed-float16-string": 'dtype="mixed_float16"',
    "mixed-float16-policy": 'dtype=keras.mixed_precision.Policy("mixed_float16")',
    "global-policy": "dtype=keras.mixed_precision.global_policy()",
    "float16-string": 'dtype="float16"',
    "float16-tensorflow": "dtype=tf.float16",
    "float16-numpy": "dtype=np.float16",
    "float16-half-name": 'dtype="half"',
    "bfloat16-string": 'dtype="bfloat16"',
    "bfloat16-tensorflow": "dtype=tf.bfloat16",
    "mixed-bfloat16-string": 'dtype="mixed_bfloat16"',
    "float64-string": 'dtype="float64"',
    "autocast-off": "autocast=False",
    "dtype-policy-argument": 'dtype_policy="float32"',
}
FORMS_OF_3 = {
    "float32-dtype-policy": 'dtype=keras.DTypePolicy("float32")',
    "float32-float-dtype-policy": 'dtype=keras.dtype_policies.FloatDTypePolicy("float32")',
    "global-dtype-policy": "dtype=keras.config.dtype_policy()",
}


def forms() -> Iterator[Program]:
    for only, table in (("23", FORMS), ("3", FORMS_OF_3)):
        for name, argument in table.items():
            body = f"""
                inputs = keras.Input((8,))
                model = keras.Model(inputs, layers.Dense({f"3, {argument}" if argument else "3"})(inputs))
                """
            yield program(f"forms/{name}", body, only=only)
            yield program(f"forms-under-float32/{name}", body, only=only, policy="float32")


# What a half tensor `x` of eight features may end in.
ENDS = {
    "dense-softmax": 'layers.Dense(3, activation="softmax")(x)',
    "dense-softmax-float32": 'layers.Dense(3, activation="softmax", dtype="float32")(x)',
    "activation-softmax": 'layers.Activation("softmax")(x)',
    "activation-softmax-float32": 'layers.Activation("softmax", dtype="float32")(x)',
    "activation-function-float32": 'layers.Activation(keras.activations.softmax, dtype="float32")(x)',
    "softmax-layer": "layers.Softmax()(x)",
    "softmax-layer-float32": 'layers.Softmax(dtype="float32")(x)',
    "activation-linear-float32": 'layers.Activation("linear", dtype="float32")(x)',
    "identity-float32": 'layers.Identity(dtype="float32")(x)',
    "reshape-float32": 'layers.Reshape((8,), dtype="float32")(x)',
    "dropout-float32": 'layers.Dropout(0.0, dtype="float32")(x)',
    "relu-float32": 'layers.ReLU(dtype="float32")(x)',
    "lambda-cast": 'layers.Lambda(lambda v: tf.cast(v, "float32"))(x)',
    "lambda-identity-float32": 'layers.Lambda(lambda v: v, dtype="float32")(x)',
    "softmax-function": "keras.activations.softmax(x)",
    "tensorflow-softmax": "tf.nn.softmax(x)",
    "tensorflow-cast": 'tf.cast(x, "float32")',
    "tensorflow-cast-dtype": "tf.cast(x, tf.float32)",
    "cast-then-softmax": 'tf.nn.softmax(tf.cast(x, "float32"))',
    "softmax-then-cast": 'tf.cast(tf.nn.softmax(x), "float32")',
    "add-python-float": "x + 1.0",
    "multiply-python-int": "x * 2",
    "divide-numpy-scalar": "x / np.float32(2)",
    "add-numpy-array": 'x + np.ones(8, "float32")',
    "add-tensor": "x + tf.ones(8)",
    "reduce-mean": "tf.reduce_mean(x)",
    "slice": "x[:, :2]",
    "negative": "-x",
    "greater": "x > 0",
}
ENDS_OF_3 = {
    "ops-softmax": "keras.ops.softmax(x)",
    "ops-cast": 'keras.ops.cast(x, "float32")',
    "ops-cast-then-softmax": 'keras.ops.softmax(keras.ops.cast(x, "float32"))',
    "ops-mean": "keras.ops.mean(x)",
    "ops-add-numpy-array": 'keras.ops.add(x, np.ones(8, "float32"))',
    "ops-concatenate": 'keras.ops.concatenate([x, keras.ops.cast(x, "float32")])',
}


def ends() -> Iterator[Program]:
    for only, table in (("23", ENDS), ("3", ENDS_OF_3)):
        for name, end in table.items():
            functional = f"""
                inputs = keras.Input((8,))
                x = layers.Dense(8)(inputs)
                model = keras.Model(inputs, {end})
                """
            in_call = f"""
                class End(keras.Model):
                    def call(self, x):
                        return {end}


                model = End()
                """
            yield program(f"ends/functional/{name}", functional, only=only)
            if "layers." not in end:  # a layer belongs into __init__
                yield program(f"ends/call/{name}", in_call, only=only, calls=BATCH)


INPUTS = {
    "default": "keras.Input((8,))",
    "float16": 'keras.Input((8,), dtype="float16")',
    "int32": 'keras.Input((8,), dtype="int32")',
}


def model_inputs() -> Iterator[Program]:
    for name, made in INPUTS.items():
        yield program(
            f"inputs/{name}",
            f"""
            inputs = {made}
            model = keras.Model(inputs, [inputs, layers.Dense(2)(inputs)])
            """,
        )
    yield program(
        "inputs/sequential",
        """
        net = keras.Sequential([layers.Input((8,)), layers.Dense(2)])
        model = keras.Model(net.inputs, net.inputs)
        """,
    )
    yield program(
        "inputs/sequential-input-shape",
        """
        net = keras.Sequential([layers.Dense(2, input_shape=(8,))])
        model = keras.Model(net.inputs, net.inputs)
        """,
    )


# The last part of a Functional model behind the half tensor `h`.
FUNCTIONAL = {
    "softmax": 'layers.Dense(3, activation="softmax")(h)',
    "float32-activation": 'layers.Activation("softmax", dtype="float32")(layers.Dense(3)(h))',
    "list": '[layers.Dense(3)(h), layers.Dense(3, dtype="float32")(h)]',
    "mapping": '{"a": layers.Dense(3)(h), "b": layers.Dense(3, dtype="float32")(h)}',
    "float32-dense": 'layers.Dense(3, dtype="float32")(h)',
    "float32-dense-then-dropout": 'layers.Dropout(0.1)(layers.Dense(8, dtype="float32")(h))',
    "float32-dense-then-reshape": 'layers.Reshape((2, 4))(layers.Dense(8, dtype="float32")(h))',
    "float32-dense-then-flatten": 'layers.Flatten()(layers.Dense(8, dtype="float32")(h))',
}
# Models of a sequence (2 steps of 8).
SEQUENCES = {
    "time-distributed-inner-float32": 'layers.TimeDistributed(layers.Dense(3, dtype="float32"))',
    "time-distributed-outer-float32": 'layers.TimeDistributed(layers.Dense(3), dtype="float32")',
    "bidirectional-inner-float32": 'layers.Bidirectional(layers.LSTM(3, dtype="float32"))',
    "bidirectional-outer-float32": 'layers.Bidirectional(layers.LSTM(3), dtype="float32")',
    "rnn-cell-outer-float32": 'layers.RNN(layers.LSTMCell(3), dtype="float32")',
    "rnn-cell-both-float32": 'layers.RNN(layers.LSTMCell(3, dtype="float32"), dtype="float32")',
    "time-distributed": "layers.TimeDistributed(layers.Dense(3))",
    "bidirectional": "layers.Bidirectional(layers.LSTM(3))",
}
SUBCLASS = """
class Net(keras.Model):
    def __init__(self, last_dtype=None, **kwargs):
        super().__init__(**kwargs)
        self.a = layers.Dense(8)
        self.b = layers.Dense(3, activation="softmax", dtype=last_dtype)

    def call(self, t):
        return self.b(self.a(t))

"""
SUBCLASSES = {
    "softmax": "\nmodel = Net()\n",
    "float32-last-layer": '\nmodel = Net("float32")\n',
    "model-dtype": '\nmodel = Net(dtype="float32")\n',
    "cast-after": """
class NetCast(Net):
    def call(self, t):
        return tf.cast(super().call(t), "float32")


model = NetCast()
""",
    "softmax-function": """
class NetFunction(Net):
    def call(self, t):
        return tf.nn.softmax(self.a(t))


model = NetFunction()
""",
    "inner-float32": """
class Outer(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Net(last_dtype="float32")

    def call(self, t):
        return self.inner(t)


model = Outer()
""",
    "inner-float32-doubled": """
class Outer(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Net(last_dtype="float32")

    def call(self, t):
        return self.inner(t) * 2.0


model = Outer()
""",
}
NESTED = {
    "half-is-output": ("None", "inner(inputs)"),
    "float32-is-output": ('"float32"', "inner(inputs)"),
    "float32-then-dense": ('"float32"', "layers.Dense(3)(inner(inputs))"),
    "half-then-float32-activation": ("None", 'layers.Activation("linear", dtype="float32")(inner(inputs))'),
}
RETURNS_ITS_INPUT = """
class Raw(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(8)

    def call(self, t):
        return {"input_as_seen": t, "out": self.a(t)}


model = Raw()
"""


def models() -> Iterator[Program]:
    for name, end in FUNCTIONAL.items():
        yield program(
            f"models/functional/{name}",
            f"""
            inputs = keras.Input((8,))
            h = layers.Dense(8, activation="relu")(inputs)
            model = keras.Model(inputs, {end})
            """,
        )
    yield program(
        "models/functional/model-dtype",
        """
        inputs = keras.Input((8,))
        h = layers.Dense(8, activation="relu")(inputs)
        model = keras.Model(inputs, layers.Dense(3)(h), dtype="float32")
        """,
    )
    yield program(
        "models/functional/input-is-output",
        """
        inputs = keras.Input((8,))
        model = keras.Model(inputs, [inputs, layers.Dense(2)(inputs)])
        """,
    )
    yield program(
        "models/functional/called-on-float16",
        """
        inputs = keras.Input((8,))
        h = layers.Dense(8, activation="relu")(inputs)
        model = keras.Model(inputs, layers.Dense(3, dtype="float32")(h))
        result = model(np.zeros((4, 8), "float16"))
        """,
        calls="float16[4, 8]",
    )
    for name, end in {
        "softmax": 'keras.Input((8,)), layers.Dense(3, activation="softmax")',
        "float32-activation": 'keras.Input((8,)), layers.Dense(3), layers.Activation("softmax", dtype="float32")',
        "float32-activation-no-input": 'layers.Dense(3), layers.Activation("softmax", dtype="float32")',
        "softmax-no-input": 'layers.Dense(8), layers.Dense(3, activation="softmax")',
    }.items():
        calls = "" if "Input(" in end else BATCH
        yield program(f"models/sequential/{name}", f"model = keras.Sequential([{end}])", calls=calls)
    for name, rest in SUBCLASSES.items():
        yield program(f"models/subclass/{name}", SUBCLASS + rest, calls=BATCH)
    yield program("models/subclass/returns-its-input", RETURNS_ITS_INPUT, calls=BATCH)
    yield program(
        "models/subclass/returns-its-integer-input",
        RETURNS_ITS_INPUT + 'result = model(np.zeros((4, 8), "int32"))\n',
        calls="int32[4, 8]",
    )
    for name, (dtype, end) in NESTED.items():
        yield program(
            f"models/nested/{name}",
            f"""
            inner = keras.Sequential(
                [keras.Input((8,)), layers.Dense(8), layers.Dense(8, activation="softmax", dtype={dtype})]
            )
            inputs = keras.Input((8,))
            model = keras.Model(inputs, {end})
            """,
        )
    for name, layer in SEQUENCES.items():
        yield program(f"models/sequence/{name}", f"model = keras.Sequential([keras.Input((2, 8)), {layer}])")
    for name, arguments in {"float32": ', dtype="float32"', "mixed": ""}.items():
        yield program(
            f"models/sequence/multi-head-attention-{name}",
            f"""
            inputs = keras.Input((2, 8))
            model = keras.Model(inputs, layers.MultiHeadAttention(2, 4{arguments})(inputs, inputs))
            """,
        )


# Layers whose symbolic dtype Keras 3 gets wrong.
LIES = {
    "lambda-cast": 'layers.Lambda(lambda v: tf.cast(v, "float32"))',
    "lambda-cast-output-shape": 'layers.Lambda(lambda v: tf.cast(v, "float32"), output_shape=(8,))',
    "cast-layer": "CastEnd()",
    "cast-layer-with-shape": "CastEndShape()",
    "float32-cast-layer": 'CastEnd(dtype="float32")',
    "mixed-weight-layer": "MixEnd()",
    "float32-layer-to-float16": 'To16(dtype="float32")',
    "float32-layer-to-float16-with-shape": 'To16Shape(dtype="float32")',
}
LAYERS = {
    "CastEnd": """
class CastEnd(layers.Layer):
    def call(self, t):
        return tf.cast(t, "float32")
""",
    "MixEnd": """
class MixEnd(layers.Layer):
    def build(self, input_shape):
        self.w = self.add_weight(shape=(8,), initializer="ones", name="w")

    def call(self, t):
        return tf.cast(t, "float32") + self.w
""",
    "To16": """
class To16(layers.Layer):
    def call(self, t):
        return tf.cast(t, "float16")
""",
}


def lies() -> Iterator[Program]:
    for name, made in LIES.items():
        class_name = made.split("(")[0]
        base = class_name.removesuffix("Shape")
        definitions = LAYERS.get(base, "").lstrip()
        if base != class_name:
            definitions += (
                f"\n\nclass {class_name}({base}):\n    def compute_output_shape(self, input_shape):\n"
                "        return input_shape\n"
            )
        gap = "\n\n" if definitions else ""
        rest = f"inputs = keras.Input((8,))\nmodel = keras.Model(inputs, {made}(layers.Dense(8)(inputs)))\n"
        yield program(f"lies/{name}", definitions + gap + rest)


# The original head and its rewrites, in each kind of model.
HEADS = {
    "original": ['layers.Dense(3, activation="softmax", name="p"{more})'],
    "split": ['layers.Dense(3, name="p_logits"{more})', 'layers.Activation("softmax", dtype="float32", name="p")'],
    "split-dense-keeps-name": [
        'layers.Dense(3, name="p"{more})',
        'layers.Activation("softmax", dtype="float32", name="p_out")',
    ],
    "dtype": ['layers.Dense(3, activation="softmax", dtype="float32", name="p"{more})'],
}
DENSE_ARGUMENTS = (
    ', kernel_regularizer=keras.regularizers.L2(0.01), bias_regularizer="l2", '
    'kernel_constraint=keras.constraints.MaxNorm(1.0), use_bias=True, kernel_initializer="he_normal"'
)
# Which attributes of a subclassed model hold the Dense and the Activation.
ATTRIBUTES = {
    "original": ("p", ""),
    "split": ("p_logits", "p"),
    "split-dense-keeps-name": ("p", "p_out"),
    "dtype": ("p", ""),
}


def functional_head(layers_of_head: list[str], extra: str = "") -> str:
    lines = [
        'inputs = keras.Input((8,), name="i")',
        'x = layers.Dense(16, activation="relu", name="h")(inputs)',
        *(f"x = {layer}(x)" for layer in layers_of_head),
        "model = keras.Model(inputs, x)",
    ]
    return "\n".join(lines) + "\n" + extra


def sequential_head(layers_of_head: list[str]) -> str:
    lines = [
        "model = keras.Sequential(",
        "    [",
        "        keras.Input((8,)),",
        '        layers.Dense(16, activation="relu", name="h"),',
        *(f"        {layer}," for layer in layers_of_head),
        "    ]",
        ")",
    ]
    return "\n".join(lines)


def subclass_head(kind: str, layers_of_head: list[str]) -> str:
    names = [name for name in ATTRIBUTES[kind] if name]
    lines = [
        "class Net(keras.Model):",
        "    def __init__(self):",
        "        super().__init__()",
        '        self.h = layers.Dense(16, activation="relu", name="h")',
        *(f"        self.{name} = {layer}" for name, layer in zip(names, layers_of_head, strict=True)),
        "",
        "    def call(self, t):",
        "        t = self.h(t)",
        *(f"        t = self.{name}(t)" for name in names),
        "        return t",
        "",
        "",
        "model = Net()",
    ]
    return "\n".join(lines)


SET_ATTRIBUTES = """
class Net(keras.Model):
    def __init__(self, dense_attribute, activation_attribute):
        super().__init__()
        self.body = layers.Dense(16, activation="relu")
        setattr(self, dense_attribute, layers.Dense(3))
        setattr(self, activation_attribute, layers.Activation("softmax", dtype="float32"))
        self.chain = [dense_attribute, activation_attribute]

    def call(self, t):
        t = self.body(t)
        for attribute in self.chain:
            t = getattr(self, attribute)(t)
        return t


model = Net("cls", "cls_softmax")
"""


def heads() -> Iterator[Program]:
    for kind, templates in HEADS.items():
        plain = [layer.format(more="") for layer in templates]
        for policy in ("mixed_float16", "mixed_bfloat16", "float32"):
            yield program(f"heads/functional/{policy}/{kind}", functional_head(plain), policy=policy)
            yield program(f"heads/sequential/{policy}/{kind}", sequential_head(plain), policy=policy)
            yield program(f"heads/subclass/{policy}/{kind}", subclass_head(kind, plain), policy=policy, calls=BATCH)
        full = [layer.format(more=DENSE_ARGUMENTS) for layer in templates]
        yield program(f"heads/arguments/{kind}", functional_head(full))
        steps = "".join(f"x = {layer}(x)\n" for layer in plain)
        output = "p_out" if kind == "split-dense-keeps-name" else "p"
        two = f"""
inputs = keras.Input((8,))
x = h = layers.Dense(16, activation="relu")(inputs)
{steps}model = keras.Model(inputs, [x, layers.Dense(1, dtype="float32", name="q")(h)])
model.compile("sgd", loss={{"{output}": "sparse_categorical_crossentropy", "q": "mse"}})
"""
        yield program(f"heads/two-outputs/{kind}", two)
        by_name = 'part = keras.Model(model.input, model.get_layer("p").output)\n'
        yield program(f"heads/by-name/{kind}", functional_head(plain, by_name))
    yield program("heads/attributes-by-name", SET_ATTRIBUTES, calls=BATCH)


def bodies(folder: str, table: Mapping[str, tuple[str, str, dict[str, list[str]]]]) -> Iterator[Program]:
    for name, (generations, body, inputs) in table.items():
        yield replace(program(f"{folder}/{name}", body, only=generations), inputs=inputs)


PROGRAMS: tuple[Program, ...] = (
    *forms(),
    *ends(),
    *model_inputs(),
    *models(),
    *lies(),
    *heads(),
    *bodies("depth", DEPTH),
    *bodies("found", FOUND),
)
