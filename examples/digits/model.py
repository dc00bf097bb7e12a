"""The network: two hidden layers, and one head for each question."""

from tensorflow import keras
from tensorflow.keras import layers


def build(side, units=64):
    """A model that reads pictures of `side` x `side` pixels."""
    pictures = keras.Input(shape=(side * side,), name="pictures")
    x = layers.Dense(units, activation="relu", name="hidden_1")(pictures)
    x = layers.Dense(units, activation="relu", name="hidden_2")(x)

    # Which digit is it?
    digit = layers.Dense(10, activation="softmax", name="digit")(x)
    # How far does it lean?
    slant = layers.Dense(1, name="slant")(x)

    return keras.Model(pictures, [digit, slant], name="reader")
