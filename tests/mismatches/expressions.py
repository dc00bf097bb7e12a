"""Expressions of a layer's `call`, under mixed_float16: `x` is a half tensor of shape (4, 8)."""

from __future__ import annotations

COMMON = """
x + tf.random.normal(tf.shape(x))
x + tf.random.uniform(tf.shape(x), -1, 1)
x * tf.random.truncated_normal((4, 8))
x + tf.zeros((4, 8))
x + tf.ones((8,))
x + tf.ones_like(x)
x + tf.zeros_like(x, dtype=tf.float32)
x + tf.eye(4, 8)
x + tf.range(8.0)
x + tf.range(0.0, 8.0, 1.0)
x + tf.cast(tf.range(8), tf.float32)
x + tf.cast(tf.range(8), x.dtype)
x + tf.one_hot([0, 1, 2, 3], 8)
x + tf.one_hot([0, 1, 2, 3], 8, dtype=x.dtype)
x + tf.linspace(0.0, 1.0, 8)
x + tf.fill((4, 8), 1.0)
x + tf.fill(tf.shape(x), 0.5)
x + tf.constant(1.0)
x + tf.constant([1.0] * 8)
x + tf.constant(np.ones((8,), "float32"))
x + tf.constant(np.ones((8,)), tf.float32)
x + tf.convert_to_tensor(1.0)
x + tf.convert_to_tensor(np.ones((8,), "float32"))
x * tf.sequence_mask([1, 2, 3, 4], 8, dtype=tf.float32)
x * tf.cast(tf.sequence_mask([1, 2, 3, 4], 8), tf.float32)
x * tf.cast(x > 0, tf.float32)
x * tf.cast(x > 0, "float32")
x * tf.cast(x > 0.0, x.dtype)
x * tf.cast(x > tf.constant(0.0), x.dtype)
x * tf.cast(tf.greater(x, 0.0), x.dtype)
x * tf.cast(tf.math.greater(x, tf.reduce_mean(tf.cast(x, tf.float32))), x.dtype)
x / tf.sqrt(8.0)
x / tf.math.sqrt(tf.cast(tf.shape(x)[-1], tf.float32))
x / tf.math.sqrt(tf.cast(tf.shape(x)[-1], x.dtype))
x / np.sqrt(8)
x * np.float32(2.0)
x + np.ones((8,))
x + np.ones((8,), "float32")
np.ones((8,), "float32") + x
np.float32(2.0) * x
x ** 2
x ** 2.0
tf.pow(x, 2.0)
tf.pow(x, tf.constant(2.0))
tf.maximum(x, 0.0)
tf.maximum(x, tf.constant(0.0))
tf.minimum(x, tf.zeros((8,)))
tf.where(x > 0, x, 0.0)
tf.where(x > 0, x, tf.zeros((4, 8)))
tf.where(x > 0, x, tf.zeros_like(x))
tf.where(x > 0, tf.ones((4, 8)), 0.0) * x
tf.where(x > 0, 1.0, 0.0) * x
tf.where(x > 0, 1, 0) * 2
tf.clip_by_value(x, 0.0, 1.0)
tf.clip_by_value(0.9, 0.0, 1.0) * x
tf.sigmoid(2.0) * x
tf.nn.softplus(self.plain) * x
self.plain * x
x * self.plain
x + self.plain32
tf.matmul(x, self.kernel)
tf.matmul(x, self.kernel32)
tf.matmul(x, self.hard)
tf.matmul(x, self.plain2)
tf.matmul(tf.cast(x, tf.float32), self.kernel)
tf.matmul(tf.cast(x, tf.float32), self.hard)
tf.matmul(tf.cast(x, tf.float32), self.plain2)
tf.matmul(x, tf.cast(self.hard, x.dtype))
tf.matmul(x, self.inner.kernel)
tf.matmul(x, self.inner32.kernel)
tf.matmul(x, self.table.embeddings, transpose_b=True)
tf.cast(x, tf.float32) * x
tf.cast(x, tf.float32) + self.kernel[0]
x + self.inner32(x)
x + self.inner(x)
x + self.table(tf.zeros((4,), tf.int32))
tf.concat([x, tf.zeros((4, 8))], -1)
tf.concat([x, tf.cast(x, tf.float32)], -1)
tf.concat([x, self.inner32(x)], axis=-1)
tf.stack([x, tf.zeros((4, 8))])
tf.stack([x, x])
tf.concat([x, x, tf.zeros((4, 8))], -1)
tf.einsum("ij,jk->ik", x, self.hard)
tf.einsum("ij,jk->ik", x, self.kernel)
tf.einsum("ij,jk->ik", x, tf.ones((8, 8)))
tf.tensordot(x, tf.ones((8, 8)), 1)
tf.tensordot(x, self.kernel, [[1], [0]])
tf.linalg.matmul(x, tf.eye(8))
tf.nn.bias_add(x, tf.zeros((8,)))
tf.nn.bias_add(x, self.bias)
tf.add_n([x, tf.zeros((4, 8))])
tf.add(x, tf.zeros((8,)))
tf.multiply(x, tf.ones((8,)))
tf.subtract(x, 1.0)
tf.divide(x, 2.0)
tf.divide(x, tf.constant(2.0))
tf.math.divide_no_nan(x, tf.constant(2.0))
tf.math.squared_difference(x, tf.zeros((8,)))
tf.tile(x, [1, 2]) + tf.zeros((16,))
tf.reshape(x, (-1,)) + tf.zeros((32,))
tf.reduce_sum(x) + tf.constant(1.0)
tf.reduce_mean(tf.cast(x, tf.float32)) + x
tf.cast(tf.reduce_mean(tf.cast(x, tf.float32)), x.dtype) + x
x + tf.cast(1.0, self.compute_dtype)
x + tf.cast(1.0, self.dtype)
x + tf.cast(1.0, self.variable_dtype)
x + tf.cast(1.0, K.floatx())
x + tf.zeros((8,), dtype=self.compute_dtype)
x + tf.zeros((8,), dtype=self.dtype)
x + tf.zeros((8,), self.compute_dtype)
x + tf.cast(1.0, self.dtype_policy.compute_dtype)
x + tf.cast(1.0, x.dtype.base_dtype)
x + tf.saturate_cast(tf.ones((8,)), x.dtype)
x + tf.dtypes.cast(tf.ones((8,)), tf.float32)
x + tf.random.normal(tf.shape(x), dtype=x.dtype)
x + tf.random.normal(tf.shape(x), 0.0, 1.0, x.dtype)
x + tf.random.normal(tf.shape(x), mean=0.0, stddev=1.0, dtype=tf.float32)
x + tf.random.stateless_normal((4, 8), [1, 2])
x + tf.cast(tf.range(8), tf.float32) / 8.0
x + tf.cast(tf.range(8) / 8, tf.float32)
x + tf.range(8) / 8
x * tf.sin(tf.range(8.0))
x + self.pos
x + tf.cast(self.pos, x.dtype)
x + self.pos_np
x + self.pos_tf
x + POS_NP
x + POS_TF
x + tf.cast(POS_TF, x.dtype)
x + tf.gather(self.hard, [0, 1, 2, 3])
x + tf.gather(self.kernel, [0, 1, 2, 3])
x + tf.nn.embedding_lookup(self.hard, [0, 1, 2, 3])
x + tf.nn.embedding_lookup(self.kernel, [0, 1, 2, 3])
x + tf.nn.dropout(tf.ones((4, 8)), 0.1)
x * tf.linalg.band_part(tf.ones((8, 8)), -1, 0)[:4]
x * (1 - tf.linalg.band_part(tf.ones((4, 8)), -1, 0))
x * tf.transpose(tf.ones((8, 4)))
x * tf.expand_dims(tf.ones((8,)), 0)
x * tf.ones((4, 8))[:, :8]
x * tf.ones((8,))[tf.newaxis, :]
x * -tf.ones((8,))
x + tf.abs(-tf.ones((8,)))
x + abs(-tf.ones((8,)))
x > tf.zeros((8,))
x == tf.zeros((8,))
tf.equal(x, tf.zeros((8,)))
x > 0
tf.math.top_k(x)[0] + tf.zeros((4, 1))
tf.split(x, 2, axis=-1)[0] + tf.zeros((4, 4))
tf.unstack(x)[0] + tf.zeros((8,))
tf.nn.softmax(x + tf.constant(1.0))
tf.nn.relu(x) * tf.nn.relu(tf.ones((8,)))
tf.nn.conv2d(tf.reshape(x, (1, 4, 8, 1)), tf.ones((1, 1, 1, 2)), 1, "SAME")
tf.nn.conv2d(tf.reshape(x, (1, 4, 8, 1)), tf.cast(tf.ones((1, 1, 1, 2)), x.dtype), 1, "SAME")
tf.nn.batch_normalization(x, tf.zeros((8,)), tf.ones((8,)), None, None, 1e-3)
tf.nn.moments(x, [0])[0] + tf.zeros((8,))
tf.math.reduce_std(x, 0) + tf.zeros((8,))
tf.nn.l2_normalize(x, -1) + tf.zeros((8,))
tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros((4, 8)), logits=x)
tf.nn.softmax_cross_entropy_with_logits(labels=tf.zeros((4, 8)), logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3], logits=x)
tf.cond(True, lambda: x, lambda: tf.zeros((4, 8)))
tf.map_fn(lambda t: t * tf.ones((8,)), x)
tf.image.resize(tf.reshape(x, (1, 4, 8, 1)), (4, 8))[0, :, :, 0] + x
tf.image.resize(tf.reshape(x, (1, 4, 8, 1)), (4, 8), method="nearest")[0, :, :, 0] + x
tf.pad(x, [[0, 0], [0, 0]]) + tf.zeros((8,))
tf.roll(x, 1, 0) + tf.zeros((8,))
tf.identity(x) + tf.zeros((8,))
tf.stop_gradient(x) + tf.zeros((8,))
tf.squeeze(x) + tf.zeros((8,))
tf.boolean_mask(x, [True, False, True, True]) + tf.zeros((8,))
tf.cumsum(x) + tf.zeros((8,))
tf.broadcast_to(tf.ones((8,)), (4, 8)) + x
tf.repeat(tf.ones((1, 8)), 4, 0) + x
tf.meshgrid(tf.range(8.0), tf.range(4.0))[0] + x
tf.keras.activations.relu(x) + tf.zeros((8,))
tf.keras.activations.gelu(x) + tf.keras.activations.gelu(tf.zeros((8,)))
tf.keras.initializers.GlorotUniform()((8, 8))[0] + x
tf.logical_and(x > 0, x > tf.zeros((8,)))
tf.cast(tf.logical_not(x > 0), tf.float32) * x
tf.cast(tf.math.not_equal(x, 0), tf.float32) * x
tf.math.log(tf.cast(8, tf.float32)) * x
math.sqrt(8.0) * x
tf.math.rsqrt(tf.cast(tf.shape(x)[1], tf.float32)) * x
(tf.cast(x, tf.float32) * tf.ones((8,)))
tf.reduce_max(x, axis=-1, keepdims=True) * tf.ones((4, 1))
tf.argmax(x, -1)
tf.cast(tf.argmax(x, -1), tf.float32) * x[:, 0]
x @ self.hard
x @ self.kernel
x @ tf.ones((8, 8))
x.shape[-1] ** -0.5 * x
tf.cast(x.shape[-1], tf.float32) * x
float(x.shape[-1]) * x
tf.concat([x, x, tf.zeros((4, 8))], -1)
tf.matmul(x, self.listed[0])
x + self.listed[1][0]
tf.stack([x, self.listed[0][:4]])
x * tf.cast(self.kernel, tf.float32)[0]
tf.einsum("ij,jk,kl->il", x, self.kernel, tf.ones((8, 8)))
x + tf.ones((8,), dtype=tf.as_dtype(self.compute_dtype))
tf.where(tf.zeros((8,)) > 0, x, x)
""".strip().splitlines()
"""What both generations run."""
KERAS3 = """
ops.add(x, ops.ones((8,)))
ops.matmul(x, self.kernel)
ops.matmul(x, self.hard)
ops.matmul(ops.cast(x, "float32"), self.kernel)
ops.einsum("ij,jk->ik", ops.cast(x, "float32"), self.kernel)
x + ops.ones((8,))
x + ops.zeros_like(x)
x * ops.array(2.0)
x + ops.arange(8)
x + ops.arange(8, dtype="float32")
x + ops.cast(ops.arange(8), x.dtype)
x * ops.one_hot(ops.array([0, 1, 2, 3]), 8)
x * ops.sqrt(8.0)
x / ops.sqrt(ops.cast(8, "float32"))
x / ops.sqrt(ops.cast(ops.shape(x)[-1], x.dtype))
x + keras.random.normal((4, 8))
x + keras.random.normal((4, 8), dtype=x.dtype)
x + keras.random.uniform((4, 8))
x + keras.random.normal(ops.shape(x), dtype=self.compute_dtype)
ops.multiply(x, keras.random.normal((4, 8)))
ops.where(x > 0, x, 0.0)
ops.where(x > 0, x, ops.zeros((8,)))
ops.concatenate([x, ops.zeros((4, 8))], -1)
ops.stack([x, ops.zeros((4, 8))])
x * ops.cast(x > 0, "float32")
ops.multiply(x, ops.cast(x > 0, "float32"))
x + self.kvar
x + self.kvar_hard
x * ops.convert_to_tensor(2.0)
x * ops.convert_to_tensor(np.ones((8,)))
ops.add(x, np.ones((8,), "float32"))
ops.add(x, np.ones((8,)))
ops.add(x, 1.0)
ops.maximum(x, 0.0)
ops.maximum(x, ops.zeros((8,)))
x + ops.linspace(0.0, 1.0, 8)
x + ops.full((8,), 1.0)
x + ops.eye(4, 8)
x + ops.tril(ops.ones((4, 8)))
x * ops.expand_dims(ops.ones((8,)), 0)
ops.mean(ops.cast(x, "float32"), -1, keepdims=True) + x
ops.add(ops.mean(ops.cast(x, "float32"), -1, keepdims=True), x)
ops.softmax(ops.cast(x, "float32"))
ops.cast(ops.softmax(ops.cast(x, "float32")), x.dtype) * x
ops.dot(x, ops.ones((8, 8)))
x @ ops.ones((8, 8))
ops.take(self.kernel, ops.array([0, 1, 2, 3]), axis=0) + x
ops.take(self.hard, ops.array([0, 1, 2, 3]), axis=0) + x
ops.sin(ops.arange(8, dtype="float32")) * x
ops.power(10000.0, ops.arange(8, dtype="float32") / 8) * x
ops.nn.relu(x) + ops.zeros((8,), x.dtype)
ops.normalize(x) + ops.zeros((8,))
ops.clip(x, 0.0, 1.0) * ops.array(1.0)
x + keras.ops.convert_to_tensor(1.0, dtype=x.dtype)
x + keras.initializers.Zeros()((8,))
ops.logical_not(x > 0) * x
ops.square(x - ops.mean(x)) + ops.array(1.0)
ops.matmul(x, self.listed[0])
x + self.kvar * self.listed[2][0]
""".strip().splitlines()
"""What only Keras 3 has."""
_HEAD = """\
import math

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K, layers

{imports}
keras.mixed_precision.set_global_policy("{policy}")
POS_NP = np.zeros((8,), "float32")
POS_TF = tf.zeros((8,))


class Base(layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(8, 8), initializer="zeros", name="kernel")
        self.kernel32 = self.add_weight(shape=(8, 8), initializer="zeros", dtype="float32", name="kernel32")
        self.bias = self.add_weight(shape=(8,), initializer="zeros", name="bias")
        self.hard = self.add_weight(shape=(8, 8), initializer="zeros", name="hard", {autocast}=False)
        self.listed = [self.add_weight(shape=(8, 8), initializer="zeros", name=f"w{{i}}") for i in range(3)]
        self.plain = tf.Variable(1.0)
        self.plain32 = tf.Variable(tf.zeros((8,)), trainable=False)
        self.plain2 = tf.Variable(tf.zeros((8, 8)))
        self.inner = layers.Dense(8)
        self.inner32 = layers.Dense(8, dtype="float32")
        self.inner.build((4, 8))
        self.inner32.build((4, 8))
        self.table = layers.Embedding(5, 8)
        self.table.build((4,))
        self.pos = tf.constant(np.zeros((8,)), dtype=tf.float32)
        self.pos_np = np.zeros((8,), "float32")
        self.pos_tf = tf.cast(np.zeros((8,)), tf.float32)
{fields}
"""
_OF_KERAS3 = """\
        self.kvar = keras.Variable(np.zeros((8,), "float32"))
        self.kvar_hard = keras.Variable(np.zeros((8,), "float32"), autocast=False)
"""


def expressions(generation: str) -> list[str]:
    """Those that a generation runs."""
    return COMMON if generation == "2" else [*COMMON, *KERAS3]


def program(generation: str, policy: str = "mixed_float16") -> str:
    """A layer for each expression, `L0` and so on, each of them called."""
    is_3 = generation == "3"
    text = _HEAD.format(
        imports="from keras import ops\n" if is_3 else "",
        policy=policy,
        autocast="autocast" if is_3 else "experimental_autocast",
        fields=_OF_KERAS3 if is_3 else "",
    )
    found = expressions(generation)
    for index, expression in enumerate(found):
        text += f"\n\nclass L{index}(Base):\n    def call(self, x):\n        return {expression}\n"
    text += "\n\nDATA = tf.zeros((4, 8))\n"
    return text + "".join(f"y{index} = L{index}()(DATA)\n" for index in range(len(found)))
