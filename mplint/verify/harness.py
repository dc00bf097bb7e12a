"""Run a Keras program, shortened, and measure what its models compute in and how they train.

One file, with nothing but the standard library beside the TensorFlow and Keras of the interpreter that it runs in:
mplint starts it as `python harness.py job.json` and reads the report, one JSON object a line. It measures and judges
nothing; `mplint.verify.judge` does. The file keeps to what Python 3.9 understands.

TensorFlow is imported once. Every run of the program is a fork of that process (a process of its own where there is no
safe fork), so that no state, global policy, name or registry leaks from one run into the next.

What a run changes about the program:
- `fit` and `train_on_batch` train a few steps of a few rows of the data that the program itself hands over; `evaluate`
  takes one such batch, `predict` one too, repeated to the length asked for. A training loop of the program's own is
  stopped after as many steps.
- `keras.datasets` gives random data of the real shapes; nothing is downloaded.
- What Keras would save goes to a scratch folder. Whatever else the program does to the world, it does.
- For a float32 run every half-precision policy, however it is spelled, becomes float32.
Models that the program leaves untrained are trained on random data: ids below the vocabulary, labels below the class
count.
"""

# Paths are plain words here, and zip has no `strict` before Python 3.10:
# ruff: noqa: PTH100, PTH103, PTH105, PTH107, PTH110, PTH113, PTH118, PTH119, PTH120, PTH122, PTH123, B905

from __future__ import annotations

import ast
import contextlib
import difflib
import dis
import faulthandler
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import io
import itertools
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable

PROTOCOL = 1
SEED = 7
HALF = ("float16", "bfloat16")
HALF_POLICIES = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "half")
LEGACY = "TF_USE_LEGACY_KERAS"

# A loss scale starts at 2 ** 15 and is halved at each step that overflows: correct programs may skip as many and more.
PATIENCE = 40
MOST_FITS = 20
MOST_BUILDERS = 10
MOST_FILES = 500

# What a function that builds a model is called, where none was named.
BUILDER = re.compile(
    r"^(build|make|create|define|construct|get)(_|$)"
    r"|(^|_)(model|net|network|unet|classifier|backbone|encoder|decoder|generator|discriminator|critic)$"
)

# TensorFlow has no kernel for some operations in half precision on a CPU: no fault of the program.
NO_KERNEL = re.compile(r"Could not find device for node|No OpKernel was registered|No registered '\w+' OpKernel")


class Enough(BaseException):
    """Raised in the program when its own loop has trained long enough; not an Exception, so that it is not caught."""


class OtherKeras(BaseException):
    """Raised where the program makes something of a copy of Keras that nobody watches: it would train for real there.

    Not an Exception either: what the program would do instead is of no interest.
    """


class Unavailable(Exception):
    """The interpreter cannot run the program at all: no TensorFlow, or not the generation of Keras asked for."""


class WrongTarget(Exception):
    """The user named something that is not there, or that cannot be called."""


# --- The program's source -------------------------------------------------------------------------------------------


class Overlay:
    """Texts that stand in for files: the program is imported from them, with its own paths and names."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {os.path.realpath(path): text for path, text in texts.items()}
        self.compiled: dict[str, str] = {}
        """The name under which the code of each replaced file runs, and its real path."""

    def source(self, path: str) -> str | bytes:
        """What to run for a file."""
        text = self._texts.get(os.path.realpath(path))
        if text is not None:
            return text
        with open(path, "rb") as file:
            return file.read()

    def code(self, path: str) -> types.CodeType | None:
        """The compiled text of a replaced file; autograph and tracebacks read the lines of the same text."""
        text = self._texts.get(os.path.realpath(path))
        if text is None:
            return None
        self.compiled[path] = os.path.realpath(path)
        lines = io.StringIO(text, newline=None).readlines()
        linecache.cache[path] = (len(text), None, lines, path)
        return compile(text, path, "exec", dont_inherit=True)

    def install(self) -> None:
        """Import replaced files from their texts."""
        loader = importlib.machinery.SourceFileLoader
        real = loader.get_code

        def get_code(this: Any, name: str) -> Any:
            code = self.code(this.get_filename(name))
            return real(this, name) if code is None else code

        loader.get_code = get_code  # type: ignore[method-assign, assignment]


class Reach:
    """Which of the rewritten places of the program have run."""

    def __init__(self, overlay: Overlay, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        self._overlay = overlay
        self._places = {
            os.path.realpath(path): changed_places(before[path], text) for path, text in after.items() if path in before
        }
        self._left = {path: set(places) for path, places in self._places.items()}
        self._rows: dict[types.CodeType, frozenset[int]] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Note the rewritten lines that run inside."""
        if not any(self._left.values()):
            yield
            return
        earlier = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(earlier)

    def _enter(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        """Trace the lines of code that holds a rewritten place, until it has run: all other code keeps its speed."""
        path = self._overlay.compiled.get(frame.f_code.co_filename)
        left = self._left.get(path) if path is not None else None
        if not left:
            return None
        rows = self._rows.get(frame.f_code)
        if rows is None:
            rows = frozenset(row for _, row in dis.findlinestarts(frame.f_code) if row is not None)
            self._rows[frame.f_code] = rows

        def line(frame: types.FrameType, event: str, argument: Any) -> Any:
            left.difference_update([place for place in left if place[0] <= frame.f_lineno <= place[1]])
            return line if any(first <= row <= last for first, last in left for row in rows) else None

        return line(frame, event, argument)

    def unreached(self, path: str) -> list[tuple[int, int]]:
        """The rewritten places of a file that have not run."""
        return sorted(self._left.get(os.path.realpath(path), ()))

    def report(self) -> dict[str, Any]:
        """For each rewritten file whether it was loaded, its places, and those that did not run."""
        loaded = set(self._overlay.compiled.values())
        return {
            path: {"loaded": path in loaded, "places": places, "unreached": self.unreached(path)}
            for path, places in self._places.items()
        }


def changed_places(before: str, after: str) -> list[tuple[int, int]]:
    """The statements of `after` that a rewrite touched, as first and last row; all of a text that is no Python."""
    try:
        tree = ast.parse(after)
    except (SyntaxError, ValueError):
        return [(1, after.count("\n") + 1)]
    matcher = difflib.SequenceMatcher(a=before.splitlines(), b=after.splitlines(), autojunk=False)
    rows: set[int] = set()
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            rows.update(range(start + 1, max(end, start + 1) + 1))
    found = set()
    statements = sorted(_simple_statements(tree), key=lambda span: span[1] - span[0])
    for row in rows:
        for first, last in statements:
            if first <= row <= last:
                found.add((first, last))
                break
    return sorted(found)


def _simple_statements(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Rows of simple statements, and of the headers of compound ones; docstrings, which never run, are left out."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        first, last = _first_row(node), node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            last = max(first, _first_row(body[0]) - 1)
        yield first, last


def _first_row(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def project_sources(start: str, roots: Sequence[str], overlay: Overlay) -> Iterator[ast.Module]:
    """The trees of a program and of the project's modules that it imports, as far as `import` statements tell."""
    waiting, seen = [start], {os.path.realpath(start)}
    while waiting and len(seen) < MOST_FILES:
        path = waiting.pop()
        try:
            tree = ast.parse(overlay.source(path))
        except (OSError, SyntaxError, ValueError):
            continue
        yield tree
        for name, level in _imported(tree):
            if level:
                folder = os.path.dirname(path)
                for _ in range(level - 1):
                    folder = os.path.dirname(folder)
                bases: Sequence[str] = [folder]
            else:
                bases = [os.path.dirname(start), *roots]
            for base, count in itertools.product(bases, range(1, name.count(".") + 2)):
                stem = os.path.join(base, *name.split(".")[:count])
                for file in (stem + ".py", os.path.join(stem, "__init__.py")):
                    if os.path.realpath(file) not in seen and os.path.isfile(file):
                        seen.add(os.path.realpath(file))
                        waiting.append(file)


def _imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, 0
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f"{node.module}.{alias.name}" if node.module else alias.name, node.level


def generation_of(trees: Iterable[ast.Module]) -> str | None:
    """Which Keras a program asks for: "2", "keras" (whatever `import keras` gives) or, where it does not say, None."""
    asked: set[str] = set()
    for tree in trees:
        for name, level in _imported(tree):
            top = name.split(".")[0]
            if level == 0 and top in ("tf_keras", "keras"):
                asked.add("2" if top == "tf_keras" else "keras")
        for node in ast.walk(tree):
            if _legacy_switch(node) is True:
                asked.add("2")
    return next((answer for answer in ("2", "keras") if answer in asked), None)


def _legacy_switch(node: ast.AST) -> bool | None:
    """Whether a node turns Keras 2 on in the environment: `os.environ[...] = "1"`, `setdefault`, `putenv`, `update`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        pair = (node.targets[0].slice, node.value)
    elif isinstance(node, ast.Call) and len(node.args) == 2:
        pair = (node.args[0], node.args[1])
    elif isinstance(node, ast.Call) and any(keyword.arg == LEGACY for keyword in node.keywords):
        pair = next((ast.Constant(LEGACY), keyword.value) for keyword in node.keywords if keyword.arg == LEGACY)
    else:
        return None
    if not all(isinstance(part, ast.Constant) for part in pair) or getattr(pair[0], "value", None) != LEGACY:
        return None
    return str(getattr(pair[1], "value", "")) in ("1", "True", "true")


def wanted_keras(choice: str, asked: str | None, likely: str | None) -> str | None:
    """The Keras to run a program with: "2", "3", "keras" as in `generation_of`, or None where nothing says.

    What is demanded, but for "auto"; else the `likely` one, if it is there and neither an import of the package `keras`
    nor whoever set the environment has chosen; else what the program's code asks for.
    """
    if choice != "auto":
        return choice
    is_open = asked != "keras" and LEGACY not in os.environ
    return likely if is_open and (likely == "3" or (likely == "2" and has_package("tf_keras"))) else asked


# --- TensorFlow and Keras -------------------------------------------------------------------------------------------


class Framework:
    """TensorFlow, and the one Keras that the program uses."""

    def __init__(self, choice: str, asked: str | None, likely: str | None) -> None:
        wanted = wanted_keras(choice, asked, likely)
        if wanted in ("2", "3"):
            os.environ[LEGACY] = "1" if wanted == "2" else "0"
        try:
            import tensorflow as tf
        except ImportError as error:
            raise Unavailable(f"has no TensorFlow ({error}): pip install tensorflow") from None
        self.tf: Any = tf
        try:
            keras: Any = tf.keras
            keras.Model  # noqa: B018  (it is loaded when it is first used)
        except (ImportError, AttributeError, KeyError) as error:
            package = "tf-keras" if os.environ.get(LEGACY) in ("1", "True", "true") else "keras"
            told = f"has TensorFlow {tf.__version__} but no {package} ({error}): pip install {package}"
            raise Unavailable(told) from None
        if (wanted == "3" and not hasattr(keras, "DTypePolicy")) or wanted == "keras":
            try:
                keras = importlib.import_module("keras")
            except ImportError as error:
                raise Unavailable(f"has no keras package ({error}): pip install keras") from None
        self.keras: Any = keras
        self.generation = "3" if hasattr(keras, "DTypePolicy") else "2"
        if choice in ("2", "3") and self.generation != choice:
            raise Unavailable(f"has TensorFlow {tf.__version__} with Keras {self.version}, not Keras {choice}")
        if self.generation == "3" and keras.backend.backend() != "tensorflow":
            raise Unavailable(f"runs Keras on {keras.backend.backend()}: only the TensorFlow backend can be verified")

    @property
    def package(self) -> str:
        """The package that this Keras is: `keras`, `tf_keras`, or `tensorflow` where it lies in there."""
        return str(self.keras.Model.__module__.partition(".")[0])

    @property
    def version(self) -> str:
        """Of Keras."""
        legacy = sys.modules.get("tf_keras")
        package = legacy if self.generation == "2" and legacy is not None else self.keras
        return str(getattr(package, "__version__", None) or self.tf.__version__)

    def seed(self) -> None:
        """Start all random numbers anew."""
        self.keras.utils.set_random_seed(SEED)

    def facts(self) -> dict[str, str]:
        """What everything was measured with."""
        return {
            "python": ".".join(map(str, sys.version_info[:3])),
            "tensorflow": str(self.tf.__version__),
            "keras": self.version,
            "generation": self.generation,
        }

    def is_model(self, thing: Any) -> bool:
        """Whether it is a model of this Keras."""
        return isinstance(thing, self.keras.Model)

    def optimizers(self, model: Any) -> list[Any]:
        """A model's optimizers: the compiled one, and those that it keeps as attributes, as GANs do."""
        bases = tuple(self.optimizer_classes())
        held = [getattr(model, "optimizer", None), *vars(model).values()]
        found = {id(thing): thing for thing in held if isinstance(thing, bases)}
        return list(found.values())

    def optimizer_classes(self) -> list[type]:
        """The roots of all optimizer classes."""
        roots = [self.keras.optimizers.Optimizer, self.keras.mixed_precision.LossScaleOptimizer]
        older = getattr(getattr(self.keras.optimizers, "legacy", None), "Optimizer", None)
        if isinstance(older, type):
            roots.append(older)
        return roots

    def scale(self, optimizer: Any) -> float | None:
        """The present loss scale of a LossScaleOptimizer that has one."""
        if not isinstance(optimizer, self.keras.mixed_precision.LossScaleOptimizer):
            return None
        # Keras 3 makes the variable at the first step.
        names = ("dynamic_scale", "initial_scale") if self.generation == "3" else ("loss_scale",)
        value: Any = next((getattr(optimizer, name) for name in names if hasattr(optimizer, name)), None)
        return None if value is None else float(array_of(value))

    def steps_since_change(self, optimizer: Any) -> int | None:
        """How many steps in a row a LossScaleOptimizer has applied: 0 after one that it skipped."""
        counter = getattr(optimizer, "step_counter" if self.generation == "3" else "dynamic_counter", None)
        return None if counter is None else int(array_of(counter))


def array_of(variable: Any) -> Any:
    """The value of a variable, a tensor or a number; of one of its copies where a strategy has made several."""
    import numpy as np

    value = getattr(variable, "value", variable)
    value = variable if callable(value) else value
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def replace_everywhere(substitutes: Mapping[Any, Any]) -> None:
    """Put functions in the place of others in every module of Keras and TensorFlow that exports them."""
    wanted = {id(old): (old, new) for old, new in substitutes.items()}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("keras", "tf_keras", "keras_core", "tensorflow"):
            continue
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in wanted:
                setattr(module, key, wanted[id(value)][1])


def has_package(name: str) -> bool:
    """Whether a package can be imported, as far as can be told without doing so."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


class Guard:
    """Stops the program where it makes a model or an optimizer of another copy of Keras than the one that is watched.

    Such a copy may be imported, by a library or for its policies: only what is made of it would train in full, and
    overwrite what the program saves.
    """

    PACKAGES = ("keras", "tf_keras", "keras_core")

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._waiting = {name for name in self.PACKAGES if name != framework.package}
        self.refused: str | None = None
        """What was told the program, or the function that was called for its models, when it was stopped."""

    def install(self) -> None:
        """Guard the copies that are there, and the others once they are imported."""
        for name in sorted(self._waiting & set(sys.modules)):
            self._guard(name)
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Where a package is that waits for its guard, which it gets when it has been run."""
        if name not in self._waiting:
            return None
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in found if spec is not None), None)
        loader: Any = None if spec is None else spec.loader
        if hasattr(loader, "exec_module"):
            real = loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                real(module)
                self._guard(name)

            loader.exec_module = exec_module
        return spec

    def _guard(self, name: str) -> None:
        self._waiting.discard(name)
        copy: Any = sys.modules[name]

        def refuse(*arguments: Any, **options: Any) -> Any:
            self.refused = told_of(name, self._framework)
            raise OtherKeras(self.refused)

        if isinstance(getattr(copy, "Model", None), type):
            copy.Model.__new__ = staticmethod(refuse)
        optimizers = getattr(copy, "optimizers", None)
        for holder in (optimizers, getattr(optimizers, "legacy", None)):
            if isinstance(getattr(holder, "Optimizer", None), type):
                holder.Optimizer.__init__ = refuse  # type: ignore[union-attr]
        replace_everywhere(random_datasets(copy))


def told_of(name: str, framework: Framework) -> str:
    """That the program uses a copy of Keras that is not watched, and what can be done."""
    generation = "3" if hasattr(sys.modules.get(name), "DTypePolicy") else "2"
    told = f"the program uses the package `{name}`, which is Keras {generation} here"
    if generation == framework.generation:
        return f"{told} as well, but another copy than `{framework.package}`, which it was run with"
    return f"{told}: run it with --keras {generation}"


# --- Data -----------------------------------------------------------------------------------------------------------


class Feed:
    """Makes small data: the head of the program's own, or random data that a model and its losses can take."""

    def __init__(self, framework: Framework, steps: int, rows: int) -> None:
        self._tf = framework.tf
        self._keras = framework.keras
        self.steps = steps
        self.rows = rows

    # The program's own data.

    def rows_for(self, model: Any, batch_size: Any = None) -> int:
        """How many rows a batch gets: few, unless the model fixes the number."""
        declared = declared_inputs(model)
        for tensor in () if declared is None else flatten(declared):
            size = list(tensor.shape)[:1]
            if size and size[0] is not None:
                return int(size[0])
        return min(self.rows, int(batch_size)) if isinstance(batch_size, int) and batch_size > 0 else self.rows

    def head(self, structure: Any, rows: int) -> Any:
        """The first rows of every array in a structure; over again where there are not as many."""
        return self._tf.nest.map_structure(lambda leaf: self._head(leaf, rows), structure)

    def _head(self, leaf: Any, rows: int) -> Any:
        if leaf is None or (not hasattr(leaf, "__len__") and getattr(leaf, "shape", None) is None):
            return leaf
        have = length(leaf)
        if hasattr(leaf, "iloc"):
            leaf = leaf.iloc
        elif isinstance(leaf, self._tf.SparseTensor):
            return self._tf.sparse.slice(leaf, [0] * len(leaf.shape), [rows, *leaf.shape[1:]])
        elif self._tf.is_tensor(leaf) and not leaf.shape.rank:
            return leaf
        if have is None or have >= rows:
            return leaf[:rows]
        if have == 0:
            return leaf[:0]
        import numpy as np

        index: Any = np.arange(rows) % have
        return self._tf.gather(leaf, index) if self._tf.is_tensor(leaf) else leaf[index]

    def shortened(self, model: Any, values: dict[str, Any], steps: int) -> tuple[dict[str, Any], Callable[[], Any]]:
        """Arguments of `fit` cut down to `steps` small batches, and what gives the inputs of the first batch."""
        x = values.get("x")
        rows = self.rows_for(model, values.get("batch_size"))
        if isinstance(x, self._tf.data.Dataset):
            short = self._short_dataset(x, rows).repeat().take(steps)
            values.update(x=short, batch_size=None, steps_per_epoch=steps)
            return values, lambda: parts(next(iter(short)))[0]
        if x is None or self._is_arrays(x):
            share = 1.0 - float(values.get("validation_split") or 0.0)
            count = -int(-(steps * rows) // max(share, 0.05))
            for name in ("x", "y", "sample_weight"):
                if values.get(name) is not None:
                    values[name] = self.head(values[name], count)
            values.update(batch_size=rows, steps_per_epoch=None)
            return values, lambda: self.head(values["x"], rows)
        items = self._items(x, steps)
        if items is None:  # nothing that can be taken apart here, a DistributedDataset for one
            values.update(steps_per_epoch=steps)
            return values, lambda: None
        items = [self.head(item, rows) if isinstance(item, tuple) else self.head((item,), rows) for item in items]
        values.update(x=(item for item in itertools.cycle(items)), batch_size=None, steps_per_epoch=steps)
        for name, plain in (("workers", 1), ("use_multiprocessing", False), ("shuffle", False)):
            if name in values:
                values[name] = plain
        return values, lambda: parts(items[0])[0]

    def _short_dataset(self, dataset: Any, rows: int) -> Any:
        specs = self._tf.nest.flatten(dataset.element_spec)
        cut = (self._tf.TensorSpec, self._tf.RaggedTensorSpec)
        if not all(isinstance(spec, cut) and spec.shape.rank for spec in specs):
            return dataset
        return dataset.map(lambda *batch: tuple_or_one(self._tf.nest.map_structure(lambda leaf: leaf[:rows], batch)))

    def _is_arrays(self, x: Any) -> bool:
        leaves = self._tf.nest.flatten(x)
        return bool(leaves) and all(
            hasattr(leaf, "shape") or hasattr(leaf, "iloc") or isinstance(leaf, (int, float, str)) for leaf in leaves
        )

    def _items(self, x: Any, steps: int) -> list[Any] | None:
        """The first batches of a generator, a Sequence, a PyDataset or a loader."""
        if hasattr(x, "__getitem__") and hasattr(x, "__len__"):
            return [x[index % len(x)] for index in range(steps)]
        if hasattr(x, "__next__"):
            return list(itertools.islice(x, steps)) or None
        if hasattr(x, "__iter__") and not hasattr(x, "element_spec"):
            return [tuple(self._plain(part) for part in item) for item in itertools.islice(iter(x), steps)] or None
        return None

    @staticmethod
    def _plain(part: Any) -> Any:
        return part.numpy() if hasattr(part, "numpy") else part

    # Random data.

    def inputs(self, model: Any) -> tuple[Any, str]:
        """A batch for a model, in the structure it declares, and how it came about."""
        import numpy as np

        random = np.random.RandomState(SEED)
        declared = declared_inputs(model)
        rows = self.rows_for(model)
        below = smallest_vocabulary(model)
        if declared is not None:
            flat = self._tf.nest.flatten(declared)
            made = [self._random(random, concrete(tensor.shape, rows), dtype_name(tensor), below) for tensor in flat]
            return self._tf.nest.pack_sequence_as(declared, made), "random data"
        guess = guessed_input(model)
        if guess is None:
            name = type(model).__name__
            told = "an input, and what it takes cannot be told from its layers"
            raise ValueError(f"the program never gives {name} {told}")
        shape, dtype = guess
        return self._random(random, (rows, *shape), dtype, below), f"random data of a guessed shape {(rows, *shape)}"

    @staticmethod
    def _random(random: Any, shape: tuple[int, ...], dtype: str, below: int | None) -> Any:
        if dtype == "string":
            import numpy as np

            return np.full(shape, "a word")
        if dtype == "bool":
            return random.uniform(size=shape) < 0.5
        if "int" in dtype:
            return random.randint(0, below or 2, size=shape).astype(dtype)
        # Between 0 and 1, so that a float that becomes an id is a valid one.
        return random.uniform(size=shape).astype("float32")

    def targets(self, model: Any, outputs: Any) -> Any:
        """Random labels for a compiled model's outputs; those of a loss that nobody knows are the first it takes."""
        loss = getattr(model, "loss", None)
        if not loss:
            return None
        leaves = named_leaves(outputs, getattr(model, "output_names", None))
        made = []
        for each, (_, leaf) in zip(self._losses(loss, [name for name, _ in leaves], outputs), leaves):
            form = loss_form(each)
            shape = tuple(map(int, leaf.shape))
            if form == "unknown":
                forms = (form for form in ("same", "sparse", "one-hot") if self._takes(each, form, shape, leaf))
                form = next(forms, "same")
            made.append(self._label(form, shape))
        return self._pack(outputs, made)

    def _takes(self, loss: Any, form: str, shape: tuple[int, ...], output: Any) -> bool:
        """Whether a loss can be called with labels of a form, as `fit` would give them to it."""
        labels = self._tf.constant(self._label(form, shape))
        if labels.shape.rank == 1 and not hasattr(self._keras, "DTypePolicy"):
            labels = self._tf.expand_dims(labels, -1)  # as Keras 2 does
        try:
            loss(labels, self._tf.cast(output, "float32"))
        except Exception:  # noqa: BLE001  (the program's own function)
            return False
        return True

    def _pack(self, outputs: Any, made: Sequence[Any]) -> Any:
        if isinstance(outputs, dict):
            return dict(zip(sorted(outputs), made)) if len(made) == len(outputs) else None
        return list(made) if isinstance(outputs, (list, tuple)) else made[0]

    @staticmethod
    def _losses(loss: Any, names: Sequence[str], outputs: Any) -> list[Any]:
        if isinstance(loss, Mapping):
            keys = sorted(outputs) if isinstance(outputs, dict) else names
            return [loss.get(key, loss.get(name)) for key, name in zip(keys, names)]
        if isinstance(loss, (list, tuple)):
            return [*loss, *[None] * len(names)][: len(names)]
        return [loss] * len(names)

    @staticmethod
    def _label(form: str, shape: tuple[int, ...]) -> Any:
        import numpy as np

        random = np.random.RandomState(SEED + 1)
        if form == "sparse":
            return random.randint(0, max(shape[-1], 1), size=shape[:-1] or shape).astype("int32")
        if form == "one-hot":
            return np.eye(max(shape[-1], 1), dtype="float32")[random.randint(0, max(shape[-1], 1), size=shape[:-1])]
        if form == "binary":
            return random.randint(0, 2, size=shape).astype("float32")
        return random.uniform(size=shape).astype("float32")


def length(leaf: Any) -> int | None:
    """The number of rows of an array or a frame."""
    try:
        return len(leaf)
    except TypeError:
        try:
            return int(leaf.shape[0])
        except (TypeError, AttributeError):
            return None


def parts(item: Any) -> tuple[Any, Any, Any]:
    """Inputs, labels and weights of what `fit` takes as one batch."""
    if not isinstance(item, tuple):
        return item, None, None
    x, y, weights = (*item, None, None)[:3]
    return x, y, weights


def tuple_or_one(batch: tuple[Any, ...]) -> Any:
    """A batch as its dataset gave it: `map` passes the parts of a tuple one by one."""
    return batch if len(batch) > 1 else batch[0]


def concrete(shape: Iterable[Any], rows: int) -> tuple[int, ...]:
    """A shape without unknowns: `rows` in front, 64 for the sides of pictures, 16 for time."""
    sizes = list(shape)
    side = 64 if len(sizes) == 4 else 16
    return tuple(int(size) if size is not None else rows if place == 0 else side for place, size in enumerate(sizes))


def dtype_name(thing: Any) -> str:
    """The dtype of a tensor or variable, by name, in either generation."""
    dtype = thing.dtype
    return str(getattr(dtype, "name", dtype))


def declared_inputs(model: Any) -> Any:
    """The symbolic inputs of a Functional or a built Sequential model, in its structure; None where there are none."""
    for name in ("input", "inputs"):
        try:
            value = getattr(model, name)
        except Exception:  # noqa: BLE001  (a model that was never called raises, in each generation something else)
            value = None
        leaves = list(flatten(value))
        if leaves and all(hasattr(leaf, "shape") for leaf in leaves):
            return value[0] if name == "inputs" and len(value) == 1 else value
    return None


def flatten(structure: Any) -> Iterator[Any]:
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(structure, Mapping):
        for key in structure:
            yield from flatten(structure[key])
    elif isinstance(structure, (list, tuple)):
        for part in structure:
            yield from flatten(part)
    else:
        yield structure


def trainable(model: Any) -> list[Any]:
    """The variables that training moves; none yet where the model has not been built, for which Keras 2 raises."""
    try:
        return list(model.trainable_variables)
    except ValueError:
        return []


def layers_of(model: Any) -> list[Any]:
    """All layers of a model, those of its parts too, without the model itself."""
    return list(model._flatten_layers(include_self=False))


def smallest_vocabulary(model: Any) -> int | None:
    """What every id must be below, for all tables of the model to hold it."""
    sizes = [
        size
        for layer in layers_of(model)
        for name in ("input_dim", "num_tokens")
        if isinstance(size := getattr(layer, name, None), int) and size > 0
    ]
    return min(sizes, default=None)


def guessed_input(model: Any) -> tuple[tuple[int, ...], str] | None:
    """What a subclassed model that was never called probably takes, by the first of its layers that has weights."""
    call = inspect.signature(type(model).call) if hasattr(type(model), "call") else None
    if call is not None:
        named = [name for name in required(type(model).call)[1:] if name not in ("training", "mask")]
        if len(named) > 1:
            return None
    for layer in layers_of(model):
        name = type(layer).__name__
        if name == "Embedding":
            return (16,), "int32"
        if re.search(r"Conv3D", name):
            return (8, 8, 8, 3), "float32"
        if re.search(r"Conv2D|SeparableConv2D", name):
            return (32, 32, 3), "float32"
        if re.search(r"Conv1D|^(LSTM|GRU|SimpleRNN|Bidirectional|TimeDistributed)$", name):
            return (16, 8), "float32"
        if name in ("Dense", "BatchNormalization", "LayerNormalization"):
            return (32,), "float32"
    return None


def loss_form(loss: Any) -> str:
    """What labels a loss takes: "none", "sparse", "one-hot", "binary", "same" (the output's shape) or "unknown"."""
    if loss is None:
        return "none"
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", None) or type(loss).__name__
    if name == "LossFunctionWrapper":
        name = getattr(loss, "name", None) or getattr(getattr(loss, "fn", None), "__name__", name)
    plain = str(name).replace("_", "").lower()
    if "sparse" in plain:
        return "sparse"
    for form, words in (
        ("binary", ("binary", "hinge")),
        ("one-hot", ("categorical", "kl", "divergence", "poisson")),
        ("same", ("mean", "mse", "mae", "mape", "msle", "squared", "absolute", "huber", "cosine", "logcosh")),
    ):
        if any(word in plain for word in words):
            return form
    return "unknown"


def named_leaves(outputs: Any, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """The tensors of a model's outputs with the names that its user knows them by."""
    if isinstance(outputs, Mapping):
        pairs = [(str(key), outputs[key]) for key in sorted(outputs)]
    elif isinstance(outputs, (list, tuple)):
        if names is None or len(names) != len(outputs):
            names = [f"output[{index}]" for index in range(len(outputs))]
        pairs = list(zip(names, outputs))
    else:
        return [] if outputs is None or not hasattr(outputs, "dtype") else [(names[0] if names else "output", outputs)]
    found = []
    for name, value in pairs:
        inner = named_leaves(value, None)
        found += [(name if leaf == "output" else f"{name}.{leaf}", tensor) for leaf, tensor in inner]
    return found


def random_datasets(keras: Any) -> dict[Any, Any]:
    """What loads the data sets of a Keras, and what stands in for it."""
    substitutes = {}
    for name, module in vars(getattr(keras, "datasets", types)).items():
        substitute = random_dataset(name)
        if hasattr(module, "load_data") and substitute is not None:
            substitutes[module.load_data] = functools.wraps(module.load_data)(substitute)
    return substitutes


def random_dataset(name: str) -> Callable[..., Any] | None:
    """Stands in for `keras.datasets.<name>.load_data`: the real shapes and ranges, random content."""
    pictures = {
        "mnist": ((60000, 28, 28), 10000, 10),
        "fashion_mnist": ((60000, 28, 28), 10000, 10),
        "cifar10": ((50000, 32, 32, 3), 10000, 10),
        "cifar100": ((50000, 32, 32, 3), 10000, 100),
    }
    rows = {"boston_housing": (404, 102, 13), "california_housing": (16512, 4128, 8)}
    texts = {"imdb": (25000, 25000, 2), "reuters": (8982, 2246, 46)}

    def load_data(*_: Any, **options: Any) -> Any:
        import numpy as np

        random = np.random.RandomState(SEED)
        if name in pictures:
            shape, tested, classes = pictures[name]
            label = (-1, 1) if name.startswith("cifar") else (-1,)

            def half(count: int) -> Any:
                some = random.randint(0, 256, size=(256, *shape[1:])).astype("uint8")
                labels = random.randint(0, classes, count).astype("uint8").reshape(label)
                return np.resize(some, (count, *shape[1:])), labels

            return half(shape[0]), half(tested)
        if name in rows:
            trained, tested, width = rows[name]
            return tuple((random.uniform(size=(n, width)), random.uniform(size=n) * 50) for n in (trained, tested))
        trained, tested, classes = texts[name]
        words = options.get("num_words") or 10000

        def texts_of(count: int) -> Any:
            lists: Any = np.empty(count, dtype=object)
            lists[:] = [random.randint(1, words, size=size).tolist() for size in random.randint(20, 60, size=count)]
            return lists, random.randint(0, classes, count)

        return texts_of(trained), texts_of(tested)

    return load_data if name in {**pictures, **rows, **texts} else None


# --- What is watched while the program runs ---------------------------------------------------------------------------


class Training:
    """What was seen of the training of one model."""

    def __init__(self, source: str, data: str) -> None:
        self.source = source
        self.data = data
        self.steps = 0
        self.skipped = 0
        self.more = 0
        """Those of the steps that were not asked for, but trained since all before were skipped."""
        self.losses: list[float] = []
        self.milliseconds: list[float] = []
        self.first_scale: float | None = None
        self.before: dict[int, Any] = {}
        self.first_batch: Callable[[], Any] = lambda: None


class Quota:
    """Grants every trainer its steps, and ends the program when all trainers have had theirs."""

    def __init__(self, steps: int, unfinished: Callable[[], bool]) -> None:
        self._steps = steps
        self._unfinished = unfinished
        """Whether more steps than usual are needed: the loss scale is still being found, nothing was applied so far."""
        self._done: dict[Any, int] = {}

    def spend(self, trainer: Any) -> int:
        """Grant one more step, or raise `Enough`. Trainers that take turns wait for the slowest, but not for ever."""
        done = self._done.get(trainer, 0)
        due = done >= self._steps and (min(self._done.values()) >= self._steps or done >= 8 * self._steps)
        if due and (done >= PATIENCE or not self._unfinished()):
            raise Enough
        self._done[trainer] = done + 1
        return done + 1


class Watch:
    """Shortens the program, keeps what it makes, and measures its training."""

    def __init__(self, framework: Framework, feed: Feed, scratch: str) -> None:
        self.framework = framework
        self.feed = feed
        self.models: list[Any] = []
        self.compiled: set[int] = set()
        self.trained: dict[int, Training] = {}
        self.moved_before: dict[int, Any] = {}
        """The values that the variables of the program's own loops had before their first step."""
        self.loop_steps = 0
        self.loop_optimizers: dict[int, Any] = {}
        self._loop_variables: dict[int, Any] = {}
        self.stage = "running the program"
        self._scratch = scratch
        self._saved: dict[str, str] = {}
        self._quota = Quota(feed.steps, self._searching)
        self._fits = 0
        self._inside = False
        """In a call that Keras itself makes, or in one of the harness: nothing is shortened or counted."""

    @contextlib.contextmanager
    def left_alone(self) -> Iterator[None]:
        """Let Keras do inside what it always does."""
        earlier, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = earlier

    @contextlib.contextmanager
    def at(self, stage: str) -> Iterator[None]:
        """Say where the program is, for when it fails; after a failure the stage stays."""
        earlier, self.stage = self.stage, stage
        yield
        self.stage = earlier

    def install(self, replacement: str | None) -> None:
        """Patch Keras; `replacement` takes the place of every half-precision policy."""
        self._watch_models()
        self._watch_optimizers()
        self._watch_functions()
        substitutes = random_datasets(self.framework.keras)
        saving = self.framework.keras.models
        for function in (saving.save_model, self.framework.tf.saved_model.save):
            substitutes[function] = self._redirected(function, "filepath", "export_dir", saves=True)
        loading = self._redirected(saving.load_model, "filepath", saves=False)
        substitutes[saving.load_model] = self._unseen(loading)  # it compiles, but the program does not
        if replacement is not None:
            self._replace_policies(replacement)
            real_floatx = self.framework.keras.backend.set_floatx
            substitutes[real_floatx] = lambda value: real_floatx(replacement if str(value) in HALF else value)
        replace_everywhere(substitutes)
        checkpoint = self.framework.tf.train.Checkpoint
        for method in ("save", "write"):
            setattr(checkpoint, method, self._redirected(getattr(checkpoint, method), "file_prefix", saves=True))
        self.framework.tf.train.CheckpointManager.save = lambda manager, *_, **__: manager.latest_checkpoint
        self._seed_generators()

    @staticmethod
    def _seed_generators() -> None:
        """NumPy's generators without a seed take one from the system: two runs would never be alike."""
        import numpy as np

        real = np.random.default_rng
        np.random.default_rng = lambda seed=None: real(SEED if seed is None else seed)

    def _replace_policies(self, replacement: str) -> None:
        keras = self.framework.keras
        policy = keras.DTypePolicy if self.framework.generation == "3" else keras.mixed_precision.Policy
        real = policy.__init__

        @functools.wraps(real)
        def init(this: Any, name: Any = None, *rest: Any, **options: Any) -> None:
            if isinstance(name, str) and name in HALF_POLICIES:
                name = replacement
            if name is None:
                real(this, *rest, **options)
            else:
                real(this, name, *rest, **options)

        policy.__init__ = init

    def _unseen(self, real: Any) -> Any:
        @functools.wraps(real)
        def call(*arguments: Any, **options: Any) -> Any:
            with self.left_alone():
                return real(*arguments, **options)

        return call

    def _redirected(self, real: Any, *names: str, saves: bool) -> Any:
        """`real` with its path led to the scratch folder, where it saves or where it was saved before."""

        @functools.wraps(real)
        def call(*arguments: Any, **options: Any) -> Any:
            given = list(arguments)
            for place, value in enumerate(given):
                if isinstance(value, (str, os.PathLike)):
                    given[place] = self._path(os.fspath(value), saves)
                    break
            for name in names:
                if isinstance(options.get(name), (str, os.PathLike)):
                    options[name] = self._path(os.fspath(options[name]), saves)
            return real(*given, **options)

        return call

    def _path(self, path: str, saves: bool) -> str:
        full = path if "://" in path else os.path.abspath(path)
        if full.startswith(self._scratch + os.sep):
            return path
        if saves and full not in self._saved:
            folder = os.path.join(self._scratch, "saved", str(len(self._saved)))
            os.makedirs(folder)
            self._saved[full] = os.path.join(folder, os.path.basename(full))
        return self._saved.get(full, path)

    # Models.

    def _watch_models(self) -> None:
        model = self.framework.keras.Model
        real_new = model.__new__

        def new(cls: Any, *arguments: Any, **options: Any) -> Any:
            made = real_new(cls, *arguments, **options)
            if not held(made, self.models) and not within_sequential(made):
                self.models.append(made)
            return made

        model.__new__ = staticmethod(functools.wraps(real_new)(new))
        for name, wrapper in (
            ("compile", self._compile),
            ("fit", self._fit),
            ("train_on_batch", self._train_on_batch),
            ("evaluate", self._evaluate),
            ("predict", self._predict),
        ):
            setattr(model, name, self._method(getattr(model, name), wrapper))
        for name, saves in (("save", True), ("save_weights", True), ("export", True), ("load_weights", False)):
            if hasattr(model, name):
                setattr(model, name, self._redirected(getattr(model, name), "filepath", saves=saves))

    @staticmethod
    def _method(real: Any, wrapper: Callable[..., Any]) -> Any:
        @functools.wraps(real)
        def method(this: Any, *arguments: Any, **options: Any) -> Any:
            return wrapper(real, this, *arguments, **options)

        return method

    def _compile(self, real: Any, model: Any, *arguments: Any, **options: Any) -> Any:
        with self.at("compile"):
            result = real(model, *arguments, **options)
        if not self._inside:
            self.compiled.add(id(model))
        return result

    def _fit(self, real: Any, model: Any, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return real(model, *arguments, **options)
        self._fits += 1
        if self._fits > MOST_FITS:
            raise Enough
        training = self.training_of(model, "fit", "the program's own data")
        with self.at("fit"):
            values = bound(real, model, arguments, options)
            values, training.first_batch = self.feed.shortened(model, values, self.feed.steps)
            if values.get("validation_data") is not None:
                values["validation_data"] = self._short_validation(model, values)
                values.update(validation_steps=1, validation_batch_size=None)
            values["epochs"] = int(values.get("initial_epoch") or 0) + 1
            values["verbose"] = 0
            return self.train(real, model, values, training)

    def _short_validation(self, model: Any, values: dict[str, Any]) -> Any:
        data = values["validation_data"]
        rows = self.feed.rows_for(model, values.get("batch_size"))
        if isinstance(data, self.framework.tf.data.Dataset):
            return self.feed.shortened(model, {"x": data}, 1)[0]["x"]
        if isinstance(data, (tuple, list)):
            return tuple(None if part is None else self.feed.head(part, rows) for part in data)
        return data

    def train(self, real: Any, model: Any, values: dict[str, Any], training: Training) -> Any:
        """A short `fit`; and on, while the loss scale is still being found and no step has been applied."""
        callbacks = values.get("callbacks")
        meter = self._meter(training)
        if callbacks is None or isinstance(callbacks, (list, tuple)):
            kept = [callback for callback in callbacks or () if type(callback).__name__ not in WRITERS]
            values["callbacks"] = [*kept, meter]
        elif hasattr(callbacks, "append"):
            callbacks.append(meter)
        else:
            values["callbacks"] = [callbacks, meter]
        one_step_each(model)
        self._remember(model, training)
        with self.left_alone():
            history = real(model, **values)
            for _ in range(0, PATIENCE, self.feed.steps):
                if not training.skipped or training.skipped < training.steps:
                    break
                training.more += self.feed.steps
                real(model, **{**values, "callbacks": [self._meter(training)], "validation_data": None})
        return history

    def training_of(self, model: Any, source: str, data: str) -> Training:
        """The record of a model's training; made at its first."""
        return self.trained.setdefault(id(model), Training(source, data))

    def _remember(self, model: Any, training: Training) -> None:
        for variable in trainable(model):
            if id(variable) not in training.before:
                with contextlib.suppress(Exception):
                    training.before[id(variable)] = array_of(variable)

    def _meter(self, training: Training) -> Any:
        watch = self

        class Meter(self.framework.keras.callbacks.Callback):  # type: ignore[misc, name-defined]
            """Looks on after every step."""

            def __init__(self) -> None:
                super().__init__()
                self.began = 0.0
                self.scales: dict[int, float] = {}

            def on_train_batch_begin(self, batch: Any, logs: Any = None) -> None:
                self.scales = watch.scales(self.model)
                self.began = time.perf_counter()

            def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
                if training.steps:  # the first step is traced
                    training.milliseconds.append((time.perf_counter() - self.began) * 1000)
                watch.step_done(self.model, training, logs or {}, self.scales)

        return Meter()

    def scales(self, model: Any) -> dict[int, float]:
        """The loss scale of each optimizer of a model that has one."""
        found = {id(optimizer): self.framework.scale(optimizer) for optimizer in self.framework.optimizers(model)}
        return {key: scale for key, scale in found.items() if scale is not None}

    def step_done(self, model: Any, training: Training, logs: Any, scales_before: Mapping[int, float]) -> None:
        """Count a step: its loss, whether it was skipped, and what the variables were after the first."""
        training.steps += 1
        numbers = logs if isinstance(logs, Mapping) else {"loss": next(iter(flatten(logs)), None)}
        names = ["loss"] if "loss" in numbers else [name for name in numbers if "loss" in name] or list(numbers)
        for name in names[:1]:
            value: Any = numbers[name]
            with contextlib.suppress(TypeError, ValueError):
                training.losses.append(float(value))
        scales = self.scales(model)
        if training.first_scale is None:
            training.first_scale = min((scales_before or scales).values(), default=None)
        for optimizer in self.framework.optimizers(model):
            scale, earlier = scales.get(id(optimizer)), scales_before.get(id(optimizer))
            if scale is None or earlier is None:
                continue
            # Keras 2 never goes below 1: there only the counter tells.
            if scale < earlier or (scale == earlier == 1.0 and self.framework.steps_since_change(optimizer) == 0):
                training.skipped += 1
                break
        self._remember(model, training)

    def _train_on_batch(self, real: Any, model: Any, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return real(model, *arguments, **options)
        self._quota.spend(("train_on_batch", id(model)))
        training = self.training_of(model, "train_on_batch", "the program's own data")
        with self.at("train_on_batch"):
            values = bound(real, model, arguments, options)
            rows = self.feed.rows_for(model)
            for name in ("x", "y", "sample_weight"):
                if values.get(name) is not None:
                    values[name] = self.feed.head(values[name], rows)
            training.first_batch = lambda: values["x"]
            self._remember(model, training)
            scales = self.scales(model)
            began = time.perf_counter()
            with self.left_alone():
                result = real(model, **values)
            if training.steps:
                training.milliseconds.append((time.perf_counter() - began) * 1000)
            self.step_done(model, training, result, scales)
        return result

    def _evaluate(self, real: Any, model: Any, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return real(model, *arguments, **options)
        with self.at("evaluate"):
            values = bound(real, model, arguments, options)
            with self.left_alone():
                return real(model, **self._one_batch(model, values))

    def _one_batch(self, model: Any, values: dict[str, Any]) -> dict[str, Any]:
        values, _ = self.feed.shortened(model, values, 1)
        steps = values.pop("steps_per_epoch", None)
        return {**values, "steps": steps, "verbose": 0}

    def _predict(self, real: Any, model: Any, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return real(model, *arguments, **options)
        with self.at("predict"):
            values = bound(real, model, arguments, options)
            leaves = list(flatten(values.get("x")))
            asked = length(leaves[0]) if leaves and hasattr(leaves[0], "shape") else None
            with self.left_alone():
                result = real(model, **self._one_batch(model, values))
            return result if asked is None else self.feed.head(result, asked)

    # The program's own loops.

    def _watch_optimizers(self) -> None:
        seen: set[type] = set()
        waiting = [above for root in self.framework.optimizer_classes() for above in root.__mro__[:-1]]
        while waiting:
            kind = waiting.pop()
            if kind in seen:
                continue
            seen.add(kind)
            waiting += kind.__subclasses__()
            for name in ("apply", "apply_gradients"):
                if name in vars(kind) and inspect.isfunction(vars(kind)[name]):
                    setattr(kind, name, self._method(vars(kind)[name], self._apply))

    def _apply(self, real: Any, optimizer: Any, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return real(optimizer, *arguments, **options)
        arguments = tuple(list(given) if hasattr(given, "__next__") else given for given in arguments)  # a zip
        variables = loop_variables(optimizer, arguments, options)
        self.loop_optimizers[id(optimizer)] = optimizer
        with self.framework.tf.init_scope():
            for variable in variables:
                if id(variable) not in self.moved_before:
                    self._loop_variables[id(variable)] = variable
                    with contextlib.suppress(Exception):
                        self.moved_before[id(variable)] = array_of(variable)
        if self.framework.tf.inside_function():
            self._stepping.update(self._running[:1])
        else:
            self.loop_steps = max(self.loop_steps, self._quota.spend(("optimizer", id(optimizer))))
        with self.left_alone():
            return real(optimizer, *arguments, **options)

    def _searching(self) -> bool:
        """Whether the program's steps have all been skipped so far, as the first ones may under a loss scale."""
        import numpy as np

        batches = [training for training in self.trained.values() if training.source == "train_on_batch"]
        if any(training.steps and training.skipped == training.steps for training in batches):
            return True
        scaled = any(self.framework.scale(optimizer) is not None for optimizer in self.loop_optimizers.values())
        return scaled and all(
            np.array_equal(array_of(self._loop_variables[key]), before) for key, before in self.moved_before.items()
        )

    def loop_scale(self) -> float | None:
        """The smallest loss scale of the program's own loops."""
        scales = [self.framework.scale(optimizer) for optimizer in self.loop_optimizers.values()]
        return min((scale for scale in scales if scale is not None), default=None)

    def _watch_functions(self) -> None:
        """Count the calls of the `tf.function`s of the program in which an optimizer works."""
        self._running: list[int] = []
        self._stepping: set[int] = set()
        kind = type(self.framework.tf.function(lambda: None))
        real = kind.__call__

        @functools.wraps(real)
        def call(function: Any, *arguments: Any, **options: Any) -> Any:
            if self._inside or self._running:
                return real(function, *arguments, **options)
            key = id(function)
            if key in self._stepping:
                self.loop_steps = max(self.loop_steps, self._quota.spend(("function", key)))
            self._running.append(key)
            known = key in self._stepping
            try:
                result = real(function, *arguments, **options)
            finally:
                self._running.pop()
            if not known and key in self._stepping:  # it was traced, and did its first step, just now
                self.loop_steps = max(self.loop_steps, self._quota.spend(("function", key)))
            return result

        kind.__call__ = call


def within_sequential(model: Any) -> bool:
    """Whether a model being made is the Functional one by which Keras 3 does a Sequential."""
    frames = itertools.islice(traceback.walk_stack(sys._getframe(2)), 4)
    names = {str(frame.f_globals.get("__name__")) for frame, _ in frames}
    return type(model).__name__ == "Functional" and any(re.fullmatch(r"keras\..*\.sequential", name) for name in names)


WRITERS = frozenset(
    {"TensorBoard", "CSVLogger", "BackupAndRestore", "RemoteMonitor", "WandbCallback", "WandbMetricsLogger"}
)
"""Callbacks that write where a real training would, or take up a real training that was broken off."""


def bound(real: Any, this: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name."""
    signature = inspect.signature(real)
    given = signature.bind(this, *arguments, **options).arguments
    flat: dict[str, Any] = {}
    for name, value in list(given.items())[1:]:
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            flat.update(value)
        else:
            flat[name] = value
    return flat


def one_step_each(model: Any) -> None:
    """Undo `steps_per_execution`: the meter looks on after every step."""
    if isinstance(getattr(model, "steps_per_execution", None), int):
        model.steps_per_execution = 1
    inner: Any = getattr(model, "_steps_per_execution", None)
    if hasattr(inner, "assign"):
        inner.assign(1)


def loop_variables(optimizer: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    """The variables that a call of `apply` or `apply_gradients` trains."""
    given = [*arguments, *options.values()]
    found = []
    for value in given:
        if isinstance(value, (list, tuple)):
            for item in value:
                last = item[-1] if isinstance(item, tuple) and len(item) == 2 else item
                if hasattr(last, "assign"):
                    found.append(last)
    return found or list(getattr(optimizer, "_trainable_variables", ()))


# --- What the program makes -------------------------------------------------------------------------------------------


class Thing:
    """A layer, a model or a variable, and what was seen of it. `site` is the call that made it."""

    def __init__(self, thing: Any, site: tuple[Any, ...] | None) -> None:
        self.thing = thing
        self.site = site
        self.outputs: set[tuple[str, ...]] = set()
        """The dtypes of what each of its calls gave, on data or in a trace."""


class Recorder:
    """Notes the dtypes of what the program's own code makes, by the call that makes it.

    The layers that Keras makes inside of others are left out. What a layer gives is looked at where it is called on
    data, or in a trace: the dtypes of a KerasTensor can lie. One recorder serves as many programs as there are.
    """

    def __init__(self, tf: Any, keras: Any) -> None:
        self._tf = tf
        self._keras = keras
        self._things: dict[int, Thing] = {}
        self._name_of: Callable[[str], str | None] = lambda file: None
        self._names: dict[str, str | None] = {}

    def start(self, name_of: Callable[[str], str | None]) -> None:
        """Forget all; from now on `name_of` gives the name of a source file, None where it is not the program's."""
        self._things.clear()
        self._names.clear()
        self._name_of = name_of

    def install(self) -> None:
        """Patch Keras and TensorFlow, once."""
        layer = self._keras.layers.Layer
        real_new, real_call, real_weight = layer.__new__, layer.__call__, layer.add_weight

        @functools.wraps(real_new)
        def new(cls: Any, *arguments: Any, **options: Any) -> Any:
            return self._note(real_new(cls, *arguments, **options), sys._getframe(1))

        @functools.wraps(real_call)
        def call(this: Any, *arguments: Any, **options: Any) -> Any:
            result = real_call(this, *arguments, **options)
            thing = self._things.get(id(this))
            dtypes = () if thing is None else self._dtypes(result)
            if thing is not None and dtypes:
                thing.outputs.add(dtypes)
            return result

        @functools.wraps(real_weight)
        def add_weight(this: Any, *arguments: Any, **options: Any) -> Any:
            return self._note(real_weight(this, *arguments, **options), sys._getframe(1))

        layer.__new__ = staticmethod(new)
        layer.__call__, layer.add_weight = call, add_weight
        kind = type(self._tf.Variable)
        real_variable = kind.__call__

        @functools.wraps(real_variable)
        def variable(cls: Any, *arguments: Any, **options: Any) -> Any:
            return self._note(real_variable(cls, *arguments, **options), sys._getframe(1))

        kind.__call__ = variable

    def _note(self, thing: Any, frame: types.FrameType) -> Any:
        site = self._site(frame)
        if (site is not None or isinstance(thing, self._keras.Model)) and id(thing) not in self._things:
            self._things[id(thing)] = Thing(thing, site)
        return thing

    def _site(self, frame: types.FrameType | None) -> tuple[Any, ...] | None:
        """The call in the program that makes something by itself, not by what it asks of Keras."""
        while frame is not None:
            file = frame.f_code.co_filename
            if file not in self._names:
                self._names[file] = None if file == __file__ else self._name_of(file)
            name = self._names[file]
            if name is not None:
                return (name, *position(frame))
            if file != __file__ and frame.f_code.co_name != "__new__" and not PASSING.search(file):
                return None
            frame = frame.f_back
        return None

    def _dtypes(self, result: Any) -> tuple[str, ...]:
        """Of the tensors in a result, in order, mappings by sorted key; none where one of them is only symbolic."""
        leaves = [leaf for leaf in self._leaves(result) if hasattr(leaf, "dtype") and hasattr(leaf, "shape")]
        if any("KerasTensor" in kind.__name__ for leaf in leaves for kind in type(leaf).__mro__):
            return ()
        return tuple(dtype_name(leaf) for leaf in leaves)

    def _leaves(self, structure: Any) -> Iterator[Any]:
        if isinstance(structure, Mapping):
            structure = [structure[key] for key in sorted(structure, key=str)]
        if isinstance(structure, (list, tuple)):
            for part in structure:
                yield from self._leaves(part)
        else:
            yield structure

    def exercise(self, example: Callable[[Any], Any]) -> None:
        """Call every model that was made and never called on data, on what `example` gives for it."""
        for thing in list(self._things.values()):
            if isinstance(thing.thing, self._keras.Model) and not thing.outputs:
                with contextlib.suppress(Exception):
                    batch = example(thing.thing)
                    if batch is not None:
                        thing.thing(batch)

    def made(self) -> list[dict[str, Any]]:
        """All that was made, one row for each call and class."""
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for thing in self._things.values():
            if thing.site is None:
                continue
            layer = isinstance(thing.thing, self._keras.layers.Layer)
            kind = type(thing.thing).__name__ if layer else "variable"
            empty: dict[str, Any] = {"policies": set(), "weights": set(), "outputs": set()}
            row = rows.setdefault((*thing.site, kind), empty)
            if layer:
                with contextlib.suppress(Exception):  # a constructor that failed has left no policy
                    row["policies"].add((str(thing.thing.compute_dtype), str(thing.thing.variable_dtype)))
                row["weights"].update(map(dtype_name, own_variables(thing.thing)))
                row["outputs"] |= thing.outputs
            else:
                row["weights"].add(dtype_name(thing.thing))
        return [
            {"file": key[0], "at": key[1:-1], "kind": key[-1], **{name: sorted(seen) for name, seen in row.items()}}
            for key, row in sorted(rows.items())
        ]

    def named(self, space: Mapping[str, Any]) -> dict[str, list[tuple[str, ...]]]:
        """What the models gave that are left in the variables of a module."""
        seen = {name: self._things.get(id(value)) for name, value in space.items()}
        return {
            name: sorted(thing.outputs)
            for name, thing in seen.items()
            if thing is not None and thing.outputs and isinstance(thing.thing, self._keras.Model)
        }


PASSING = re.compile(r"[/\\](tf_)?keras[/\\]src[/\\]layers[/\\]merging[/\\]|[/\\]tensorflow[/\\]python[/\\]util[/\\]")
"""Library code that makes a layer for its caller (`keras.layers.add`), or stands around calls."""


def position(frame: types.FrameType) -> tuple[int, ...]:
    """The expression that a frame is at: first row and column, last row and column, columns in bytes from 0.

    The row alone where Python does not tell, as before 3.11.
    """
    if hasattr(frame.f_code, "co_positions"):
        spans = frame.f_code.co_positions()
        row, last, column, end = next(itertools.islice(spans, frame.f_lasti // 2, None), (None,) * 4)
        if row is not None and last is not None and column is not None and end is not None:
            return row, column, last, end
    return (frame.f_lineno,)


def own_variables(layer: Any) -> list[Any]:
    """The floating variables of a layer itself, without those of the layers in it."""
    names = ("_trainable_variables", "_non_trainable_variables", "_trainable_weights", "_non_trainable_weights")
    held = [variable for name in names for variable in vars(layer).get(name) or ()]
    return [variable for variable in held if "float" in dtype_name(variable)]


# --- One run ----------------------------------------------------------------------------------------------------------


class Program:
    """The user's target: a script, a factory in a file, or a factory in a module."""

    def __init__(
        self, target: Mapping[str, Any], roots: Sequence[str], arguments: Sequence[str], overlay: Overlay
    ) -> None:
        self.file: str | None = target.get("file")
        self.module_name: str | None = target.get("module")
        self.factory: str | None = target.get("factory")
        self.imported = bool(target.get("imported"))
        self.roots = roots
        self.arguments = arguments
        self._overlay = overlay
        self.module: types.ModuleType | None = None

    def package(self) -> tuple[str, str] | None:
        """The folder above the packages that a file lies in, and its dotted name there."""
        if self.file is None:
            return None
        folder, names = os.path.dirname(self.file), [os.path.splitext(os.path.basename(self.file))[0]]
        while os.path.isfile(os.path.join(folder, "__init__.py")):
            names.insert(0, os.path.basename(folder))
            folder = os.path.dirname(folder)
        return (folder, ".".join(names)) if len(names) > 1 else None

    def run(self) -> Any:
        """Run it; gives what the factory returned, None for a script."""
        if self.file is not None and not self.imported and self.factory is None:
            self._run_script(self.file)
            return None
        sys.argv = [self.file or self.module_name or "", *self.arguments]
        package = self.package()
        if self.module_name is not None:
            sys.path[:0] = self.roots
            name = self.module_name
        elif package is not None:
            sys.path[:0] = [package[0], *self.roots]
            name = package[1]
        else:
            assert self.file is not None
            sys.path[:0] = [os.path.dirname(self.file), *self.roots]
            name = os.path.splitext(os.path.basename(self.file))[0]
        if self.file is not None and package is None:
            self.module = self._load(name, self.file)
        else:
            self.module = self._import(name)
        return None if self.factory is None else self._call(self.factory)

    @staticmethod
    def _load(name: str, file: str) -> types.ModuleType:
        name = name if name.isidentifier() and name not in sys.modules else f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_"
        spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, file), origin=file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    @staticmethod
    def _import(name: str) -> types.ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
                raise WrongTarget(f"there is no module {error.name!r}") from None
            raise

    def _run_script(self, file: str) -> None:
        sys.argv = [file, *self.arguments]
        module = types.ModuleType("__main__")
        module.__file__ = file
        package = self.package()
        relative = package is not None and any(level for _, level in _imported(ast.parse(self._overlay.source(file))))
        if package is not None and relative:  # as `python -m` would, the only way in which it runs
            module.__package__ = package[1].rpartition(".")[0]
            sys.path[:0] = [package[0], *self.roots]
            importlib.import_module(module.__package__)
        else:
            sys.path[:0] = [os.path.dirname(file), *([package[0]] if package else []), *self.roots]
        sys.modules["__main__"] = module
        self.module = module
        code = self._overlay.code(file)
        exec(code or compile(self._overlay.source(file), file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102

    def _call(self, factory: str) -> Any:
        value: Any = self.module
        for name in factory.split("."):
            if not hasattr(value, name):
                near = difflib.get_close_matches(name, [key for key in vars(value) if not key.startswith("_")], 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                raise WrongTarget(f"{getattr(value, '__name__', value)} has no `{name}`{hint}")
            value = getattr(value, name)
        if not callable(value):
            return value
        needed = required(value)
        if needed:
            raise WrongTarget(f"{factory} cannot be called without arguments: it needs {', '.join(needed)}")
        return value()

    @staticmethod
    def builders(module: str, places: Sequence[tuple[int, int]]) -> tuple[list[str], list[str]]:
        """What makes a model, in a module, without being given anything.

        First the functions and model classes that hold one of the places; then those that are called like a builder.
        """
        holding, named = [], []
        for key, value in list(vars(sys.modules[module]).items()):
            if key.startswith("_") or getattr(value, "__module__", None) != module or required(value):
                continue
            is_class = is_model_class(value)
            if (is_class or inspect.isfunction(value)) and gives_from(value, places):
                holding.append(key)
            elif is_class or (inspect.isfunction(value) and BUILDER.search(key)):
                named.append(key)
        return holding, named


def is_model_class(value: Any) -> bool:
    """Whether it is a subclass of a Keras model with a `call` of its own."""
    if not isinstance(value, type) or "call" not in vars(value):
        return False
    return any(base.__name__ == "Model" and "keras" in base.__module__ for base in value.__mro__)


def gives_from(maker: Any, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a function or class holds one of the places, and something is returned in it."""
    try:
        lines, first = inspect.getsourcelines(maker)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return False
    inside = any(first <= start and end < first + len(lines) for start, end in places)
    return inside and any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree))


def required(function: Any) -> list[str]:
    """The parameters that a call must give."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


class Examination:
    """Measures the models that a run has left behind."""

    def __init__(self, watch: Watch, program: Program, reach: Reach) -> None:
        self._watch = watch
        self._framework = watch.framework
        self._feed = watch.feed
        self._names = names_of_models(watch.framework, program.module)
        self._reach = reach

    def results(self) -> tuple[list[Any], list[Any]]:
        """The models that the program is about, and the others: feature extractors, preprocessing.

        What is trained or compiled counts; where nothing is, what is no part of another model and can be trained.
        """
        usable = [model for model in self._watch.models if usable_model(model)]
        busy = {*self._watch.trained, *self._watch.compiled}
        chosen = [model for model in usable if id(model) in busy or self._in_loop(model)]
        if not chosen:
            whole = [m for m in usable if not is_part(m, usable)]
            chosen = [m for m in whole if not is_built(m) or trainable(m)] or whole
        return chosen, [m for m in usable if not held(m, chosen) and not is_part(m, chosen)]

    def _in_loop(self, model: Any) -> bool:
        return any(id(variable) in self._watch.moved_before for variable in trainable(model))

    def name(self, model: Any) -> str:
        """What the program calls a model: its variable, else its name."""
        return self._names.get(id(model)) or str(model.name)

    def measure(self, model: Any) -> dict[str, Any]:
        """Everything that is known of one model after some steps of training."""
        troubles: list[dict[str, Any]] = []
        training = self._watch.trained.get(id(model))
        outputs: list[dict[str, Any]] = []
        result: Any = None
        batch: Any = None
        if has_call(model):
            with noting(troubles, "the input of the model"):
                batch, origin = self._batch(model, training)
                result, outputs = self._outputs(model, batch, troubles)
        else:  # a GAN, say: a model in name, whose `train_step` calls the models that it holds
            for part in (layer for layer in layers_of(model) if self._framework.is_model(layer)):
                with noting(troubles, f"the input of {part.name}"):
                    rows = self._outputs(part, self._batch(part, None)[0], troubles)[1]
                    outputs += [{**row, "name": f"{part.name}.{row['name']}"} for row in rows]
        if training is None and self._in_loop(model):
            training = Training("loop", "the program's own data")
            training.steps = self._watch.loop_steps
            training.before = self._watch.moved_before
        elif training is None and result is not None and trainable(model):
            training = Training("harness", origin)
            with noting(troubles, "training on random data"):
                self._train(model, batch, result, training)
        layers = [layer for layer in layers_of(model) if type(layer).__name__ != "InputLayer"]
        return {
            "name": self.name(model),
            "kind": type(model).__name__,
            "policy": policy_name(model),
            "outputs": outputs,
            "variables": counted(dtype_name(variable) for variable in weights_of(model)),
            "half_trainable": [str(v.name) for v in trainable(model) if dtype_name(v) in HALF],
            "layers": len(layers),
            "half_layers": sum(str(getattr(layer, "compute_dtype", None)) in HALF for layer in layers),
            "training": None if training is None or not training.steps else self._training(model, training),
            "trainable": len(trainable(model)),
            "troubles": troubles,
        }

    def _batch(self, model: Any, training: Training | None) -> tuple[Any, str]:
        batch = None
        if training is not None and declared_inputs(model) is None:
            batch, origin = training.first_batch(), training.data
        if batch is None:
            batch, origin = self._feed.inputs(model)
        return self._framework.tf.nest.map_structure(self._tensor, batch), origin

    def _tensor(self, leaf: Any) -> Any:
        tf = self._framework.tf
        tensor = leaf if tf.is_tensor(leaf) else tf.convert_to_tensor(getattr(leaf, "values", leaf))
        return tf.cast(tensor, "float32") if tensor.dtype == tf.float64 else tensor

    def _outputs(self, model: Any, batch: Any, troubles: list[dict[str, Any]]) -> tuple[Any, list[dict[str, Any]]]:
        """What a model gives: for real, so that its `call` runs line by line, and in a trace, whose dtypes are true."""
        tf = self._framework.tf
        result: Any = None
        traced: Any = None
        with noting(troubles, "calling the model"), self._reach.watching():
            result = model(batch)

        def forward(x: Any) -> Any:
            return model(x)

        with noting(troubles, "tracing the model"):
            specs = tf.nest.map_structure(self._spec, batch)
            traced = tf.function(forward).get_concrete_function(specs).structured_outputs
        leaves = named_leaves(result if traced is None else traced, getattr(model, "output_names", None))
        found = [
            {"name": name, "dtype": dtype_name(leaf), "shape": [None if n is None else int(n) for n in leaf.shape]}
            for name, leaf in leaves
        ]
        if result is None and traced is not None:  # no kernel to run it with: the trace knows the shapes as well
            rows = self._feed.rows_for(model)
            shaped = functools.partial(concrete, rows=rows)
            result = tf.nest.map_structure(lambda leaf: tf.TensorSpec(shaped(leaf.shape), leaf.dtype), traced)
        return result, found

    def _spec(self, tensor: Any) -> Any:
        tf = self._framework.tf
        if not isinstance(tensor, tf.Tensor):
            return tf.type_spec_from_value(tensor)
        return tf.TensorSpec([None, *tensor.shape[1:]] if tensor.shape.rank else [], tensor.dtype)

    def _train(self, model: Any, batch: Any, result: Any, training: Training) -> None:
        """Some steps of `fit` on random data; compiled here where the program did not."""
        if id(model) not in self._watch.compiled:
            dtypes = [self._framework.tf.as_dtype(dtype_name(leaf)) for _, leaf in named_leaves(result, None)]
            losses = ["mse" if dtype.is_floating else None for dtype in dtypes]
            if not any(losses):
                return
            model.compile(optimizer="adam", loss="mse" if all(losses) else losses)
            training.data += ", compiled here (adam, mse)"
        count = self._feed.rows_for(model) * self._feed.steps
        labels = self._feed.targets(model, result)
        values = {
            "x": self._feed.head(batch, count),
            "y": None if labels is None else self._feed.head(labels, count),
            "batch_size": self._feed.rows_for(model),
            "epochs": 1,
            "shuffle": False,
            "verbose": 0,
        }
        self._framework.seed()
        self._watch.train(lambda this, **given: this.fit(**given), model, values, training)

    def _training(self, model: Any, training: Training) -> dict[str, Any]:
        import numpy as np

        times = sorted(training.milliseconds)
        values = [(variable, array_of(variable)) for variable in trainable(model)]
        known = [(variable, value) for variable, value in values if id(variable) in training.before]
        return {
            "source": training.source,
            "data": training.data,
            "steps": training.steps,
            "skipped": None if training.source == "loop" else training.skipped,
            "more": training.more,
            "losses": training.losses,
            # The same step of every run, also where one had to go on.
            "loss": training.losses[: self._feed.steps][-1] if training.losses else None,
            "milliseconds": times[len(times) // 2] if times else None,
            "moved": sum(not np.array_equal(value, training.before[id(variable)]) for variable, value in known),
            "followed": len(known),
            "finite": all(bool(np.isfinite(value.astype("float64")).all()) for _, value in values),
            "scale": min(self._watch.scales(model).values(), default=self._watch.loop_scale()),
            "first_scale": training.first_scale,
        }


def names_of_models(framework: Framework, module: types.ModuleType | None) -> dict[int, str]:
    """The module variables that hold models."""
    space = vars(module) if module is not None else {}
    return {id(value): key for key, value in space.items() if framework.is_model(value)}


def held(model: Any, models: Iterable[Any]) -> bool:
    """Whether it is one of them."""
    return any(model is other for other in models)


def usable_model(model: Any) -> bool:
    """Whether a model came to be: Keras makes some that it throws away, and a constructor may have failed."""
    try:
        return bool(layers_of(model)) and isinstance(model.name, str) and trainable(model) is not None
    except Exception:  # noqa: BLE001  (each generation raises its own)
        return False


def weights_of(model: Any) -> list[Any]:
    """All its variables; none yet where the model has not been built."""
    try:
        return list(model.weights)
    except ValueError:
        return []


def is_built(model: Any) -> bool:
    """Whether its variables exist."""
    return bool(getattr(model, "built", False))


def has_call(model: Any) -> bool:
    """Whether a model can be called: it is Functional or Sequential, or its class says how."""
    method = inspect.unwrap(type(model).call)
    return not (method.__qualname__ == "Model.call" and "keras" in method.__module__)


def is_part(model: Any, models: Iterable[Any]) -> bool:
    """Whether a model lies in another one, or is made of the layers of one (a feature extractor, a backbone)."""
    own = {id(layer) for layer in layers_of(model) if type(layer).__name__ != "InputLayer"}
    for other in models:
        if other is model:
            continue
        theirs = {id(layer) for layer in layers_of(other)}
        if id(model) in theirs or (own and own < theirs):
            return True
    return False


def policy_name(layer: Any) -> str:
    """The name of a layer's dtype policy."""
    return str(getattr(getattr(layer, "dtype_policy", None), "name", None))


def counted(words: Iterable[str]) -> dict[str, int]:
    """How often each occurs."""
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


@contextlib.contextmanager
def noting(troubles: list[dict[str, Any]], stage: str) -> Iterator[None]:
    """Note an exception and go on."""
    try:
        yield
    except (Exception, OtherKeras) as error:  # noqa: BLE001  (whatever the user's program raises is a result)
        traceback.print_exc()
        troubles.append(trouble(error, stage, ()))


def trouble(error: BaseException, stage: str, roots: Sequence[str]) -> dict[str, Any]:
    """An exception as data: what, where in the user's files, during what."""
    text = str(error).strip()
    kind = "kernel" if NO_KERNEL.search(text) else "crash"
    where = None
    for frame in traceback.extract_tb(error.__traceback__):
        inside = any(os.path.realpath(frame.filename).startswith(root + os.sep) for root in roots)
        if inside and "site-packages" not in frame.filename:
            where = [os.path.realpath(frame.filename), frame.lineno]
    if isinstance(error, SystemExit):
        how = f"with status {error.code}" if isinstance(error.code, int) else f"and said {error.code}"
        kind, text = "exit", f"the program ended itself {how}"
    else:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        where = [os.path.realpath(error.filename), error.lineno]
    return {"kind": kind, "text": text[:2000], "where": where, "stage": stage}


def run_once(job: Mapping[str, Any], run: Mapping[str, Any], framework: Framework, builders: Any) -> dict[str, Any]:
    """Run the program once in this process, which is then used up, and measure its models."""
    began = time.perf_counter()
    overlay = Overlay(run["texts"])
    reach = Reach(overlay, run["before"], run["texts"])
    watch = Watch(framework, Feed(framework, job["steps"], job["rows"]), tempfile.mkdtemp(dir=job["scratch"]))
    recorder = Recorder(framework.tf, framework.keras)
    guard = Guard(framework)
    overlay.install()
    watch.install(run["replacement"])
    guard.install()
    if job["audit"]:
        recorder.start(functools.partial(own_name, job))
        recorder.install()
    framework.seed()
    if run["policy"] is not None:
        framework.keras.mixed_precision.set_global_policy(run["policy"])
    program = Program(job["target"], job["roots"], job["arguments"], overlay)
    failed: dict[str, Any] | None = None
    stopped = False
    given: list[Any] = []
    try:
        with reach.watching():
            given = [thing for thing in flatten(program.run()) if framework.is_model(thing)]
    except Enough:
        stopped = True
    except OtherKeras as error:
        failed = {**trouble(error, watch.stage, job["roots"]), "kind": "keras", "text": str(error)}
    except WrongTarget as error:
        failed = {"kind": "target", "text": str(error), "where": None, "stage": "looking for the target"}
    except SystemExit as error:
        if error.code not in (None, 0):
            failed = trouble(error, watch.stage, job["roots"])
    except BaseException as error:  # noqa: BLE001  (whatever the user's program raises is a result)
        traceback.print_exc()
        failed = trouble(error, watch.stage, job["roots"])
    examination = Examination(watch, program, reach)
    with watch.left_alone():
        chosen, others = (given, []) if program.factory is not None else examination.results()
    if failed is None and program.factory is None:
        makers = Makers(framework, program, reach, chosen)
        if builders is None:
            makers.find()
        else:
            makers.repeat(builders)
        builders = makers.called
    with watch.left_alone():
        measured = [] if job["audit"] else [examination.measure(model) for model in chosen]
        if job["audit"]:
            recorder.exercise(lambda model: watch.feed.inputs(model)[0])
        if run["weights"] is not None:
            save_weights(run["weights"], chosen)
        return {
            "models": measured,
            "others": [examination.name(model) for model in others if not held(model, chosen)],
            "hint": None if chosen else guard.refused,
            "trouble": failed,
            "stopped": stopped,
            "builders": builders,
            "reach": reach.report(),
            "policy": global_policy(framework),
            "made": recorder.made(),
            "named": recorder.named(vars(program.module) if program.module is not None else {}),
            "seconds": time.perf_counter() - began,
        }


def own_name(job: Mapping[str, Any], file: str) -> str | None:
    """The path of a file that is the program's own; None of libraries."""
    path = os.path.realpath(file)
    inside = path == job["target"]["file"] or any(path.startswith(root + os.sep) for root in job["roots"])
    return path if inside and "site-packages" not in path else None


class Makers:
    """Calls functions for the models that the program did not make, or for the rewritten lines that it did not run."""

    def __init__(self, framework: Framework, program: Program, reach: Reach, models: list[Any]) -> None:
        self._framework = framework
        self._program = program
        self._reach = reach
        self._models = models
        """Those of the program; what is made here is added."""
        self.called: list[tuple[str, str]] = []

    def find(self) -> None:
        """Call what holds a line that did not run, then, as long as one is left or there is no model, all builders."""
        for stage in (0, 1):
            wanted = self._unreached()
            if not self._models and self._program.module is not None:
                wanted.setdefault(self._program.module.__name__, [])
            for module, places in wanted.items():
                for name in self._program.builders(module, places)[stage]:
                    if (module, name) not in self.called and len(self.called) < MOST_BUILDERS:
                        self._call(module, name)

    def repeat(self, called: Iterable[Sequence[str]]) -> None:
        """Call what an earlier run called."""
        for module, name in called:
            self._call(module, name)

    def _unreached(self) -> dict[str, list[tuple[int, int]]]:
        loaded = [(name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items())]
        files = {os.path.realpath(file): name for name, file in loaded if isinstance(file, str)}
        report = {path: seen["unreached"] for path, seen in self._reach.report().items()}
        return {files[path]: places for path, places in report.items() if places and path in files}

    def _call(self, module: str, name: str) -> None:
        self.called.append((module, name))
        self._framework.seed()
        with contextlib.suppress(Exception, Enough, OtherKeras), self._reach.watching():
            made = getattr(sys.modules[module], name)()
            for thing in flatten(made):
                if self._framework.is_model(thing) and not held(thing, self._models):
                    self._models.append(thing)


def global_policy(framework: Framework) -> str:
    """The policy that a layer made now would have."""
    precision = framework.keras.mixed_precision
    return str((precision.dtype_policy() if framework.generation == "3" else precision.global_policy()).name)


# --- All runs ---------------------------------------------------------------------------------------------------------


def save_weights(path: str, models: Sequence[Any]) -> None:
    """Keep every weight, in order, for the comparison."""
    import numpy as np

    arrays = {}
    for number, model in enumerate(models):
        for place, variable in enumerate(weights_of(model)):
            value = array_of(variable)
            plain = value.astype("float32") if dtype_name(variable) == "bfloat16" else value
            arrays[f"{number:03d}/{place:06d}"] = plain
    np.savez(path, **arrays)


def compared(one: str, other: str) -> dict[str, Any]:
    """Whether two runs ended with the same bits in every weight, and the largest difference."""
    import numpy as np

    with np.load(one) as first, np.load(other) as second:
        mine, theirs = [first[key] for key in sorted(first)], [second[key] for key in sorted(second)]
    if [value.shape for value in mine] != [value.shape for value in theirs]:
        digests = [sorted(hashlib.sha256(v.tobytes()).hexdigest() for v in values) for values in (mine, theirs)]
        return {"equal": digests[0] == digests[1], "largest": None, "weights": len(mine)}
    equal = all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(mine, theirs))
    largest = 0.0
    for a, b in zip(mine, theirs):
        if a.size and a.dtype.kind in "fiub":
            largest = max(largest, float(np.abs(a.astype("float64") - b.astype("float64")).max()))
    return {"equal": equal, "largest": largest, "weights": len(mine)}


class Host:
    """Imports TensorFlow once, and runs the program in processes of their own."""

    def __init__(self, path: str, job: Mapping[str, Any]) -> None:
        self._path = path
        self._job = job

    def tell(self, event: str, **facts: Any) -> None:
        """Add a line to the report."""
        with open(self._job["report"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **facts}) + "\n")

    def framework(self) -> Framework:
        """The Keras that is demanded, else the one that the project speaks for or the program's imports ask for."""
        target, roots = self._job["target"], self._job["roots"]
        overlay = Overlay(self._job["runs"][0]["texts"])
        start = target.get("file")
        if start is None:
            parts_ = target["module"].split(".")
            files = [os.path.join(root, *parts_) + end for root in roots for end in (".py", os.sep + "__init__.py")]
            start = next((file for file in files if os.path.isfile(file)), None)
        trees = project_sources(start, roots, overlay) if start is not None else iter(())
        return Framework(self._job["keras"], generation_of(trees), self._job["likely"])

    def run(self) -> None:
        """All runs, then the comparison of the two in float32."""
        if self._job["protocol"] != PROTOCOL:
            raise Unavailable("was given a job of another version of mplint")
        framework = self.framework()
        self.tell("ready", **framework.facts())
        builders: Any = None
        done: dict[str, dict[str, Any]] = {}
        for index, run in enumerate(self._job["runs"]):
            self.tell("started", label=run["label"])
            outcome = self._isolated(index, framework, builders)
            done[run["label"]] = outcome
            self.tell("run", label=run["label"], **outcome)
            if outcome["trouble"] is not None and outcome["trouble"]["kind"] in ("target", "internal", "keras"):
                return
            if builders is None:
                builders = outcome["builders"]
        pair = self._job["compare"]
        if pair is not None and all(done[label]["trouble"] is None for label in pair):
            self._compare(pair, framework, builders)

    def _compare(self, pair: Sequence[str], framework: Framework, builders: Any) -> None:
        by_label = {run["label"]: (index, run) for index, run in enumerate(self._job["runs"])}
        (index, first), (_, second) = by_label[pair[0]], by_label[pair[1]]
        if not all(os.path.exists(run["weights"]) for run in (first, second)):
            return
        result = compared(first["weights"], second["weights"])
        repeatable = None
        if not result["equal"]:  # is it the rewrite, or does the program never train twice alike?
            self.tell("started", label="control")
            kept = first["weights"] + ".first.npz"
            os.replace(first["weights"], kept)
            self._isolated(index, framework, builders)
            repeatable = os.path.exists(first["weights"]) and bool(compared(kept, first["weights"])["equal"])
        self.tell("compared", repeatable=repeatable, **result)

    def _isolated(self, index: int, framework: Framework, builders: Any) -> dict[str, Any]:
        """One run in a process of its own: a fork where that is safe, else a new interpreter."""
        result = os.path.join(self._job["scratch"], f"run-{index}.json")
        with contextlib.suppress(FileNotFoundError):
            os.remove(result)
        if self._job["fork"]:
            sys.stdout.flush()
            sys.stderr.flush()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # TensorFlow is imported, nothing of it has run
                child = os.fork()
            if child == 0:
                leave(self._job, index, framework, builders)
            _, ended = os.waitpid(child, 0)
            status = -os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)
        else:
            command = [sys.executable, os.path.abspath(__file__), self._path, str(index), json.dumps(builders)]
            status = subprocess.run(command, check=False).returncode
        try:
            with open(result, encoding="utf-8") as file:
                outcome: dict[str, Any] = json.load(file)
                return outcome
        except (OSError, ValueError):
            how = signal.Signals(-status).name if status < 0 else f"status {status}"
            text = f"the program's process ended with {how} before it was done"
            return {**NOTHING, "trouble": {"kind": "died", "text": text, "where": None, "stage": "running the program"}}


NOTHING: dict[str, Any] = {
    "models": [],
    "others": [],
    "hint": None,
    "trouble": None,
    "stopped": False,
    "builders": None,
    "reach": {},
    "policy": None,
    "made": [],
    "named": {},
    "seconds": 0.0,
}
"""What is known of a run that left no result."""


def leave(job: Mapping[str, Any], index: int, framework: Framework, builders: Any) -> None:
    """Do one run, write its result and end the process at once, without the program's exit handlers and threads."""
    path = os.path.join(job["scratch"], f"run-{index}.json")
    try:
        outcome = run_once(job, job["runs"][index], framework, builders)
    except BaseException:  # noqa: BLE001  (what the program raises is caught inside: this is a fault of the harness)
        traceback.print_exc()
        text = traceback.format_exc()
        outcome = {**NOTHING, "trouble": {"kind": "internal", "text": text, "where": None, "stage": "measuring"}}
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(outcome, file)
    os.replace(path + ".part", path)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def main(arguments: Sequence[str]) -> None:
    """`harness.py JOB` does a whole job; `harness.py JOB INDEX BUILDERS` one of its runs."""
    faulthandler.enable()
    sys.path.pop(0)  # the folder of this file, whose names are nobody's business
    sys.dont_write_bytecode = True
    with open(arguments[0], encoding="utf-8") as file:
        job = json.load(file)
    host = Host(arguments[0], job)
    try:
        if len(arguments) > 1:
            leave(job, int(arguments[1]), host.framework(), json.loads(arguments[2]))
        host.run()
        host.tell("done")
    except Unavailable as error:
        host.tell("unavailable", text=str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
