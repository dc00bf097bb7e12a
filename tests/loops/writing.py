"""Training loops under mixed_float16: one that is right, and the same with one fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.generator.choices import Choices, Record

STEPS: Final = 12
_IMPORTS: Final = {
    "2": ("from tensorflow import keras", "import tf_keras as keras"),
    "3": ("import keras", "from tensorflow import keras"),
}
FAULTS: Final = {
    "2": ("MP201", "MP202", "MP203", "MP204", "MP205", "MP206", "MP211", "MP212", "MP213", "MP303"),
    "3": ("MP201", "MP202", "MP204", "MP205", "MP206", "MP207", "MP211", "MP212", "MP213", "MP302"),
}
"""What a loop of each generation may have wrong: the codes that mplint must give it."""


@dataclass(frozen=True)
class Loop:
    """A program, and the right one that it was made from."""

    generation: str
    seed: int
    fault: str | None
    source: str
    right: str = field(repr=False)

    @property
    def id(self) -> str:
        """Short, for reports and files."""
        return f"{self.generation}-{self.seed}{f'-{self.fault}' if self.fault else ''}"


def write(generation: str, seed: int, fault: str | None = None, record: Record | None = None) -> Loop:
    """The loop of a seed, with `fault` or without."""
    wrong = _Writer(Choices(seed * 10 + int(generation), record), generation, fault, fault).text()
    right = _Writer(Choices(seed * 10 + int(generation), record), generation, fault, None).text()
    return Loop(generation, seed, fault, wrong, right)


class _Writer:
    """Writes one program; `meant` is the fault that it is compared for, `fault` the one that it has."""

    def __init__(self, choices: Choices, generation: str, meant: str | None, fault: str | None) -> None:
        self._is_3 = generation == "3"
        self._fault = fault
        # what only shows where gradients are too small for float16
        self._faint = meant == "MP201" or (not self._is_3 and meant == "MP202")
        pick = choices.pick
        self._import = pick(_IMPORTS[generation])
        self._style = pick(("function", "method", "parameters", "train_step"))
        self._applies = pick(("apply_gradients", "inline", "apply" if self._is_3 else "apply_gradients"))
        self._loss = pick(
            (
                "tf.reduce_mean(tf.square({p} - {y}))",
                "keras.losses.MeanSquaredError()({y}, {p})",
                "loss_fn({y}, {p})",
                "tf.reduce_mean(tf.math.squared_difference({y}, {p}))",
            )
        )
        self._wraps = pick(("inline", "rebound", "factory", "module"))
        clips = choices.chance(0.3)
        # where the gradients are unscaled otherwise, it is no longer the same that is clipped
        self._clips = meant == "MP204" or (
            clips and not self._faint and meant not in ("MP203", "MP205", "MP302", "MP303")
        )
        adds = choices.chance(0.2)
        self._adds = meant == "MP212" or (adds and not self._faint)
        self._halves = choices.chance(0.25) and not self._adds and meant in (None, "MP202", "MP205")
        self._metric = choices.chance(0.4)
        self._names = pick(
            (("loss", "scaled_loss", "gradients"), ("value", "scaled", "grads"), ("objective", "big", "g"))
        )
        self._function = choices.chance(0.4)
        if meant in ("MP201", "MP207"):
            self._style = pick(("function", "method", "parameters"))
        if not self._is_3 and meant == "MP205" and self._applies == "inline":
            self._applies = "apply_gradients"
        if meant == "MP212" and self._applies == "inline":
            self._applies = "apply_gradients"
        holds = choices.chance(0.3) and self._style in ("function", "method") and not self._adds
        # in variables, which outlive the step
        self._holds = holds and meant in (None, "MP201", "MP202", "MP203", "MP204", "MP205")
        self._halves = self._halves or self._holds
        self._held = pick(("[each.read_value() for each in {sums}]", "[each / 1.0 for each in {sums}]", "{sums}"))
        self._sums = pick(
            ("part.assign_add(two / 2.0)", "part.assign(part + two / 2.0)", "part.assign_sub(-two / 2.0)")
        )

    # -- the parts

    @property
    def _optimizer(self) -> str:
        return {"function": "optimizer", "parameters": "opt"}.get(self._style, "self.optimizer")

    @property
    def _model(self) -> str:
        return {"function": "model", "method": "self.net", "parameters": "net", "train_step": "self"}[self._style]

    @property
    def _lso(self) -> str:
        module = "keras.optimizers" if self._is_3 and self._wraps != "module" else "keras.mixed_precision"
        return f"{module}.LossScaleOptimizer"

    def _scaled(self, loss: str) -> str:
        other = self._fault in ("MP302", "MP303")
        name = "scale_loss" if self._is_3 != other else "get_scaled_loss"
        return f"{self._optimizer}.{name}({loss})"

    def text(self) -> str:
        """The whole program."""
        lines = ["import numpy as np", "import tensorflow as tf", self._import, ""]
        lines += ['keras.mixed_precision.set_global_policy("mixed_float16")', ""]
        lines += ["loss_fn = keras.losses.MeanSquaredError()", *self._data(), *self._build()]
        lines += {"function": self._functions, "method": self._methods, "parameters": self._parameters}.get(
            self._style, self._override
        )()
        return "\n".join(lines) + "\n"

    def _data(self) -> list[str]:
        return [
            "random = np.random.RandomState(3)",
            'x = random.normal(size=(64, 8)).astype("float32")',
            'y = (2.0 * x[:, :1] - x[:, 1:2]).astype("float32")',
            "",
            "",
        ]

    def _build(self) -> list[str]:
        head = ["inputs = keras.Input((8,))", 'h = keras.layers.Dense(16, activation="tanh")(inputs)']
        head += ['outputs = keras.layers.Dense(1, dtype="float32")(h)']
        if self._style != "train_step":
            return ["def build():", *_in(head), "    return keras.Model(inputs, outputs)", "", ""]
        return []

    def _made(self) -> list[str]:
        """Statements that make `optimizer`."""
        rate = "1e6" if self._faint else "0.1"
        plain = f"keras.optimizers.SGD({rate})"
        if self._fault == "MP201":
            return [f"optimizer = {plain}"]
        nested = self._fault == "MP207"
        match self._wraps:
            case "rebound":
                more = [f"optimizer = {self._lso}(optimizer)"] * (2 if nested else 1)
                return [f"optimizer = {plain}", *more]
            case "factory":
                inner = f"{self._lso}(make())" if nested else "make()"
                return ["def make():", f"    return {self._lso}({plain})", "", "", f"optimizer = {inner}"]
            case _:
                inner = f"{self._lso}({plain})"
                return [f"optimizer = {self._lso}({inner})" if nested else f"optimizer = {inner}"]

    # -- one step

    def _step(self, x: str, y: str) -> list[str]:
        """Statements that take one step; the loss is in the variable that is named first."""
        if self._halves:
            return self._accumulated(x, y)
        loss, target, gradients = self._names
        lines = self._tape(x, y)
        taken = f"tape.gradient({target if self._uses_scaled else loss}, {self._model}.trainable_variables)"
        inline = self._applies == "inline" and not self._clips and not self._divides
        if inline:
            lines += self._apply(self._unscaled(taken))
            return lines
        lines.append(f"{gradients} = {taken}")
        lines += self._after(gradients)
        lines += self._apply(gradients)
        return lines

    @property
    def _uses_scaled(self) -> bool:
        return self._fault not in ("MP201", "MP202", "MP206")

    @property
    def _divides(self) -> bool:
        return self._fault == "MP205" and self._is_3

    def _tape(self, x: str, y: str, tape: str = "tape") -> list[str]:
        loss, target, _ = self._names
        body = [f"pred = {self._model}({x}, training=True)", f"{loss} = {self._loss.format(p='pred', y=y)}"]
        if self._faint:
            body.append(f"{loss} = {loss} * 1e-7")
        penalty = f"0.5 * tf.nn.l2_loss({self._model}.trainable_variables[0])"
        if self._adds and self._fault != "MP212":
            body.append(f"{loss} = {loss} + {penalty}")
        outside: list[str] = []
        if self._fault == "MP206":
            body.append(f"{loss} = {self._scaled(loss)}")
        elif self._uses_scaled:
            scaling = [f"{target} = {self._scaled(loss)}"]
            if self._fault == "MP213":
                scaling.append(f"{target} = {self._scaled(target)}")
            if self._fault == "MP212":
                scaling.append(f"{target} = {target} + {penalty}")
            if self._fault == "MP211":
                outside = scaling
            else:
                body += scaling
        return [f"with tf.GradientTape() as {tape}:", *_in(body), *outside]

    def _unscaled(self, gradients: str) -> str:
        if self._is_3 and self._fault != "MP302":
            return gradients
        if not self._is_3 and self._fault in ("MP201", "MP202", "MP203", "MP303"):
            return gradients
        return f"{self._optimizer}.get_unscaled_gradients({gradients})"

    def _after(self, gradients: str) -> list[str]:
        """What is done to the gradients before they are applied."""
        bound = "0.5"
        if self._is_3 and self._fault not in ("MP204", "MP201"):
            bound = f"0.5 * {self._optimizer}.scale_loss(1.0)"
        clip = f"{gradients}, norm = tf.clip_by_global_norm({gradients}, {bound})"
        unscale = [f"{gradients} = {self._unscaled(gradients)}"] if self._unscaled(gradients) != gradients else []
        if self._fault == "MP205" and not self._is_3:
            unscale = unscale * 2
        if self._divides:
            unscale = [f"{gradients} = [each / {self._optimizer}.scale_loss(1.0) for each in {gradients}]"]
        clips = [clip] if self._clips else []
        return [*clips, *unscale] if self._fault == "MP204" else [*unscale, *clips]

    def _apply(self, gradients: str) -> list[str]:
        variables = f"{self._model}.trainable_variables"
        if self._fault == "MP303" or (self._applies == "apply" and self._fault != "MP303"):
            return [f"{self._optimizer}.apply({gradients}, {variables})"]
        return [f"{self._optimizer}.apply_gradients(zip({gradients}, {variables}))"]

    def _accumulated(self, x: str, y: str) -> list[str]:
        """Two half batches, whose gradients are summed."""
        loss, target, gradients = self._names
        body = [*self._tape("part_x", "part_y")]
        differentiated = target if self._uses_scaled else loss
        body.append(f"parts = tape.gradient({differentiated}, {self._model}.trainable_variables)")
        if self._holds:
            sums = "self.sums" if self._style == "method" else "sums"
            body += [f"for part, two in zip({sums}, parts):", f"    {self._sums}"]
            return [
                f"for each in {sums}:",
                "    each.assign(tf.zeros_like(each))",
                f"for part_x, part_y in (({x}[:32], {y}[:32]), ({x}[32:], {y}[32:])):",
                *_in(body),
                f"{gradients} = {self._held.format(sums=sums)}",
                *self._after(gradients),
                *self._apply(gradients),
            ]
        body.append(f"{gradients} = [one + two / 2.0 for one, two in zip({gradients}, parts)]")
        return [
            f"{gradients} = [tf.zeros_like(each) for each in {self._model}.trainable_variables]",
            f"for part_x, part_y in (({x}[:32], {y}[:32]), ({x}[32:], {y}[32:])):",
            *_in(body),
            *self._after(gradients),
            *self._apply(gradients),
        ]

    @staticmethod
    def _zeros(model: str) -> str:
        return f"[tf.Variable(tf.zeros_like(each), trainable=False) for each in {model}.trainable_variables]"

    # -- the styles

    def _loop(self, step: str) -> list[str]:
        lines = ["", "", "start = [each.numpy() for each in model.trainable_variables]", "history = []"]
        return [*lines, f"for _ in range({STEPS}):", f"    history.append(float({step}))"]

    def _functions(self) -> list[str]:
        loss = self._names[0]
        decorated = ["@tf.function"] if self._function else []
        step = [*decorated, "def train_step(x, y):", *_in(self._step("x", "y")), f"    return {loss}"]
        built = ["optimizer.build(model.trainable_variables)"] if self._function else []
        built += [f"sums = {self._zeros('model')}"] if self._holds else []
        return [*_top(self._made()), "model = build()", *built, "", "", *step, *self._loop("train_step(x, y)")]

    def _methods(self) -> list[str]:
        loss = self._names[0]
        step = [*self._step("x", "y"), f"return {loss}"]
        return [
            *_top(self._made()),
            "",
            "",
            "class Trainer:",
            "    def __init__(self, net, optimizer):",
            "        self.net = net",
            "        self.optimizer = optimizer",
            *([f"        self.sums = {self._zeros('net')}"] if self._holds else []),
            "",
            "    def step(self, x, y):",
            *_in(_in(step)),
            "",
            "",
            "model = build()",
            "trainer = Trainer(model, optimizer)",
            *self._loop("trainer.step(x, y)"),
        ]

    def _parameters(self) -> list[str]:
        loss = self._names[0]
        step = ["def step(net, opt, x, y):", *_in(self._step("x", "y")), f"    return {loss}"]
        return [*step, "", "", *_top(self._made()), "model = build()", *self._loop("step(model, optimizer, x, y)")]

    def _override(self) -> list[str]:
        loss = self._names[0]
        plain = f"keras.optimizers.SGD({'1e6' if self._faint else '0.1'})"
        # under a float32 policy, too, Keras 2 needs an optimizer that has `get_scaled_loss`
        compiled = plain if self._is_3 else f"{self._lso}({plain})"
        metric = ["self.tracker.update_state(" + loss + ")"] if self._metric else []
        step = [*self._step("x", "y"), *metric, f'return {{"objective": {loss}}}']
        tracker = ['        self.tracker = keras.metrics.Mean(name="tracked")'] if self._metric else []
        return [
            "class Net(keras.Model):",
            "    def __init__(self):",
            "        super().__init__()",
            '        self.hidden = keras.layers.Dense(16, activation="tanh")',
            '        self.head = keras.layers.Dense(1, dtype="float32")',
            *tracker,
            "",
            "    def call(self, inputs, training=False):",
            "        return self.head(self.hidden(inputs))",
            "",
            "    def train_step(self, data):",
            "        x, y = data",
            *_in(_in(step)),
            "",
            "",
            "model = Net()",
            f"model.compile({compiled})",
            "model(x)",
            "start = [each.numpy() for each in model.trainable_variables]",
            "history = []",
            f"for _ in range({STEPS}):",
            "    logs = model.fit(x, y, batch_size=64, shuffle=False, verbose=0).history",
            '    history.append(float(logs["objective"][0]))',
        ]


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def _top(lines: list[str]) -> list[str]:
    """Statements of a module, with room around a function."""
    return ["", "", *lines] if lines[0].startswith("def ") else lines
