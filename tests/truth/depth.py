"""Programs that build their models in depth: wrappers, cells, own layers, surgery, builders, configuration.

Each is a body behind the usual prelude: the generations it runs in, and what to call its models on where they do not
know their inputs.
"""

from __future__ import annotations

DEPTH: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "spectral": (
        "23",
        """
i = keras.Input((8,))
model = keras.Model(i, layers.SpectralNormalization(layers.Dense(4))(i))
""",
        {},
    ),
    "spectral-inner32": (
        "23",
        """
i = keras.Input((8,))
model = keras.Model(i, layers.SpectralNormalization(layers.Dense(4, dtype="float32"))(i))
""",
        {},
    ),
    "spectral-outer32": (
        "23",
        """
i = keras.Input((8,))
model = keras.Model(i, layers.SpectralNormalization(layers.Dense(4), dtype="float32")(i))
""",
        {},
    ),
    "td-spectral": (
        "23",
        """
i = keras.Input((3, 8))
model = keras.Model(i, layers.TimeDistributed(layers.SpectralNormalization(layers.Dense(4)))(i))
model2 = keras.Model(i, layers.TimeDistributed(layers.TimeDistributed(layers.Dense(4)))(layers.Reshape((3,2,4))(i)))
""",
        {},
    ),
    "td-td-32": (
        "23",
        """
i = keras.Input((3, 2, 4))
a = keras.Model(i, layers.TimeDistributed(layers.TimeDistributed(layers.Dense(4, dtype="float32")))(i))
b = keras.Model(i, layers.TimeDistributed(layers.TimeDistributed(layers.Dense(4), dtype="float32"))(i))
c = keras.Model(i, layers.TimeDistributed(layers.TimeDistributed(layers.Dense(4)), dtype="float32")(i))
""",
        {},
    ),
    "bi-td": (
        "23",
        """
i = keras.Input((3, 8))
x = layers.Bidirectional(layers.GRU(4, return_sequences=True))(i)
model = keras.Model(i, layers.TimeDistributed(layers.Dense(2, activation="softmax"))(x))
x2 = layers.Bidirectional(layers.GRU(4, return_sequences=True, dtype="float32"), merge_mode=None)(i)
model2 = keras.Model(i, x2)
x3 = layers.Bidirectional(layers.LSTM(4, return_state=True))(i)
model3 = keras.Model(i, x3)
""",
        {},
    ),
    "cells": (
        "23",
        """
i = keras.Input((3, 8))
a = keras.Model(i, layers.RNN(layers.LSTMCell(4))(i))
b = keras.Model(i, layers.RNN([layers.GRUCell(4), layers.LSTMCell(4)])(i))
c = keras.Model(i, layers.RNN(layers.StackedRNNCells([layers.GRUCell(4), layers.GRUCell(4)]), return_sequences=True)(i))
e = keras.Model(i, layers.RNN(layers.GRUCell(4), return_state=True)(i))
f = keras.Model(i, layers.RNN(layers.LSTMCell(4), return_state=True)(i))
""",
        {},
    ),
    "rnn32": (
        "3",
        """
i = keras.Input((3, 8))
a = keras.Model(i, layers.RNN(layers.LSTMCell(4), dtype="float32")(i))
""",
        {},
    ),
    "rnn-both32": (
        "23",
        """
i = keras.Input((3, 8))
a = keras.Model(i, layers.RNN(layers.LSTMCell(4, dtype="float32"), dtype="float32")(i))
""",
        {},
    ),
    "own-cell": (
        "23",
        """
class Cell(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.output_size = units
    def build(self, shape):
        self.k = self.add_weight(shape=(shape[-1], self.units), name="k")
        self.built = True
    def call(self, inputs, states):
        h = tf.matmul(inputs, self.k) + states[0]
        return h, [h]
i = keras.Input((3, 8))
model = keras.Model(i, layers.RNN(Cell(4))(i))
""",
        {},
    ),
    "lstm-state-loop": (
        "23",
        """
i = keras.Input((3, 8))
out, h, c = layers.LSTM(4, return_state=True)(i)
d = layers.LSTM(4, return_sequences=True)(i, initial_state=[h, c])
model = keras.Model(i, [d, h])
""",
        {},
    ),
    "lambdas": (
        "23",
        """
i = keras.Input((8,))
x = layers.Dense(4)(i)
a = keras.Model(i, layers.Lambda(lambda t: t * 2)(x))
b = keras.Model(i, layers.Lambda(lambda t: tf.cast(t, tf.float32))(x))
c = keras.Model(i, layers.Lambda(tf.nn.softmax)(x))
d = keras.Model(i, layers.Lambda(lambda t: tf.nn.softmax(t), dtype="float32")(x))
e = keras.Model(i, layers.Lambda(lambda ts: ts[0] + ts[1])([x, x]))
f = keras.Model(i, layers.Lambda(lambda t: [t, t * 2])(x))
def scale(t, by=2.0):
    return t * by
g = keras.Model(i, layers.Lambda(scale, arguments={"by": 3.0})(x))
h = keras.Model(i, layers.Lambda(lambda t: tf.reduce_mean(t, axis=-1), output_shape=())(x))
j = keras.Model(i, layers.Lambda(lambda t: tf.argmax(t, axis=-1))(x))
k = keras.Model(i, layers.Lambda(lambda t: tf.math.l2_normalize(t, axis=1))(x))
""",
        {},
    ),
    "own-layers": (
        "23",
        """
class Scale(layers.Layer):
    def build(self, shape):
        self.g = self.add_weight(shape=(shape[-1],), initializer="ones", name="g")
    def call(self, x):
        return x * self.g
class Head(layers.Layer):
    def __init__(self, n, **kw):
        super().__init__(**kw)
        self.d = layers.Dense(n)
    def call(self, x):
        return tf.cast(self.d(x), tf.float32)
class Res(layers.Layer):
    def __init__(self, block, **kw):
        super().__init__(**kw)
        self.block = block
    def call(self, x, training=None):
        return x + self.block(x)
class Lies(layers.Layer):
    def call(self, x):
        return tf.cast(x, "float32")
    def compute_output_shape(self, s):
        return s
i = keras.Input((8,))
a = keras.Model(i, Scale()(i))
b = keras.Model(i, Head(3)(i))
c = keras.Model(i, Res(layers.Dense(8))(i))
d = keras.Model(i, Scale(dtype="float32")(Head(3)(i)))
e = keras.Model(i, Lies()(i))
f = keras.Model(i, layers.Dropout(0.1)(Lies()(i)))
""",
        {},
    ),
    "layers-in-loops": (
        "23",
        """
class Net(keras.Model):
    def __init__(self, depth=3, **kw):
        super().__init__(**kw)
        self.blocks = [layers.Dense(8, activation="relu") for _ in range(depth)]
        self.norms = []
        for k in range(depth):
            self.norms.append(layers.LayerNormalization())
        self.heads = {}
        for name in ("a", "b"):
            self.heads[name] = layers.Dense(2, name=name)
        for k in range(2):
            setattr(self, f"extra_{k}", layers.Dense(4))
    def call(self, x):
        for block, norm in zip(self.blocks, self.norms):
            x = norm(block(x))
        for k in range(2):
            x = getattr(self, f"extra_{k}")(x)
        return {name: head(x) for name, head in self.heads.items()}
model = Net()
""",
        {"model": ["float32[2, 8]"]},
    ),
    "unknown-depth": (
        "23",
        """
import os
class Net(keras.Model):
    def __init__(self, depth, **kw):
        super().__init__(**kw)
        self.blocks = [layers.Dense(8, activation="relu") for _ in range(depth)]
        self.out = layers.Dense(1)
    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x)
model = Net(int(os.environ.get("DEPTH", "2")))
""",
        {"model": ["float32[2, 8]"]},
    ),
    "build-in-build": (
        "23",
        """
class Net(keras.Model):
    def build(self, shape):
        self.d = layers.Dense(4)
        self.o = layers.Dense(2, activation="softmax", dtype="float32")
        super().build(shape)
    def call(self, x):
        return self.o(self.d(x))
model = Net()
""",
        {"model": ["float32[2, 8]"]},
    ),
    "tied": (
        "23",
        """
class Tied(layers.Layer):
    def __init__(self, emb, **kw):
        super().__init__(**kw)
        self.emb = emb
    def call(self, x):
        return tf.matmul(x, tf.cast(self.emb.embeddings, x.dtype), transpose_b=True)
e = layers.Embedding(10, 8)
i = keras.Input((3,), dtype="int32")
model = keras.Model(i, Tied(e)(e(i)))
d = layers.Dense(8)
j = keras.Input((8,))
model2 = keras.Model(j, d(d(j)))
""",
        {},
    ),
    "clone": (
        "23",
        """
i = keras.Input((8,))
m = keras.Model(i, layers.Dense(2, dtype="float32")(layers.Dense(4)(i)))
c = keras.models.clone_model(m)
s = keras.Sequential([keras.Input((8,)), layers.Dense(3)])
c2 = keras.models.clone_model(s)
""",
        {},
    ),
    "surgery": (
        "23",
        """
i = keras.Input((8,))
x = layers.Dense(4, name="one")(i)
x = layers.Dense(4, name="two", dtype="float32")(x)
m = keras.Model(i, layers.Dense(3, activation="softmax", name="p")(x))
a = keras.Model(m.input, m.layers[-2].output)
b = keras.Model(m.inputs, m.get_layer("one").output)
c = keras.Model(m.input, layers.Dense(2)(m.layers[-2].output))
d = keras.Model(m.inputs, m.outputs)
e = keras.Model(m.input, [l.output for l in m.layers[1:]])
f = keras.Sequential(m.layers[:-1])
g = keras.Model(m.input, m.get_layer(index=2).output)
h = keras.Model(inputs=m.input, outputs=m.output)
""",
        {},
    ),
    "surgery-seq": (
        "2",
        """
m = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(4, dtype="float32"), layers.Dense(3)])
a = keras.Model(m.inputs, m.layers[-2].output)
m.pop()
m.add(layers.Dense(5, name="new"))
b = keras.Sequential()
for l in m.layers[:-1]:
    b.add(l)
""",
        {},
    ),
    "preproc": (
        "23",
        """
i = keras.Input((4,))
j = keras.Input((1,))
n = keras.Input((1,), dtype="int64")
a = keras.Model(i, layers.Normalization(mean=0.0, variance=1.0)(i))
b = keras.Model(i, layers.Discretization([0.0, 1.0])(i))
b2 = keras.Model(j, layers.Discretization([0.0, 1.0], output_mode="multi_hot")(j))
c = keras.Model(n, layers.CategoryEncoding(4, output_mode="one_hot")(n))
d = keras.Model(n, layers.Hashing(4)(n))
e = keras.Model(n, layers.IntegerLookup(vocabulary=[1, 2, 3])(n))
f = keras.Model(n, layers.Embedding(8, 4)(layers.IntegerLookup(vocabulary=[1, 2, 3])(n)))
g = keras.Model(i, layers.Dense(2)(layers.Rescaling(1 / 255)(i)))
""",
        {},
    ),
    "addloss": (
        "23",
        """
class Reg(layers.Layer):
    def call(self, x):
        self.add_loss(tf.reduce_sum(tf.cast(x, tf.float32)))
        return x
i = keras.Input((8,))
model = keras.Model(i, layers.Dense(2)(Reg()(i)))
""",
        {},
    ),
    "recast": (
        "23",
        """
i = keras.Input((8,))
x = layers.Dense(3, activation="softmax", dtype="float32")(i)
a = keras.Model(i, layers.Reshape((3, 1))(x))
b = keras.Model(i, layers.Concatenate()([x, x]))
c = keras.Model(i, layers.Concatenate(dtype="float32")([x, layers.Dense(2)(i)]))
d = keras.Model(i, layers.Flatten(dtype="float32")(x))
""",
        {},
    ),
    "autocast-args": (
        "23",
        """
class Two(layers.Layer):
    def call(self, a, b):
        return b
class Pair(layers.Layer):
    def call(self, ab):
        return ab[1]
class Named(layers.Layer):
    def call(self, d):
        return d["y"]
class Kw(layers.Layer):
    def call(self, a, *, mask=None):
        return mask
class Nest(layers.Layer):
    def call(self, a, more):
        return more["z"][0]
i = keras.Input((8,))
j = keras.Input((8,))
a = keras.Model([i, j], Two()(i, j))
b = keras.Model([i, j], Pair()([i, j]))
c = keras.Model([i, j], Named()({"x": i, "y": j}))
d = keras.Model([i, j], Kw()(i, mask=j))
e = keras.Model([i, j], Nest()(i, {"z": [j]}))
n = keras.Input((8,), dtype="int32")
f = keras.Model([i, n], Two()(i, n))
k = keras.Input((8,), dtype="float64")
g = keras.Model([i, k], Pair()([i, k]))
""",
        {},
    ),
    "ops": (
        "3",
        """
i = keras.Input((8,))
x = layers.Dense(4)(i)
y = layers.Dense(4, dtype="float32")(i)
from keras import ops
a = keras.Model(i, x + y)
b = keras.Model(i, ops.concatenate([x, y]))
c = keras.Model(i, ops.softmax(x))
d = keras.Model(i, ops.matmul(x, ops.transpose(x)))
e = keras.Model(i, x * 2 + 1.0)
f = keras.Model(i, ops.where(x > 0, x, 0.0))
g = keras.Model(i, ops.mean(y, axis=-1))
h = keras.Model(i, x[:, :2])
k = keras.Model(i, ops.cast(x, "float32"))
l = keras.Model(i, ops.split(x, 2, axis=-1))
mm = keras.Model(i, ops.stack([x, x]))
n = keras.Model(i, ops.reshape(y, (-1, 2)))
""",
        {},
    ),
    "tfops": (
        "2",
        """
i = keras.Input((8,))
x = layers.Dense(4)(i)
y = layers.Dense(4, dtype="float32")(i)
b = keras.Model(i, tf.concat([x, x], -1))
c = keras.Model(i, tf.nn.softmax(x))
e = keras.Model(i, x * 2 + 1.0)
f = keras.Model(i, tf.where(x > 0, x, tf.zeros_like(x)))
g = keras.Model(i, tf.reduce_mean(y, axis=-1))
h = keras.Model(i, x[:, :2])
k = keras.Model(i, tf.cast(x, "float32"))
l = keras.Model(i, tf.split(x, 2, axis=-1))
mm = keras.Model(i, tf.stack([x, x]))
n = keras.Model(i, tf.reshape(y, (-1, 2)))
o = keras.Model(i, keras.backend.softmax(x))
q = keras.Model(i, tf.image.resize(tf.reshape(x, (-1, 2, 2, 1)), (4, 4)))
""",
        {},
    ),
    "functions": (
        "23",
        """
from functools import partial
def block(x, units, norm=True, act=layers.ReLU, **kw):
    x = layers.Dense(units, **kw)(x)
    if norm:
        x = layers.BatchNormalization()(x)
    return act()(x)
def encoder(x):
    skips = []
    for k, units in enumerate([8, 4]):
        x = block(x, units, norm=k > 0)
        skips.append(x)
    return x, skips
def make_head(n, activation=None, dtype=None):
    def apply(x):
        return layers.Dense(n, activation=activation, dtype=dtype)(x)
    return apply
class Builder:
    heads = {"cls": 3, "reg": 1}
    def __init__(self, width):
        self.width = width
    def backbone(self, i):
        return encoder(i)
    def build(self):
        i = keras.Input((self.width,))
        x, skips = self.backbone(i)
        x = layers.Concatenate()([x, *skips])
        outs = {k: make_head(n, dtype="float32" if k == "cls" else None)(x) for k, n in self.heads.items()}
        return keras.Model(i, outs), x
model, feat = Builder(8).build()
D = partial(layers.Dense, activation="relu")
i = keras.Input((8,))
model2 = keras.Model(i, D(4)(D(units=3, dtype="float32")(i)))
""",
        {},
    ),
    "module-list": (
        "23",
        """
class ModuleList(layers.Layer):
    def __init__(self, items, **kw):
        super().__init__(**kw)
        self.items = list(items)
    def __getitem__(self, k):
        return self.items[k]
    def __iter__(self):
        return iter(self.items)
    def __len__(self):
        return len(self.items)
    def call(self, x):
        for item in self.items:
            x = item(x)
        return x
i = keras.Input((8,))
ml = ModuleList([layers.Dense(4), layers.Dense(2)])
model = keras.Model(i, ml(i))
x = i
for l in ml:
    x = l(x)
model2 = keras.Model(i, x)
model3 = keras.Model(i, ml[0](i))
""",
        {},
    ),
    "nested": (
        "23",
        """
def mlp(n, name):
    return keras.Sequential([layers.Dense(4), layers.Dense(n)], name=name)
i = keras.Input((8,))
enc = mlp(4, "enc")
dec = keras.Sequential(name="dec")
dec.add(enc)
dec.add(layers.Dense(2, dtype="float32"))
model = keras.Model(i, dec(i))
inner = keras.Model(i, [enc(i), layers.Dense(1, dtype="float32")(i)])
o1, o2 = inner(i)
model2 = keras.Model(i, {"o1": o1, "o2": layers.Activation("linear")(o2)})
class Sub(keras.Model):
    def __init__(self):
        super().__init__()
        self.f = inner
        self.g = keras.Sequential([layers.Dense(2)])
    def call(self, x):
        a, b = self.f(x)
        return self.g(a), b
model3 = Sub()
""",
        {"model3": ["float32[2, 8]"]},
    ),
    "functional-subclass": (
        "23",
        """
class Net(keras.Model):
    def __init__(self, n):
        i = keras.Input((8,))
        o = layers.Dense(n, activation="softmax")(i)
        super().__init__(i, o)
model = Net(3)
class Net2(keras.Model):
    def __init__(self, n, **kw):
        i = keras.Input((8,))
        o = layers.Dense(n, dtype="float32")(i)
        super().__init__(inputs=i, outputs=o, **kw)
        self.n = n
model2 = Net2(3, name="x")
""",
        {},
    ),
    "seq-subclass": (
        "23",
        """
class Net(keras.Sequential):
    def __init__(self, n):
        super().__init__()
        self.add(keras.Input((8,)))
        self.add(layers.Dense(n))
model = Net(3)
""",
        {},
    ),
    "attention": (
        "23",
        """
i = keras.Input((4, 8))
a = keras.Model(i, layers.MultiHeadAttention(2, 4)(i, i))
b = keras.Model(i, layers.MultiHeadAttention(2, 4)(i, i, return_attention_scores=True))
c = keras.Model(i, layers.Attention()([i, i]))
d = keras.Model(i, layers.AdditiveAttention()([i, i, i]))
e = keras.Model(i, layers.Attention()([i, i], return_attention_scores=True))
f = keras.Model(i, layers.MultiHeadAttention(2, 4, dtype="float32")(i, value=i))
""",
        {},
    ),
    "vae": (
        "23",
        """
class Sampling(layers.Layer):
    def call(self, inputs):
        mean, logvar = inputs
        eps = tf.random.normal(tf.shape(mean), dtype=mean.dtype)
        return mean + tf.exp(0.5 * logvar) * eps
i = keras.Input((8,))
m, v = layers.Dense(2)(i), layers.Dense(2)(i)
z = Sampling()([m, v])
model = keras.Model(i, [m, v, z])
""",
        {},
    ),
    "own-base": (
        "23",
        """
class Base(layers.Layer):
    def __init__(self, units=4, **kw):
        super().__init__(**kw)
        self.units = units
        self.build_layers()
    def build_layers(self):
        raise NotImplementedError
class A(Base):
    def build_layers(self):
        self.d = layers.Dense(self.units)
    def call(self, x):
        return self.d(x)
class B(A):
    def call(self, x):
        return tf.cast(super().call(x), tf.float32)
i = keras.Input((8,))
model = keras.Model(i, A()(i))
model2 = keras.Model(i, B()(i))
class MyDense(layers.Dense):
    def __init__(self, n, **kw):
        super().__init__(n, activation="softmax", **kw)
model3 = keras.Model(i, MyDense(3)(i))
model4 = keras.Model(i, MyDense(3, dtype="float32")(i))
class Conv(layers.Conv2D):
    def call(self, x):
        return tf.nn.relu(super().call(x))
j = keras.Input((4, 4, 1))
model5 = keras.Model(j, Conv(2, 3)(j))
""",
        {},
    ),
    "weights-ops": (
        "23",
        """
class L(layers.Layer):
    def build(self, s):
        self.a = self.add_weight(shape=(8,), name="a")
        self.b = tf.Variable(tf.ones((8,)), trainable=True)
        self.c = self.add_weight(shape=(8,), name="c", dtype="float32")
    def call(self, x):
        return x * self.a + tf.cast(self.b, x.dtype) + self.c
i = keras.Input((8,))
model = keras.Model(i, L()(i))
class M(layers.Layer):
    def build(self, s):
        self.a = self.add_weight(shape=(8, 2), name="a")
    def call(self, x):
        return tf.einsum("bi,ij->bj", x, self.a) / tf.cast(tf.shape(x)[-1], self.compute_dtype)
model2 = keras.Model(i, M()(i))
class N(layers.Layer):
    def build(self, s):
        self.a = self.add_weight(shape=(8, 2), name="a")
    def call(self, x):
        x = tf.cast(x, tf.float32)
        y = tf.math.reduce_variance(x, axis=-1, keepdims=True)
        x = x / tf.sqrt(y + 1e-6)
        return tf.cast(x, self.compute_dtype) @ self.a
model3 = keras.Model(i, N()(i))
""",
        {},
    ),
    "input-tuples": (
        "23",
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.u = layers.Embedding(10, 4)
        self.v = layers.Embedding(10, 4)
        self.d = layers.Dense(1)
    def call(self, inputs):
        u = self.u(inputs[:, 0])
        v = self.v(inputs[:, 1])
        return self.d(tf.concat([u, v], axis=-1))
model = Net()
class Net2(keras.Model):
    def __init__(self):
        super().__init__()
        self.u = layers.Embedding(10, 4)
        self.v = layers.Embedding(10, 4)
    def call(self, inputs):
        x = tf.reduce_sum(self.u(inputs["u"]) * self.v(inputs["v"]), axis=-1)
        return tf.nn.sigmoid(x)
model2 = Net2()
""",
        {"model": ["int32[2, 2]"]},
    ),
    "call-forms": (
        "23",
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = [layers.Conv2D(2, 3, padding="same"), layers.Flatten(), layers.Dense(2)]
        self.seq = keras.Sequential()
        for l in self.net:
            self.seq.add(l)
    @tf.function
    def call(self, x, training=False):
        return self.seq(x, training=training)
model = Net()
class Net2(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(2)
    def encode(self, x):
        return self.a(x)
    def call(self, x):
        z = self.encode(x)
        return tf.nn.softmax(z, axis=-1)
model2 = Net2()
model2.build((None, 8))
""",
        {"model": ["float32[2, 4, 4, 1]"], "model2": ["float32[2, 8]"]},
    ),
    "compute-spec": (
        "3",
        """
class L(layers.Layer):
    def call(self, x):
        return tf.cast(x, tf.float32)
    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, dtype="float32")
i = keras.Input((8,))
model = keras.Model(i, L()(i))
""",
        {},
    ),
    "td-kept": (
        "23",
        """
i = keras.Input((3, 4, 8))
f = dict(dtype="float32")
a = keras.Model(i, layers.TimeDistributed(layers.LSTM(4, **f))(i))
b = keras.Model(i, layers.TimeDistributed(layers.LayerNormalization(**f))(i))
c = keras.Model(i, layers.TimeDistributed(layers.Bidirectional(layers.LSTM(4), **f))(i))
d = keras.Model(i, layers.TimeDistributed(layers.Bidirectional(layers.LSTM(4, **f)))(i))
e = keras.Model(i, layers.TimeDistributed(keras.Sequential([layers.Dense(4, **f)]))(i))
g = keras.Model(i, layers.TimeDistributed(layers.Lambda(lambda t: tf.cast(t, tf.float32)))(i))
h = keras.Model(i, layers.TimeDistributed(layers.Dense(2, activation="softmax"), **f)(i))
j = keras.Model(i, layers.SpectralNormalization(layers.Conv1D(2, 1, **f))(layers.Reshape((12, 8))(i)))
class Own(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.d = layers.Dense(2)
    def call(self, x):
        return tf.cast(self.d(x), "float32")
    def compute_output_shape(self, shape):
        return (*shape[:-1], 2)
k = keras.Model(i, layers.TimeDistributed(Own())(i))
""",
        {},
    ),
    "rnn-states": (
        "23",
        """
i = keras.Input((3, 8))
a = keras.Model(i, layers.RNN([layers.GRUCell(4), layers.LSTMCell(4)], return_state=True)(i)[0])
b = keras.Model(i, layers.RNN([layers.GRUCell(4), layers.GRUCell(4)])(i))
c = keras.Model(i, layers.Bidirectional(layers.GRU(4, return_state=True), merge_mode=None)(i))
d = keras.Model(i, layers.Bidirectional(layers.GRU(4, return_state=True, dtype="float32"))(i))
e = keras.Model(i, layers.Bidirectional(layers.RNN(layers.GRUCell(4)))(i))
f = keras.Model(i, layers.Bidirectional(layers.GRU(4, return_state=True), dtype="float32")(i))
""",
        {},
    ),
    "bi-back-ok": (
        "23",
        """
i = keras.Input((3, 8))
a = keras.Model(i, layers.Bidirectional(layers.LSTM(4), backward_layer=layers.GRU(4, go_backwards=True), name="b")(i))
back = layers.LSTM(4, go_backwards=True, dtype="float32")
b = keras.Model(i, layers.Bidirectional(layers.LSTM(4), merge_mode=None, backward_layer=back)(i))
""",
        {},
    ),
    "own-cell32": (
        "23",
        """
class Cell(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units, units]
        self.output_size = units
        self.d = layers.Dense(units)
    def build(self, shape):
        self.d.build(shape)
        self.built = True
    def call(self, inputs, states):
        h = self.d(inputs)
        return tf.cast(h, tf.float32), [h, states[1]]
i = keras.Input((3, 8))
model = keras.Model(i, layers.RNN(Cell(4))(i))
""",
        {},
    ),
    "unet": (
        "23",
        """
def conv_block(x, f, k=3, bn=True):
    for _ in range(2):
        x = layers.Conv2D(f, k, padding="same", use_bias=not bn)(x)
        if bn:
            x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
    return x
def unet(shape=(16, 16, 3), classes=1, filters=(4, 8)):
    inputs = x = keras.Input(shape)
    skips = []
    for f in filters:
        x = conv_block(x, f)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv_block(x, filters[-1] * 2)
    for f, skip in zip(reversed(filters), reversed(skips)):
        x = layers.Conv2DTranspose(f, 2, strides=2, padding="same")(x)
        x = layers.concatenate([x, skip])
        x = conv_block(x, f)
    act = "sigmoid" if classes == 1 else "softmax"
    return keras.Model(inputs, layers.Conv2D(classes, 1, activation=act)(x))
model = unet()
model2 = unet(classes=3)
""",
        {},
    ),
    "deepcross": (
        "23",
        """
i = keras.Input((8,))
x0 = layers.Dense(6)(i)
x = x0
for _ in range(2):
    x = x0 * layers.Dense(6)(x) + x
model = keras.Model(i, layers.Dense(1, activation="sigmoid", name="p")(x))
""",
        {},
    ),
    "registry": (
        "23",
        """
REG = {}
def register(name):
    def deco(fn):
        REG[name] = fn
        return fn
    return deco
@register("small")
def small(i):
    return layers.Dense(4)(i)
@register("big")
def big(i, depth=2):
    for _ in range(depth):
        i = layers.Dense(8)(i)
    return i
HEADS = {"softmax": lambda n: layers.Dense(n, activation="softmax"), "f32": lambda n: layers.Dense(n, dtype="float32")}
def make(name, head, n=2):
    i = keras.Input((8,))
    return keras.Model(i, HEADS[head](n)(REG[name](i)))
model = make("small", "softmax")
model2 = make("big", "f32")
""",
        {},
    ),
    "namedtuple-config": (
        "23",
        """
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple, List
@dataclass
class Cfg:
    units: List[int] = field(default_factory=lambda: [8, 4])
    act: str = "relu"
    head: str = "softmax"
    dtype: str = "float32"
class Spec(NamedTuple):
    n: int
    dtype: str = None
Block = namedtuple("Block", ["k", "f"])
BLOCKS = [Block(3, 4), Block(k=1, f=8)]
def build(cfg):
    i = keras.Input((8, 8, 1))
    x = i
    for b in BLOCKS:
        x = layers.Conv2D(b.f, b.k, activation=cfg.act)(x)
    x = layers.Flatten()(x)
    for u in cfg.units:
        x = layers.Dense(u)(x)
    return keras.Model(i, layers.Dense(3, activation=cfg.head, dtype=cfg.dtype)(x))
model = build(Cfg())
model2 = build(Cfg(dtype=None, head=None))
s = Spec(2)
i = keras.Input((4,))
model3 = keras.Model(i, layers.Dense(s.n, dtype=s.dtype)(i))
""",
        {},
    ),
    "eval-strings": (
        "23",
        """
spec = [("Dense", {"units": 4}), ("Dropout", {"rate": 0.1}), ("Dense", {"units": 2, "activation": "softmax"})]
model = keras.Sequential([keras.Input((8,))] + [getattr(layers, n)(**kw) for n, kw in spec])
cls = {"lstm": layers.LSTM, "gru": layers.GRU}["gru"]
i = keras.Input((3, 8))
model2 = keras.Model(i, cls(4)(i))
model3 = keras.Sequential([keras.Input((8,)), *[layers.Dense(4) for _ in range(2)], layers.Dense(1)])
""",
        {},
    ),
    "call-kwargs": (
        "23",
        """
class Head(layers.Layer):
    def __init__(self, n, act=None, **kw):
        super().__init__(**kw)
        self.n, self.act = n, keras.activations.get(act)
        self.d = layers.Dense(n)
    def call(self, x, training=False, mask=None):
        y = self.d(x)
        if training:
            y = tf.nn.dropout(y, 0.1)
        if self.act is not None:
            y = self.act(y)
        return y
    def get_config(self):
        return {**super().get_config(), "n": self.n}
i = keras.Input((8,))
a = keras.Model(i, Head(3, "softmax")(i))
b = keras.Model(i, Head(3, "softmax", dtype="float32")(i))
c = keras.Model(i, Head(3)(i, training=True))
d = keras.Model(i, Head(3, act=tf.nn.softmax)(i))
""",
        {},
    ),
    "while-recursion": (
        "23",
        """
def tower(x, depth):
    if depth == 0:
        return x
    return tower(layers.Dense(4)(x), depth - 1)
i = keras.Input((8,))
x = tower(i, 3)
k = 0
while k < 2:
    x = layers.Dense(4)(x)
    k += 1
model = keras.Model(i, x)
""",
        {},
    ),
    "wn": (
        "23",
        """
class WN(layers.Wrapper):
    def __init__(self, layer, **kw):
        super().__init__(layer, **kw)
    def build(self, shape):
        self.layer.build(shape)
        self.g = self.add_weight(name="g", shape=(1,), initializer="ones")
        self.built = True
    def call(self, x):
        return self.layer(x) * self.g
i = keras.Input((8,))
model = keras.Model(i, WN(layers.Dense(4))(i))
""",
        {},
    ),
    "masking": (
        "23",
        """
i = keras.Input((4,), dtype="int32")
x = layers.Embedding(10, 8, mask_zero=True)(i)
x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x)
x, w = layers.Attention()([x, x], return_attention_scores=True)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(i, [x, w])
""",
        {},
    ),
    "nested-dicts": (
        "3",
        """
i = keras.Input((8,))
boxes = {"xy": layers.Dense(2)(i), "wh": layers.Dense(2, activation="sigmoid")(i)}
outs = {"boxes": boxes, "cls": [layers.Dense(3, dtype="float32")(i)]}
model = keras.Model(i, outs)
o = model(i)
model2 = keras.Model(i, o["boxes"]["xy"])
""",
        {},
    ),
    "method-chains": (
        "23",
        """
class Builder:
    def __init__(self):
        self.l = []
    def dense(self, n, **kw):
        self.l.append(layers.Dense(n, **kw))
        return self
    def build(self):
        return keras.Sequential([keras.Input((8,))] + self.l)
model = Builder().dense(4).dense(2, activation="softmax").build()
""",
        {},
    ),
    "tf-module-ops": (
        "23",
        """
class L(layers.Layer):
    def call(self, x):
        a, b = tf.split(x, 2, axis=-1)
        y = tf.nn.silu(a) * b
        y = tf.transpose(y)
        y = tf.squeeze(tf.expand_dims(y, 0), 0)
        y = tf.transpose(y)
        z = tf.linalg.matmul(y, y, transpose_b=True)
        z = tf.nn.softmax(z / tf.math.sqrt(tf.cast(tf.shape(y)[-1], y.dtype)))
        m = tf.reduce_max(z, axis=-1, keepdims=True)
        s = tf.where(z >= m, z, tf.zeros_like(z))
        return tf.concat([tf.matmul(s, y), tf.pad(y, [[0, 0], [0, 1]])], axis=-1)
i = keras.Input((8,))
model = keras.Model(i, L()(i))
""",
        {},
    ),
    "cond-types": (
        "23",
        """
def mk(kind, n):
    if kind == "reg":
        out = layers.Dense(n)
    elif kind == "cls":
        out = layers.Dense(n, activation="softmax")
    else:
        raise ValueError(kind)
    return out
i = keras.Input((8,))
model = keras.Model(i, mk("cls", 3)(i))
act = dict(a="relu", b=None).get("b")
model2 = keras.Model(i, layers.Dense(2, activation=act)(i))
""",
        {},
    ),
    "moe": (
        "23",
        """
class Expert(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.net = keras.Sequential([layers.Dense(dim * 2, activation="gelu"), layers.Dense(dim)])
    def call(self, x):
        return self.net(x)
class MoE(layers.Layer):
    def __init__(self, n, dim):
        super().__init__()
        self.experts = [Expert(dim) for _ in range(n)]
        self.gate = layers.Dense(n, activation="softmax")
    def call(self, x):
        w = self.gate(x)
        outs = tf.stack([e(x) for e in self.experts], axis=1)
        return tf.reduce_sum(outs * tf.expand_dims(w, -1), axis=1)
i = keras.Input((8,))
model = keras.Model(i, layers.Dense(3, activation="softmax", dtype="float32")(MoE(3, 8)(i)))
model2 = keras.Model(i, MoE(2, 8)(i))
""",
        {},
    ),
    "subclass-of-own-model": (
        "23",
        """
class Base(keras.Model):
    def __init__(self, out, **kw):
        super().__init__(**kw)
        self.out = out
        self.head = self.make_head()
    def make_head(self):
        return layers.Dense(self.out)
    def features(self, x):
        raise NotImplementedError
    def call(self, x, training=None):
        return self.head(self.features(x))
class Mlp(Base):
    def __init__(self, out, **kw):
        super().__init__(out, **kw)
        self.a = layers.Dense(4)
    def features(self, x):
        return self.a(x)
class Prob(Mlp):
    def make_head(self):
        return keras.Sequential([layers.Dense(self.out), layers.Activation("softmax", dtype="float32")])
model = Mlp(2)
model2 = Prob(3)
""",
        {"model": ["float32[1, 4]"], "model2": ["float32[1, 4]"]},
    ),
    "se-block": (
        "23",
        """
def se(t, ratio=4):
    f = t.shape[-1]
    s = layers.GlobalAveragePooling2D(keepdims=True)(t)
    s = layers.Dense(f // ratio, activation="relu", use_bias=False)(s)
    s = layers.Dense(f, activation="sigmoid", use_bias=False)(s)
    return layers.multiply([t, s])
i = keras.Input((8, 8, 3))
x = layers.Conv2D(8, 3, activation=keras.activations.swish)(i)
x = se(x)
x = layers.GlobalMaxPooling2D()(x)
model = keras.Model(i, layers.Activation("softmax")(layers.Dense(4)(x)))
""",
        {},
    ),
    "actor-critic": (
        "23",
        """
class ActorCritic(keras.Model):
    def __init__(self, n, h):
        super().__init__()
        self.common = layers.Dense(h, activation="relu")
        self.actor = layers.Dense(n)
        self.critic = layers.Dense(1)
    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)
model = ActorCritic(2, 8)
""",
        {"model": ["float32[1, 4]"]},
    ),
    "policies-keras3": (
        "3",
        """
i = keras.Input((8,))
a = keras.Model(i, layers.Dense(2, dtype=keras.DTypePolicy("float32"))(i))
b = keras.Model(i, layers.Dense(2, dtype=keras.dtype_policies.get("float32"))(i))
c = keras.Model(i, layers.Dense(2, dtype=keras.config.dtype_policy())(i))
d = keras.Model(i, layers.Dense(2, dtype=keras.config.floatx())(i))
e = keras.Model(i, layers.Dense(2, dtype=a.layers[-1].dtype_policy)(i))
pm = keras.dtype_policies.DTypePolicyMap()
f = keras.Model(i, layers.Dense(2, dtype=keras.mixed_precision.dtype_policy().variable_dtype)(i))
keras.config.set_dtype_policy(keras.dtype_policies.DTypePolicy("mixed_bfloat16"))
g = keras.Model(i, layers.Dense(2)(i))
keras.config.set_dtype_policy("float32")
h = keras.Model(i, layers.Dense(2)(i))
""",
        {},
    ),
    "policies": (
        "23",
        """
from tensorflow.keras import mixed_precision as mp
i = keras.Input((8,))
a = keras.Model(i, layers.Dense(2, dtype=mp.Policy("float32"))(i))
c = keras.Model(i, layers.Dense(2, dtype=mp.global_policy())(i))
f = keras.Model(i, layers.Dense(2, dtype=mp.global_policy().variable_dtype)(i))
k = keras.Model(i, layers.Dense(2, dtype=mp.global_policy().compute_dtype)(i))
old = mp.global_policy()
mp.set_global_policy("mixed_bfloat16")
g = keras.Model(i, layers.Dense(2)(i))
mp.set_global_policy(old)
h = keras.Model(i, layers.Dense(2)(i))
mp.set_global_policy(mp.Policy("float32"))
l = keras.Model(i, layers.Dense(2)(i))
""",
        {},
    ),
    "call-override": (
        "23",
        """
class L(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.d = layers.Dense(2)
    def __call__(self, x, scale=1.0):
        return super().__call__(x, scale=scale)
    def call(self, x, scale=1.0):
        return self.d(x) * scale
i = keras.Input((8,))
a = keras.Model(i, L()(i, scale=2.0))
class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.l = L()
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)
    def call(self, x, training=None):
        return self.l(x)
model = M()
""",
        {"model": ["float32[2, 8]"]},
    ),
    "input-forms": (
        "23",
        """
i = keras.Input(shape=(8,), dtype="float16")
a = keras.Model(i, layers.Dense(2, dtype="float32")(i))
b = keras.Model(i, i * 2)
j = keras.Input(shape=(8,), dtype=tf.bfloat16)
c = keras.Model(j, layers.Flatten()(j))
k = keras.Input(shape=(), dtype="int64")
d = keras.Model(k, layers.Embedding(10, 4)(k))
e = keras.Model(i, [i, layers.Dense(2)(i)])
l = layers.Input((8,), batch_size=4, name="x")
f = keras.Model(inputs=[l], outputs=[layers.Dense(2)(l)])
g = keras.Model(inputs={"x": l}, outputs={"y": layers.Dense(2, dtype="float32")(l), "z": layers.Dense(2)(l)})
""",
        {},
    ),
    "keras-activations": (
        "23",
        """
i = keras.Input((8,))
x = layers.Dense(4)(i)
a = keras.Model(i, keras.activations.softmax(x))
b = keras.Model(i, keras.activations.get("sigmoid")(x))
c = keras.Model(i, layers.Activation(keras.activations.softmax)(x))
d = keras.Model(i, layers.Dense(2, activation=keras.activations.get("softmax"))(x))
e = keras.Model(i, layers.Activation(lambda t: keras.activations.relu(t, max_value=6))(x))
f = keras.Model(i, keras.activations.relu(x))
g = keras.Model(i, layers.Dense(2, activation=layers.LeakyReLU())(x))
h = keras.Model(i, layers.PReLU()(x))
k = keras.Model(i, layers.Softmax(axis=-1, dtype="float32")(x))
""",
        {},
    ),
    "numpy-mix": (
        "23",
        """
SCALE = np.float32(2.0)
MEAN = np.array([0.1] * 8, dtype="float32")
class N(layers.Layer):
    def call(self, x):
        return (x - MEAN) / SCALE + np.pi * np.sqrt(2)
i = keras.Input((8,))
model = keras.Model(i, N()(i))
class C(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.mean = tf.constant([0.1] * 8)
    def call(self, x):
        return x - tf.cast(self.mean, x.dtype)
model2 = keras.Model(i, C()(i))
class T(layers.Layer):
    def call(self, x):
        m = tf.reduce_mean(x, axis=0, keepdims=True)
        s = tf.math.reduce_std(x, axis=0, keepdims=True) + keras.backend.epsilon()
        return (x - m) / s
model3 = keras.Model(i, T()(i))
""",
        {},
    ),
    "compute-dtype-cast": (
        "23",
        """
class L(layers.Layer):
    def build(self, s):
        self.w = self.add_weight(shape=(s[-1], 4), name="w")
        self.table = self.add_weight(shape=(10, 4), name="t", trainable=False)
    def call(self, x):
        y = tf.matmul(tf.cast(x, self.compute_dtype), tf.cast(self.w, self.compute_dtype))
        z = tf.gather(self.table, tf.constant([1, 2]))
        return y + tf.cast(tf.reduce_sum(z, axis=0), y.dtype)
i = keras.Input((8,))
model = keras.Model(i, L()(i))
class K(layers.Layer):
    def call(self, x):
        d = x.dtype
        y = tf.cast(x, "float32")
        y = y / tf.norm(y, axis=-1, keepdims=True)
        return tf.cast(y, d)
model2 = keras.Model(i, K()(i))
class Q(layers.Layer):
    def call(self, x):
        if x.dtype == tf.float16:
            x = tf.cast(x, tf.float32)
        return x + 1.0
model3 = keras.Model(i, Q()(i))
class R(layers.Layer):
    def call(self, x):
        return tf.saturate_cast(x, tf.float32) if self.compute_dtype == "float16" else x
model4 = keras.Model(i, R()(i))
""",
        {},
    ),
    "functional-slices": (
        "23",
        """
i = keras.Input((8,))
x = layers.Dense(6)(i)
a, b = x[:, :3], x[:, 3:]
m1 = keras.Model(i, a * b)
m2 = keras.Model(i, layers.Lambda(lambda t: t[..., None])(x))
outs = [layers.Dense(2, name=f"o{k}")(x) for k in range(3)]
m3 = keras.Model(i, outs)
m4 = keras.Model(i, outs[1:] + [layers.Add()(outs)])
m5 = keras.Model(i, layers.Average()([layers.Activation("softmax", dtype="float32")(o) for o in outs]))
m6 = keras.Model(i, layers.average([layers.Activation("softmax", dtype="float32")(o) for o in outs]))
m7 = keras.Model(i, sum(outs))
m8 = keras.Model(i, -x)
m9 = keras.Model(i, abs(x))
m10 = keras.Model(i, x ** 2)
m11 = keras.Model(i, 1.0 - x)
m12 = keras.Model(i, x > 0)
""",
        {},
    ),
    "keras-ops": (
        "3",
        """
from keras import ops
class L(layers.Layer):
    def build(self, s):
        self.w = self.add_weight(shape=(8, 4), name="w")
        self.b = self.add_weight(shape=(4,), name="b", autocast=False)
    def call(self, x):
        return ops.matmul(x, self.w) + ops.cast(self.b, x.dtype)
i = keras.Input((8,))
a = keras.Model(i, L()(i))
class M(layers.Layer):
    def call(self, x):
        y = ops.one_hot(ops.argmax(x, axis=-1), 8)
        return ops.add(x, ops.cast(y, x.dtype))
b = keras.Model(i, M()(i))
class N(layers.Layer):
    def call(self, x):
        return ops.add(x, ops.ones((8,)))
c = keras.Model(i, N()(i))
class O(layers.Layer):
    def call(self, x):
        q, k = ops.split(x, 2, axis=-1)
        s = ops.softmax(ops.einsum("bi,bj->bij", q, k) / ops.sqrt(ops.cast(4, x.dtype)), axis=-1)
        return ops.reshape(s, (-1, 16))
d = keras.Model(i, O()(i))
class R(layers.Layer):
    def call(self, x):
        x32 = ops.cast(x, "float32")
        v = ops.mean(ops.square(x32), axis=-1, keepdims=True)
        return ops.cast(x32 * ops.rsqrt(v + 1e-6), x.dtype)
e = keras.Model(i, R()(i))
class S(layers.Layer):
    def call(self, x, mask=None):
        return ops.where(ops.greater(x, 0), x, ops.zeros_like(x)), ops.sum(x, axis=-1)
f = keras.Model(i, S()(i))
class U(layers.Layer):
    def call(self, x):
        return ops.cond(True, lambda: x * 2, lambda: x)
g = keras.Model(i, U()(i))
class V(layers.Layer):
    def call(self, x):
        return ops.fori_loop(0, 3, lambda i, acc: acc + x, ops.zeros_like(x))
h = keras.Model(i, V()(i))
class W(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed = keras.random.SeedGenerator(1)
    def call(self, x):
        return x + keras.random.normal(ops.shape(x), dtype=x.dtype, seed=self.seed)
k = keras.Model(i, W()(i))
class X(layers.Layer):
    def call(self, x):
        return x * keras.random.uniform(ops.shape(x))
""",
        {},
    ),
    "backend": (
        "2",
        """
from tensorflow.keras import backend as K
class L(layers.Layer):
    def build(self, s):
        self.w = self.add_weight(shape=(8, 4), name="w")
    def call(self, x):
        y = K.dot(x, self.w)
        return K.softmax(y) * K.cast(K.shape(x)[-1], K.dtype(y))
i = keras.Input((8,))
a = keras.Model(i, L()(i))
b = keras.Model(i, layers.Lambda(lambda t: K.l2_normalize(t, axis=1))(i))
c = keras.Model(i, layers.Lambda(lambda t: K.concatenate([t, K.square(t)], axis=-1))(i))
d = keras.Model(i, layers.Lambda(lambda t: K.mean(t, axis=-1, keepdims=True))(i))
e = keras.Model(i, layers.Lambda(lambda t: K.sum(K.abs(t[0] - t[1]), axis=1, keepdims=True))([i, i]))
f = keras.Model(i, layers.Lambda(lambda t: K.expand_dims(t, 1))(i))
""",
        {},
    ),
    "control": (
        "23",
        """
class A(layers.Layer):
    def call(self, x):
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x)
        _, z = tf.while_loop(lambda k, a: k < 2, lambda k, a: (k + 1, a + x), (0, y))
        return z
class B(layers.Layer):
    def call(self, x):
        return tf.map_fn(lambda row: row * 2, x)
class C(layers.Layer):
    def call(self, x):
        return tf.map_fn(lambda row: tf.cast(row, tf.float32), x, fn_output_signature=tf.float32)
class D(layers.Layer):
    def call(self, x):
        return tf.nest.map_structure(lambda t: tf.cast(t, tf.float32), {"a": x, "b": x * 2})
@tf.custom_gradient
def clip(x):
    def grad(dy):
        return tf.clip_by_value(dy, -1.0, 1.0)
    return x * 1, grad
class E(layers.Layer):
    def call(self, x):
        return clip(x)
class F(layers.Layer):
    def call(self, x):
        return tf.numpy_function(lambda t: t.astype("float32"), [x], tf.float32)
class Net(keras.Model):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
    def call(self, x):
        return self.layer(x)
a, b, c, d, e, f = (Net(l()) for l in (A, B, C, D, E, F))
""",
        {
            "a": ["float32[2, 8]"],
            "b": ["float32[2, 8]"],
            "c": ["float32[2, 8]"],
            "d": ["float32[2, 8]"],
            "e": ["float32[2, 8]"],
            "f": ["float32[2, 8]"],
        },
    ),
}
