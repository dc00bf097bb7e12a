"""What must hold for a program that `--fix` has changed."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mplint.analysis import Report, analyze
from mplint.fixer import Outcome, fix
from mplint.interpreter.predict import output_dtypes
from tests.generator.judge import CODES, fault_of
from tests.generator.numerics import judging
from tests.generator.opinion import FILE, Opinion, asked
from tests.generator.process import Keras
from tests.generator.program import Program
from tests.generator.verdict import Disagreement, Tally


@dataclass(frozen=True)
class Rewritten:
    """What `--fix` makes of a program."""

    program: Program
    text: str
    left: Report
    """What is still found in it."""
    wrong: list[Disagreement]
    """What shows without running it."""


def rewritten(program: Program, *, unsafe: bool = False) -> Rewritten | None:
    """Ask mplint for it; None where nothing changes."""
    try:
        outcome = fix(*asked(program), unsafe=unsafe)
        text = program.source
        if FILE in outcome.files:  # as it is written, with its byte order mark
            text = outcome.project.source(FILE).encode(outcome.files[FILE]).decode()
        wrong = [f"a fix of {finding.code} was withdrawn: {why}" for finding, why in outcome.withdrawn]
        if text != program.source:
            wrong += _faults(program, outcome, text, unsafe)
    except Exception as error:  # noqa: BLE001  (a crash is to be found, not to end the search)
        return Rewritten(program, program.source, Report(()), [Disagreement.crash(program, error)])
    if text == program.source and not wrong:
        return None
    return Rewritten(program, text, outcome.left, [Disagreement(program, "rewrite", each) for each in wrong])


def _faults(program: Program, outcome: Outcome, text: str, unsafe: bool) -> list[str]:
    wrong = []
    again = fix(*asked(program, text), unsafe=unsafe)
    if again.files:
        wrong.append("a second fix changes it again")
    if [finding.code for finding in again.left.findings] != [finding.code for finding in outcome.left.findings]:
        wrong.append("what is left to find changes with a second look")
    if (before := _comments(program.source)) != (after := _comments(text)):
        wrong.append(f"comments: lost {list((before - after).elements())}, added {list((after - before).elements())}")
    if (lost := _lost_line(program, outcome, text)) is not None:
        wrong.append(f"changed beside the finding: {lost!r}")
    return wrong


def _comments(source: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source.lstrip("\ufeff"), newline=None).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def _lost_line(program: Program, outcome: Outcome, text: str) -> str | None:
    """A line outside the statements with findings (and imports) that the new text does not hold where it should.

    Nothing is said where more than one round was needed: later findings stand in a text that is gone.
    """
    project, targets, settings = asked(program)
    source = project.source(FILE)
    findings = analyze(project, targets, settings).findings
    if not set(findings).issuperset(outcome.applied):
        return None
    touched: set[int] = set()
    for finding in findings:
        for span in (finding.statement, *(edit.span for edit in (finding.fix.edits if finding.fix else ()))):
            first, last = source.position(span.start)[0], source.position(max(span.start, span.end - 1))[0]
            touched.update(range(first, last + 1))
    left = iter(text.splitlines(keepends=True))
    for row, line in enumerate(program.source.splitlines(keepends=True), 1):
        if row not in touched and "import" not in line and line not in left:
            return line
    return None


# -- what shows when it runs


def run(new: Rewritten, original: Mapping[str, Any], keras: Keras) -> list[Disagreement]:
    """Run and train the rewritten program; `original` is what Keras said of the other one."""
    keras.ask(new.program, new.text)
    keras.ask(new.program, fixed=new.text)
    healed, trained = keras.answer(), keras.answer()
    wrong = [("rewrite", each) for each in _unhealed(new, healed, original)]
    wrong += [("training", each) for each in _trained_otherwise(trained)]
    return [Disagreement(new.program, kind, text) for kind, text in wrong]


def _unhealed(new: Rewritten, real: Mapping[str, Any], original: Mapping[str, Any]) -> list[str]:
    """Ends of the rewritten program that are still half, though nothing is said of them any more."""
    if real["error"] is not None:
        return [f"the rewritten program raises {real['error']}"]
    wrong = []
    known = output_dtypes(new.text, new.program.generation)
    said = any(finding.code in codes for codes in CODES.values() for finding in new.left.findings)
    for name, outputs in real["models"].items():
        if isinstance(outputs, str):
            if not isinstance(original["models"].get(name), str):
                wrong.append(f"{name} of the rewritten program: {outputs}")
        elif None in known.get(name, [None]) or said or new.program.role(name) != "end":
            continue  # where mplint does not know, it says nothing
        elif any(fault_of(*output) for output in outputs):
            wrong.append(f"{name} of the rewritten program still gives {outputs}")
    return wrong


def _trained_otherwise(answer: Mapping[str, Any]) -> list[str]:
    """Models whose weights are not those of the original's."""
    if answer["error"] is not None:
        return [str(answer["error"])]
    return [f"{name}: {text}" for name, text in answer["models"].items()]


# -- its numbers


def of_numbers(
    program: Program, said: Opinion | Disagreement, numbers: Mapping[str, Any], keras: Keras, tally: Tally
) -> list[Disagreement]:
    """What is wrong about the numbers of a program, and of what the fixes make of it."""
    if isinstance(said, Disagreement):
        return []
    found = [Disagreement(program, "numbers", text) for text in judging.disagreements(program, said, numbers, tally)]
    if numbers["error"] is not None:
        return found
    for unsafe in (False, True):
        new = rewritten(program, unsafe=unsafe)
        if new is not None and not new.wrong:
            found += _run_numbers(new, numbers, keras, unsafe=unsafe)
        elif new is not None and unsafe:
            found += new.wrong
    return found


def _run_numbers(new: Rewritten, before: Mapping[str, Any], keras: Keras, *, unsafe: bool) -> list[Disagreement]:
    """Measure the numbers of the rewritten program; `before` are those of the other one."""
    keras.ask_of_numbers(new.program, new.text)
    left = {finding.code for finding in new.left.findings}
    subjects = {trial.subject for trial in new.program.trials}
    wrong = judging.unhealed(new.program, left, before, keras.answer(), same=not unsafe or subjects == {"casts"})
    return [Disagreement(new.program, "rewrite", text) for text in wrong]
