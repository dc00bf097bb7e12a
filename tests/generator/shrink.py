"""The smallest program that still shows a disagreement: parts left out, decisions made the simplest way."""

from __future__ import annotations

from collections.abc import Iterator

from tests.generator import rewriting
from tests.generator.choices import Record
from tests.generator.judge import disagreements
from tests.generator.opinion import opinion
from tests.generator.process import Keras
from tests.generator.program import Program, write
from tests.generator.verdict import Disagreement, Tally

ATTEMPTS = 300


def shrunk(found: Disagreement, keras: Keras) -> Disagreement:
    """Greedy: whatever smaller record still shows a disagreement of the same kind is taken, until none does."""
    best = found
    attempts = 0
    progress = True
    while progress and attempts < ATTEMPTS:
        progress = False
        for dropped in _parts(best.program.record):
            record = {key: value for key, value in best.program.record.items() if not key.startswith(dropped)}
            if attempts == ATTEMPTS or len(record) == len(best.program.record):
                continue
            attempts += 1
            again = shown(write(best.program.generation, best.program.seed, record), found, keras)
            if again is not None:
                best, progress = again, True
    return best


def _parts(record: Record) -> Iterator[str]:
    """The parts of a program, the largest first, then the single decisions."""
    folders = {key[: at + 1] for key in record for at, letter in enumerate(key) if letter == "/"}
    sizes = {folder: sum(key.startswith(folder) for key in record) for folder in folders}
    yield from sorted(folders, key=lambda folder: (-sizes[folder], folder))
    yield from sorted(record, reverse=True)


def shown(program: Program, like: Disagreement, keras: Keras) -> Disagreement | None:
    """A disagreement of that kind in the program, if there is one; about numbers the same one."""
    keras.ask(program)
    said, real = opinion(program), keras.answer()
    found = disagreements(program, said, real, Tally())
    if program.trials:
        keras.ask_of_numbers(program)
        found += rewriting.of_numbers(program, said, keras.answer(), keras, Tally())
    if like.kind not in {one.kind for one in found} and real["error"] is None:
        new = rewriting.rewritten(program)
        if new is not None:
            found = new.wrong or rewriting.run(new, real, keras)
    return next((one for one in found if one.kind == like.kind and (not program.trials or one.text == like.text)), None)
