"""Starts tools/measure.py: programs go in, what real Keras makes of them comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mplint.verify.results import Made

GENERATIONS = ("2", "3")
PACKAGES = ("tensorflow", "keras", "tf-keras", "numpy")


def run_jobs(generation: str, jobs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What measure.py says of each job in this Keras generation, by the job's id.

    What the programs print and warn of is dropped; why one failed is told on standard error.
    """
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("measure.py")), generation],
        input=json.dumps(list(jobs)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"measure.py {generation} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        if reason := row.pop("reason"):
            print(f"[keras {generation}] {row['id']}: {row['error']}: {reason}", file=sys.stderr)
    return {row.pop("id"): row for row in rows}


def versions() -> dict[str, str]:
    """Of the packages that decide what is measured."""
    return {package: version(package) for package in PACKAGES}


def summary(row: Mapping[str, Any]) -> Any:
    """A result as the records hold it: the type of the error, or the outputs."""
    return row["error"] or row["outputs"]


def made(row: Mapping[str, Any]) -> list[str]:
    """What a program made, as the records hold it: file, call, class, policies, variables and outputs in one line.

    `model.py 9:8-9:43 Dense float16/float32 float32 float16`; several of a kind stand behind each other with a `|`,
    the parts of one output with a comma, and a `-` is nothing.
    """
    lines = []
    for thing in map(Made.read, row["made"]):
        first, column, last, end = thing.at
        seen = (map("/".join, thing.policies), thing.weights, map(",".join, thing.outputs))
        dtypes = " ".join("|".join(each) or "-" for each in seen)
        lines.append(f"{thing.file} {first}:{column}-{last}:{end} {thing.kind} {dtypes}")
    return lines


def read_made(line: str, root: Path) -> Made:
    """What a line of `made` says of the program whose files lie in `root`."""
    file, at, kind, *seen = line.rsplit(" ", 5)
    policies, weights, outputs = ([] if each == "-" else each.split("|") for each in seen)
    return Made(
        str(root / file),
        tuple(map(int, at.replace("-", ":").split(":"))),
        kind,
        tuple((compute, variable) for compute, _, variable in (policy.partition("/") for policy in policies)),
        tuple(weights),
        tuple(tuple(output.split(",")) for output in outputs),
    )


def dumps(record: Mapping[str, Any]) -> str:
    """A record as JSON with one program a line."""
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in record["programs"].items())
    head = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items() if key != "programs")
    return f'{{\n{head},\n  "programs": {{\n{lines}\n  }}\n}}\n'


def differences(recorded: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[str]:
    """Where two records disagree, one line a program."""
    return [
        f"{name}: recorded {recorded.get(name)}, now {fresh.get(name)}"
        for name in sorted({*recorded, *fresh})
        if recorded.get(name) != fresh.get(name)
    ]
