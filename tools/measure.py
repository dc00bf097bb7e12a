"""Run Keras programs for real and say what dtype each of their models puts out.

    measure.py GENERATION < jobs.json > results.jsonl

One process serves all jobs of one Keras generation ("2" runs on tf-keras, and `import keras` then means tf-keras too,
as it does where TensorFlow 2.15 or older is installed).  A job is an object:

    id       returned as it is
    source   the program's text; or, instead of it, `root` (a folder) and `run` ("train.py", or "-m package.module")
    path     more folders below `root` to import from ("src")
    argv     the program's arguments
    env      environment variables while it runs
    separate the package `keras` is Keras 3, beside tf-keras, as in an environment that has both
    inputs   for models that do not know their inputs: name of the model -> list of "float32[2, 8]"

A result line holds `id`, `error` (the type of the exception that ended the program, else null), its `reason`, and
`outputs`: for each model that the program leaves in its module, or that one of its builder functions returns, the
dtypes of its outputs in order (mappings by sorted key), from a real call on zeros. A model that cannot be called has
the type of the error. `made` is what mplint's own recorder says of all layers, models and variables that it makes.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import runpy
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

GENERATION = sys.argv[1]
os.environ.update(
    TF_CPP_MIN_LOG_LEVEL="3",
    CUDA_VISIBLE_DEVICES="",
    TF_ENABLE_ONEDNN_OPTS="0",
    TF_USE_LEGACY_KERAS="1" if GENERATION == "2" else "0",
)
RESULTS = os.dup(1)
os.dup2(2, 1)  # what the programs print goes to standard error

import tensorflow as tf  # noqa: E402

from mplint.verify.harness import Recorder  # noqa: E402

keras = tf.keras
RECORDER = Recorder(tf, keras)
BUILDERS = ("build", "make", "create", "get_model")


class KerasIsLegacy(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives `import keras[.x]` the modules of tf-keras, as an environment of Keras 2 does."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name.split(".")[0] == "keras" else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__dict__.update(importlib.import_module("tf_" + spec.name).__dict__)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run: the module was filled when it was made."""


LEGACY = KerasIsLegacy()
KERAS_3: dict[str, types.ModuleType] = {}
"""The modules of Keras 3 that programs which want both have imported in a process for Keras 2."""


@contextmanager
def keras_3_beside() -> Iterator[None]:
    """Let `import keras` give Keras 3, with no policy set, in the process for Keras 2."""
    legacy = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "keras"}
    sys.modules.update(KERAS_3)
    sys.meta_path.remove(LEGACY)
    importlib.import_module("keras").backend.clear_session()
    try:
        yield
    finally:
        sys.meta_path.insert(0, LEGACY)
        KERAS_3.update({name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "keras"})
        sys.modules.update(legacy)


def zeros(spec: str) -> tf.Tensor:
    """A tensor of zeros for "float32[2, 8]"."""
    name, _, shape = spec.rstrip("]").partition("[")
    return tf.zeros([int(size) for size in shape.split(",") if size.strip()], name)


def example(model: Any, given: list[str] | None) -> Any:
    """Arguments to call `model` on, or None where its inputs are not known."""
    if given:
        batch = [zeros(spec) for spec in given]
        return batch if len(batch) > 1 else batch[0]
    structure = getattr(model, "_inputs_struct", None)  # Keras 3
    if structure is None:
        structure = getattr(model, "_nested_inputs", None)  # Keras 2
    if structure is None:
        try:
            structure = model.inputs  # a Sequential
        except (AttributeError, ValueError):
            return None
    if structure is None or (isinstance(structure, list) and not structure):
        return None
    filled = tf.nest.map_structure(
        lambda spec: tf.zeros([2 if size is None else size for size in spec.shape], spec.dtype), structure
    )
    return filled[0] if isinstance(filled, (list, tuple)) and len(filled) == 1 else filled


def output_dtypes(model: Any, given: list[str] | None) -> list[str] | str | None:
    """Dtypes of what `model` returns; the type of the error where the call fails."""
    try:
        batch = example(model, given)
        if batch is None:
            return None
        result = model(batch)
    except Exception as error:  # noqa: BLE001  (what the model raises is the answer)
        return type(error).__name__
    return [tf.as_dtype(tensor.dtype).name for tensor in tf.nest.flatten(result)]


def returned_models(name: str, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The models that a builder gives when it is called with nothing."""
    parameters = inspect.signature(function).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(p.default is p.empty and p.kind not in variadic for p in parameters):
        return
    result = function()
    parts = result if isinstance(result, (list, tuple)) else [result]
    for index, part in enumerate(parts):
        if isinstance(part, keras.Model):
            yield (f"{name}()" if len(parts) == 1 else f"{name}()[{index}]"), part


def models_of(namespace: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    found = [(name, value) for name, value in namespace.items() if isinstance(value, keras.Model)]
    yield from found
    if not found:
        for name, value in list(namespace.items()):
            if inspect.isfunction(value) and name.startswith(BUILDERS):
                yield from returned_models(name, value)


class Shell:
    """What `get_ipython()` gives a notebook that is run as Python."""

    def getoutput(self, *_: str) -> list[str]:
        """What a command prints: nothing."""
        return []

    def run_line_magic(self, name: str, file: str, *options: str) -> None:
        """`%run`: the file's variables are those of the caller behind it, with `-i` also before it."""
        namespace = sys._getframe(1).f_globals
        path = next(path for path in (Path(file), Path(f"{file}.py")) if path.exists())
        given = {key: value for key, value in namespace.items() if not key.startswith("__")} if "-i" in options else {}
        left = runpy.run_path(str(path), given, run_name=path.stem if "-n" in options else "__main__")
        namespace.update({key: value for key, value in left.items() if not key.startswith("__")})


builtins.get_ipython = Shell  # type: ignore[attr-defined]


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Execute the program and return the names that it leaves behind."""
    if "source" in job:
        module = types.ModuleType("__main__")
        module.__file__ = "program.py"
        keeper, sys.modules["__main__"] = sys.modules["__main__"], module  # dataclasses and pickles look there
        try:
            exec(compile(job["source"], "program.py", "exec"), module.__dict__)
        finally:
            sys.modules["__main__"] = keeper
        return module.__dict__
    if job["run"].startswith("-m "):
        return runpy.run_module(job["run"].removeprefix("-m "), run_name="__main__", alter_sys=True)
    if ":" in job["run"]:  # a console script
        name, _, function = job["run"].partition(":")
        loaded = importlib.import_module(name)
        return {**vars(loaded), "model": getattr(loaded, function)()}
    return runpy.run_path(str(Path(job["root"]) / job["run"]), run_name="__main__")


@contextmanager
def surroundings(job: dict[str, Any]) -> Iterator[None]:
    """Working folder, import path, arguments and environment of one program, with a fresh Keras."""
    keras.backend.clear_session()
    keras.backend.set_floatx("float32")
    if GENERATION == "2":  # in Keras 3 a new session has no policy set, as when a program starts
        keras.mixed_precision.set_global_policy(None)
    keras.utils.set_random_seed(0)
    root = Path(job.get("root", ".")).resolve()
    before, folder, path, environment = set(sys.modules), Path.cwd(), list(sys.path), dict(os.environ)
    os.chdir(root)
    sys.argv = [str(root / job.get("run", "program.py")), *job.get("argv", ())]
    sys.path[:0] = [str(root / part) for part in (*job.get("path", ()), ".")]
    os.environ.update(job.get("env", {}))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        os.chdir(folder)
        for name in set(sys.modules) - before:  # a program's own modules must not leak into the next one
            if "root" in job and (getattr(sys.modules[name], "__file__", None) or "").startswith(str(root)):
                del sys.modules[name]


def measure(job: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": job["id"], "error": None, "reason": None, "outputs": {}}
    root = os.path.realpath(job.get("root", "."))

    def name_of(file: str) -> str | None:
        if "source" in job:
            return file if file == "program.py" else None
        path = os.path.realpath(file)
        return os.path.relpath(path, root) if path.startswith(root + os.sep) else None

    RECORDER.start(name_of)
    try:
        beside = keras_3_beside() if job.get("separate") and GENERATION == "2" else nullcontext()
        with beside, surroundings(job):
            inputs = job.get("inputs", {})
            for name, model in models_of(run(job)):
                dtypes = output_dtypes(model, inputs.get(name))
                if dtypes is not None:
                    row["outputs"][name] = dtypes
            RECORDER.exercise(lambda model: example(model, None))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the program raises is a result)
        row["error"], row["reason"] = type(error).__name__, " ".join(str(error).split())[:200]
    row["made"] = RECORDER.made()
    return row


def main() -> None:
    if GENERATION == "2":
        sys.meta_path.insert(0, LEGACY)
    sys.dont_write_bytecode = True
    RECORDER.install()
    for job in json.load(sys.stdin):
        os.write(RESULTS, (json.dumps(measure(job)) + "\n").encode())


if __name__ == "__main__":
    main()
