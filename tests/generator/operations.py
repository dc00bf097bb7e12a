"""Expressions over one tensor."""

from __future__ import annotations

from tests.generator.activations import softmax_function
from tests.generator.author import Author, Options

_ARITHMETIC = ("{t} * 2.0", "{t} + 1", "-{t}", "{t} / 3", "{t} ** 2", "1.0 - {t}", "0.5 * {t} + 0.5", "{t}[:, :]")
_TENSORFLOW = (
    "nn.relu({t})",
    "tanh({t})",
    "sigmoid({t})",
    "abs({t})",
    "square({t})",
    "identity({t})",
    "stop_gradient({t})",
    "clip_by_value({t}, 0.0, 1.0)",
    "maximum({t}, 0.0)",
    "nn.l2_normalize({t}, axis=-1)",
    "nn.softmax({t})",
    "nn.log_softmax({t})",
    "math.exp({t})",
    "zeros_like({t}) + {t}",
    "where({t} > 0, {t}, 0.0)",
    "cast({t}, {t}.dtype)",
)
_OPS = (
    "relu({t})",
    "tanh({t})",
    "sigmoid({t})",
    "abs({t})",
    "square({t})",
    "softmax({t})",
    "log_softmax({t})",
    "maximum({t}, 0.0)",
    "clip({t}, 0.0, 1.0)",
    "add({t}, 1.0)",
    "multiply({t}, 2)",
    "exp({t})",
    "stop_gradient({t})",
    "mean({t}, axis=-1, keepdims=True) + {t}",
    "where({t} > 0, {t}, 0.0)",
)


_LAST_TENSORFLOW = (
    "argmax({t}, axis=-1)",
    "reduce_mean({t})",
    "reduce_mean({t}, axis=-1)",
    "reduce_max({t}, axis=-1, keepdims=True)",
    "reduce_sum({t}, axis=1)",
    "reduce_logsumexp({t}, axis=-1)",
    "one_hot(tf.argmax({t}, axis=-1), 3)",
    "cast({t} > 0.5, tf.float32)",
    "shape({t})",
    "math.top_k({t}, k=1)",
    "split({t}, 2, axis=0)",
    "norm({t}, axis=-1)",
    "sqrt(tf.abs({t}))",
    "round({t})",
    "concat([{t}, {t}], axis=-1)",
    "stack([{t}, {t}], axis=1)",
    "expand_dims({t}, axis=-1)",
    "gather({t}, [0], axis=-1)",
    "transpose({t})",
    "nn.leaky_relu({t})",
    "nn.gelu({t})",
    "add_n([{t}, {t}])",
    "math.divide_no_nan({t}, {t})",
    "nn.moments({t}, axes=[-1])",
    "cumsum({t}, axis=-1)",
    "sort({t})",
    "argsort({t})",
    "nn.softmax({t}, axis=-1)",
    "nn.softmax(tf.cast({t}, tf.float32))",
    "reshape({t}, [-1])",
    "cast({t}, tf.int32)",
    "cast(tf.nn.softmax({t}), tf.float32)",
    "math.is_nan({t})",
    "unstack({t}, num=2, axis=0)",
    "zeros_like({t}, dtype=tf.float32)",
    "ones_like({t})",
    "clip_by_norm({t}, 1.0)",
    "math.l2_normalize({t}, axis=-1)",
    "math.reduce_variance({t}, axis=-1)",
)
_LAST_OPS = (
    "argmax({t}, axis=-1)",
    "mean({t})",
    "mean({t}, axis=-1)",
    "max({t}, axis=-1, keepdims=True)",
    "sum({t}, axis=1)",
    "logsumexp({t}, axis=-1)",
    "one_hot({o}argmax({t}, axis=-1), 3)",
    "greater({t}, 0.5)",
    "cast({o}greater({t}, 0.5), 'float32')",
    "top_k({t}, k=1)",
    "norm({t}, axis=-1)",
    "sqrt({o}abs({t}))",
    "round({t})",
    "concatenate([{t}, {t}], axis=-1)",
    "stack([{t}, {t}], axis=1)",
    "expand_dims({t}, axis=-1)",
    "take({t}, [0], axis=-1)",
    "transpose({t})",
    "leaky_relu({t})",
    "gelu({t})",
    "divide({t}, 2.0)",
    "moments({t}, axes=[-1])",
    "cumsum({t}, axis=-1)",
    "sort({t})",
    "argsort({t})",
    "softmax({o}cast({t}, 'float32'))",
    "reshape({t}, (-1,))",
    "var({t}, axis=-1)",
    "std({t}, axis=-1)",
    "isnan({t})",
    "zeros_like({t})",
    "ones_like({t}, dtype='float32')",
    "normalize({t}, axis=-1)",
    "matmul({t}, {o}swapaxes({t}, -1, -2))",
    "true_divide({t}, 3)",
    "square({t})",
    "arange(3)",
    "average({t}, axis=-1)",
    "median({t}, axis=-1)",
)


def last(a: Author, tensor: str, *, in_call: bool) -> str:
    """An expression for the end of a model: it may have any shape and dtype, or be several."""
    if a.is_3 and (not in_call or a.choices.chance(0.5)):
        ops = a.keras("ops.softmax").removesuffix("softmax")
        if ops.endswith("."):
            return ops + a.choices.pick(_LAST_OPS).format(t=tensor, o=ops)
        return f"{a.keras('ops.mean')}({tensor}, axis=-1)"
    return a.spelling.tensorflow(a.choices.pick(_LAST_TENSORFLOW).format(t=tensor))


def expression(a: Author, tensor: str, *, in_call: bool) -> str:
    """An expression that keeps the shape; `in_call` says that the tensor has data, as inside a layer."""
    forms = ["arithmetic", "softmax", "cast", "numpy"]
    if in_call or not a.is_3:
        forms += ["tensorflow", "tensorflow", "tensorflow cast"]
    if a.is_3:
        forms += ["ops", "ops", "ops cast"]
    match a.choices.pick(forms):
        case "tensorflow":
            return a.spelling.tensorflow(a.choices.pick(_TENSORFLOW).format(t=tensor))
        case "ops":
            name, _, rest = a.choices.pick(_OPS).partition("(")
            return f"{a.keras(f'ops.{name}')}({rest.format(t=tensor)}"
        case "tensorflow cast":
            return cast(a, a.spelling.tensorflow("cast"), tensor)
        case "ops cast":
            return cast(a, a.keras("ops.cast"), tensor)
        case "softmax":
            return f"{softmax_function(a, in_call=in_call)}({tensor})"
        case "numpy":
            return a.choices.pick(
                (f"{tensor} * {a.spelling.numpy('float32')}(2)", f"{tensor} / {a.spelling.numpy('sqrt')}(8.0)")
            )
        case "cast" if in_call:
            return cast(a, a.spelling.tensorflow("cast"), tensor)
        case _:
            return a.choices.pick(_ARITHMETIC).format(t=tensor)


def cast(a: Author, function: str, tensor: str) -> str:
    """To float32, to half, or to what it is already."""
    options: Options = [
        (5, lambda: a.text("float32")),
        (2, lambda: a.spelling.tensorflow("float32")),
        (1, lambda: a.text("float16")),
        (1, lambda: a.spelling.tensorflow("bfloat16")),
        (1, lambda: f"{tensor}.dtype" if tensor.isidentifier() else a.text("float32")),
    ]
    dtype = a.choices.weighted(options)()
    return a.page.call(function, tensor, dtype) if a.choices.chance(0.7) else a.page.call(function, tensor, dtype=dtype)
