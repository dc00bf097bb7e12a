"""Build every model of keras.applications for real and compare its output dtype with what mplint predicts.

    python -m tools.judge_applications                    all of them, in both generations (about an hour of one core)
    python -m tools.judge_applications --only MobileNet   those whose names begin so
    python -m tools.judge_applications --sample           two small ones
    python -m tools.judge_applications --write            also writes mplint/keras_api/data/applications.json
    python -m tools.judge_applications --parts DIR        keeps what was measured there, and takes it up again

Each row is a program of one line, run by Keras and read by mplint: an application under a policy, with its top, with
`classifier_activation=None`, or without its top.  The status is 1 when one of them differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mplint import keras_api
from mplint.interpreter.predict import output_dtypes
from mplint.keras_api.table import DATA, section
from tools.keras_table.write import write
from tools.real_keras import GENERATIONS

CHILD: Final = Path(__file__).with_name("real_applications.py")
VARIANTS: Final = {
    "top": "",
    "logits": ", classifier_activation=None",
    "headless": ", include_top=False",
    "average": ', include_top=False, pooling="avg"',
    "maximum": ', include_top=False, pooling="max"',
    "bare": ", include_preprocessing=False",
}
SIZED: Final = "NASNet"
"""Built for images of any size, these take none in tf-keras: their layers do not fit each other."""
POLICIES: Final = {
    "mixed_float16": tuple(VARIANTS),
    "mixed_bfloat16": ("top", "logits", "headless"),
    "float32": ("top",),
    "float16": ("top",),
}


@dataclass(frozen=True)
class Case:
    """One program: an application of one generation, under a policy, in one of the variants."""

    generation: str
    application: str
    policy: str
    variant: str

    @property
    def id(self) -> str:
        """Its name in messages and records."""
        return f"{self.generation}/{self.application}/{self.policy}/{self.variant}"

    @property
    def source(self) -> str:
        """The program's text."""
        sized = ", input_shape=(224, 224, 3)" if self.application.startswith(SIZED) else ""
        return (
            "import tensorflow as tf\n"
            f'tf.keras.mixed_precision.set_global_policy("{self.policy}")\n'
            f"model = tf.keras.applications.{self.application}(weights=None{VARIANTS[self.variant]}{sized})\n"
        )


def cases(only: Sequence[str] = ()) -> Iterator[Case]:
    """All programs, those of one module of keras.applications together."""
    for generation in GENERATIONS:
        for names in _families().values():
            for name in names:
                parameters = keras_api.parameters(f"keras.applications.{name}", generation)
                if parameters is None or (only and not name.startswith(tuple(only))):
                    continue
                takes = {parameter.name for parameter in parameters}
                for policy, variants in POLICIES.items():
                    for variant in variants:
                        if variant != "bare" or "include_preprocessing" in takes:
                            yield Case(generation, name, policy, variant)


def sample() -> Iterator[Case]:
    """Two that are quickly built, one whose head is a Dense and one that has layers for its input and for its end."""
    for case in cases(("MobileNetV2", "MobileNetV3Small")):
        if case.variant in ("top", "logits", "headless") and case.policy.startswith("mixed_"):
            yield case


def _families() -> dict[str, list[str]]:
    """The applications by the module that defines them."""
    found: dict[str, list[str]] = {}
    for module, names in section("sources", "sources").items():
        if module.startswith("keras.src.applications."):
            models = [name for name, path in names.items() if keras_api.kind(path) is keras_api.Kind.APPLICATION]
            found[module.rpartition(".")[2]] = sorted(models)
    return found


def measured(wanted: Sequence[Case], processes: int, parts: Path) -> dict[str, dict[str, Any]]:
    """What the real Keras makes of each program, by its id; one child at a time for each module and generation.

    What they find is kept in the folder `parts`, and what is there already is not measured again.
    """
    family = {name: module for module, names in _families().items() for name in names}
    batches: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in wanted:
        batches[case.generation, family[case.application]].append(case)

    def run(key: tuple[str, str]) -> dict[str, dict[str, Any]]:
        kept = parts / f"{'-'.join(key)}.jsonl"
        kept.touch()
        failed: dict[str, dict[str, Any]] = {}
        rows = _rows(kept)
        while missing := [case for case in batches[key] if case.id not in rows]:
            with kept.open("a", encoding="utf-8") as results:
                subprocess.run(
                    [sys.executable, str(CHILD), key[0]],
                    input=json.dumps([{"id": case.id, "source": case.source} for case in missing]),
                    stdout=results,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    check=False,
                )
            found = _rows(kept)
            if found.keys() <= rows.keys():  # it died of the first of them
                failed[missing[0].id] = {"error": "ProcessEnded", "reason": "its process ended"}
            rows = {**found, **failed}
        return rows

    parts.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(processes) as pool:
        return {name: row for rows in pool.map(run, batches) for name, row in rows.items()}


def _rows(kept: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {row["id"]: row for row in rows}


def record(wanted: Sequence[Case], rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The table: path -> generation -> the head, and what every layer gives under each policy."""
    heads: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    outputs: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for case in wanted:
        row, key = rows[case.id], (f"keras.applications.{case.application}", case.generation)
        if row["error"] is not None:
            raise SystemExit(f"{case.id}: {row['error']}: {row['reason']}")
        if case.variant in ("top", "logits", "bare"):
            cls, name = row["last"]
            heads[key].add((keras_api.canonical(f"keras.layers.{cls}"), name))
        outputs[key][case.policy].update((*row["symbolic"], *row["traced"], *row["computed"]))
    table: dict[str, dict[str, Any]] = defaultdict(dict)
    for (path, generation), by_policy in outputs.items():
        (head,) = heads[path, generation]
        # one dtype for all that is inside: where this fails the interpreter has to learn of what is different
        dtypes = {policy: only for policy, (only,) in by_policy.items()}
        table[path][generation] = {"head": head, "outputs": dtypes}
    return table


def disagreements(wanted: Sequence[Case], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where mplint's prediction, or the table's form, is not what Keras does."""
    wrong: list[str] = []
    for case in wanted:
        row = rows[case.id]
        if row["error"] is not None:
            wrong.append(f"{case.id}: was not built: {row['error']}: {row['reason']}")
            continue
        predicted = output_dtypes(case.source, case.generation).get("model")
        if predicted != row["traced"]:
            wrong.append(f"{case.id}: predicted {predicted}, is {row['traced']}")
        if row["inputs"] != ["float32"] or row["policies"] != [case.policy]:
            wrong.append(f"{case.id}: has inputs of {row['inputs']} and layers of {row['policies']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="those whose names begin so")
    parser.add_argument("--sample", action="store_true", help="two small ones")
    parser.add_argument("--generation", choices=GENERATIONS, help="one of the generations only")
    parser.add_argument("--processes", type=int, default=1, help="how many of them at once (3 GB each)")
    parser.add_argument("--parts", type=Path, metavar="DIR", help="keep what is measured there, and take it up again")
    parser.add_argument("--write", action="store_true", help="write the table")
    arguments = parser.parse_args()
    chosen = sample() if arguments.sample else cases(arguments.only)
    wanted = [case for case in chosen if arguments.generation in (None, case.generation)]
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(wanted, arguments.processes, arguments.parts or Path(folder))
    if arguments.write:
        write(DATA, {"applications.json": {"applications": record(wanted, rows)}})
    wrong = disagreements(wanted, rows)
    for generation in GENERATIONS:
        those = [case for case in wanted if case.generation == generation]
        names = {case.application for case in those}
        print(f"keras {generation}: {len(those)} programs on {len(names)} applications")
    print(*wrong, f"{len(wanted) - len(wrong)} as predicted, {len(wrong)} not", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
