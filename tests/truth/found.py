"""Programs of kinds that were first got wrong: what `make judge` found, each made as small as it goes.

In the form of those in depth.py.
"""

from __future__ import annotations

FOUND: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "activation-is-a-layer": (
        "23",
        """
inputs = keras.Input((8,))
outputs = layers.Dense(4, activation=layers.Softmax(dtype="float32"))(inputs)
model = keras.Model(inputs, outputs)
""",
        {},
    ),
    "activation-is-a-half-layer": (
        "23",
        """
inputs = keras.Input((8,))
outputs = layers.Dense(4, activation=layers.Softmax(), dtype="float32")(inputs)
model = keras.Model(inputs, outputs)
""",
        {},
    ),
    "activation-is-a-function-that-casts": (
        "23",
        """
inputs = keras.Input((8,))
outputs = layers.Dense(4, activation=lambda t: tf.nn.softmax(tf.cast(t, "float32")))(inputs)
model = keras.Model(inputs, outputs)
""",
        {},
    ),
    "mapped-structure": (
        "23",
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = layers.Dense(3, activation="softmax")

    def call(self, x):
        return {"probabilities": self.head(x), "input": x}


class Wrapped(Net):
    def call(self, x):
        return tf.nest.map_structure(lambda t: tf.cast(t, "float32"), super().call(x))


model = Wrapped()
""",
        {"model": ["float32[4, 8]"]},
    ),
    "sum-of-lists": (
        "23",
        """
hidden = [layers.Dense(width) for width in (4, 6)]
model = keras.Sequential(sum([[keras.Input((8,))], hidden, [layers.Dense(3)]], []))
""",
        {},
    ),
    "sum-of-tensors": (
        "23",
        """
inputs = keras.Input((8,))
model = keras.Model(inputs, sum(layers.Dense(3)(inputs) for _ in range(2)))
""",
        {},
    ),
    "divided-by-a-numpy-number": (
        "23",
        """
inputs = keras.Input((8,))
model = keras.Model(inputs, layers.Dense(3)(inputs) / np.sqrt(8.0))
""",
        {},
    ),
}
