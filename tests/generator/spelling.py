"""How a program imports Keras and what it calls its parts there."""

from __future__ import annotations

from tests.generator.choices import Choices

_PACKAGES = {
    "2": [(4, "tensorflow.keras"), (2, "tf_keras"), (1, "keras")],
    "3": [(4, "keras"), (4, "tensorflow.keras")],
}
_ROOTS = {
    "tensorflow.keras": [
        ("import tensorflow as tf", "tf.keras"),
        ("from tensorflow import keras", "keras"),
        ("from tensorflow import keras as K", "K"),
        ("import tensorflow.keras as tfk", "tfk"),
        ("import tensorflow", "tensorflow.keras"),
    ],
    "tf_keras": [("import tf_keras", "tf_keras"), ("import tf_keras as keras", "keras")],
    "keras": [("import keras", "keras"), ("import keras as k", "k")],
}
_ALIASES = {
    "layers": "L",
    "mixed_precision": "mp",
    "activations": "act",
    "models": "M",
    "ops": "ops_",
    "config": "kconf",
    "backend": "B",
    "dtype_policies": "policies",
    "losses": "loss_of",
}


class Spelling:
    """Names of the API as this program writes them; asking for one imports it."""

    def __init__(self, choices: Choices, generation: str) -> None:
        self._choices = choices
        self.package = choices.weighted(_PACKAGES[generation])
        self._root_import, self._root = choices.pick(_ROOTS[self.package])
        self._styles: dict[str, str] = {}
        self._used: dict[str, None] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._renames = choices.chance(0.15)

    def keras(self, path: str) -> str:
        """`layers.Dense`, `Model`, `mixed_precision.set_global_policy`, … as the program writes it."""
        module, _, name = path.rpartition(".")
        style = self._styles.get(module)
        if style is None:
            options = (
                [(5, "full"), (3, "names")] if not module else [(3, "full"), (5, "module"), (2, "alias"), (3, "names")]
            )
            style = self._styles[module] = self._choices.weighted(options)
        match style:
            case "full":
                self._use(self._root_import)
                return f"{self._root}.{path}"
            case "module":
                self._use(f"from {self.package} import {module}")
                return path
            case "alias":
                alias = _ALIASES[module]
                self._use(f"from {self.package} import {module} as {alias}")
                return f"{alias}.{name}"
            case _:
                known = self._names.setdefault(module, {})
                if name not in known:
                    short = f"{name[:1]}{len(known)}" if self._renames and self._choices.chance(0.5) else name
                    known[name] = short
                return known[name]

    def tensorflow(self, path: str) -> str:
        """`tf.cast` and the like."""
        self._use("import tensorflow as tf")
        return f"tf.{path}"

    def numpy(self, path: str) -> str:
        """`np.zeros` and the like."""
        self._use("import numpy as np")
        return f"np.{path}"

    def standard(self, line: str) -> None:
        """An import of the standard library."""
        self._use(line)

    def _use(self, line: str) -> None:
        self._used.setdefault(line)

    def _front(self) -> list[str]:
        """What may stand before the imports."""
        lines = []
        if self._choices.chance(0.1):
            lines.append('"""What this is for."""')
        if self._choices.chance(0.1):
            lines.append("from __future__ import annotations")
        if self._choices.chance(0.05):
            lines += ["from typing import TYPE_CHECKING", "if TYPE_CHECKING:", "    from os import PathLike"]
        return lines

    def imports(self) -> list[str]:
        """The lines at the top of the program."""
        lines = list(self._used)
        for module, names in self._names.items():
            written = [name if name == short else f"{name} as {short}" for name, short in sorted(names.items())]
            where = f"{self.package}.{module}" if module else self.package
            if len(written) > 3 and self._choices.chance(0.3):
                lines.append(f"from {where} import (\n" + "".join(f"    {each},\n" for each in written) + ")")
            else:
                lines.append(f"from {where} import {', '.join(written)}")
        return self._front() + sorted(
            lines, key=lambda line: (line.split()[1].split(".")[0] in ("keras", "tensorflow", "tf_keras"), line)
        )
