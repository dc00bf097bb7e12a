"""The spellings of activations."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import dtypes
from tests.generator.author import Author, Options

_HIDDEN = ("relu", "tanh", "sigmoid", "gelu", "swish", "elu", "linear", "softmax")
_ENDS = (None, "sigmoid", "relu", "tanh", "softplus", "linear")


def hidden(a: Author) -> str | None:
    """An activation in the middle: none, by name, or as a function."""
    name = a.choices.pick(_HIDDEN)
    options: Options = [
        (5, lambda: None),
        (5, lambda: a.text(name)),
        (1, lambda: a.keras(f"activations.{name}")),
        (1, lambda: a.spelling.tensorflow("nn.relu")),
        (1, lambda: a.page.call(a.keras("layers.LeakyReLU"))),
    ]
    return a.choices.weighted(options)()


def softmax(a: Author) -> str:
    """An expression for the softmax as an activation."""
    options: list[tuple[int, Callable[[], str]]] = [
        (10, lambda: a.text("softmax")),
        (2, lambda: a.keras("activations.softmax")),
        (2, lambda: a.spelling.tensorflow("nn.softmax")),
        (1, lambda: f"lambda t: {a.spelling.tensorflow('nn.softmax')}(t)"),
        (1, lambda: f"{a.keras('activations.get')}({a.text('softmax')})"),
        (1, lambda: a.layer("Softmax")),
        (1, lambda: a.layer("Softmax", dtype=dtypes.float32(a))),
    ]
    if a.is_3:
        options.append((2, lambda: a.keras("ops.softmax")))
    return a.choices.weighted(options)()


def softmax_function(a: Author, *, in_call: bool) -> str:
    """A softmax that can be called on a tensor with data (`in_call`) or on a symbolic one."""
    options = [a.keras("activations.softmax")]
    if in_call or not a.is_3:
        options.append(a.spelling.tensorflow("nn.softmax"))
    if a.is_3:
        options.append(a.keras("ops.softmax"))
    return a.choices.pick(options)


def end(a: Author) -> str | None:
    """An activation of the layer at the end: often the softmax."""
    return softmax(a) if a.choices.chance(0.6) else other(a)


def other(a: Author) -> str | None:
    """An activation that is no softmax."""
    name = a.choices.pick(_ENDS)
    if name is None:
        return None
    if a.choices.chance(0.2):
        return a.keras(f"activations.{name}")
    return a.text(name)
