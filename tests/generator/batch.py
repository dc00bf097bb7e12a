"""Judging many programs: Keras works on the next while mplint thinks about this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final

from tests.generator import rewriting
from tests.generator.judge import disagreements, mends_ids
from tests.generator.opinion import opinion
from tests.generator.process import Keras
from tests.generator.program import write
from tests.generator.shrink import shrunk
from tests.generator.verdict import Disagreement, Tally

AHEAD: Final = 8
"""Questions that wait for Keras."""
LIFE: Final = 400
"""Programs after which a fresh process takes over: Keras never forgets everything."""
STEP: Final = 100
"""Programs between two lines that tell how far it is."""


def judge_batch(
    generation: str,
    seeds: Sequence[int],
    *,
    every: int,
    tally: Tally,
    keep: Path | None = None,
    shrinks: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Disagreement]:
    """Judge the programs of `seeds`, and what --fix makes of them, one of `every` by training it."""
    found: list[Disagreement] = []
    for first in range(0, len(seeds), LIFE):
        with closing(Keras(generation)) as keras:
            for wrong in _judged(generation, seeds[first : first + LIFE], every, tally, keras):
                for one in wrong:
                    progress(f"  {one.program.id} {one.kind}: {one.text}")
                    if keep is not None:
                        _save(keep, shrunk(one, keras) if shrinks else one)
                found += wrong
                if tally.programs % STEP == 0:
                    progress(f"Keras {generation}: {tally.programs} of {len(seeds)}, {len(found)} disagreements")
    return found


def _judged(
    generation: str, seeds: Sequence[int], every: int, tally: Tally, keras: Keras
) -> Iterator[list[Disagreement]]:
    """The disagreements of each program; no question is open while one is handed out."""
    coming = (write(generation, seed) for seed in seeds)
    while batch := list(islice(coming, AHEAD)):
        for program in batch:
            keras.ask(program)
            if program.trials:
                keras.ask_of_numbers(program)
        opinions = [opinion(program) for program in batch]
        answers = [(keras.answer(), keras.answer() if program.trials else None) for program in batch]
        for program, said, (real, numbers) in zip(batch, opinions, answers, strict=True):
            found = disagreements(program, said, real, tally)
            if numbers is None:
                runs = real["error"] is None
            else:
                found += rewriting.of_numbers(program, said, numbers, keras, tally)
                runs = numbers["error"] is None
            if runs and (new := rewriting.rewritten(program)) is not None:
                tally.rewritten += 1
                found += new.wrong
                if tally.rewritten % every == 0 and not mends_ids(said):
                    tally.trained += 1
                    found += rewriting.run(new, real, keras)
            yield found


def _save(folder: Path, one: Disagreement) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{one.program.id}-{one.kind}.py"
    path.write_bytes(one.program.source.encode() + f"\n# {one.kind}: {one.text}\n".encode())
