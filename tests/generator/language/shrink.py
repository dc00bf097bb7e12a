"""The smallest program that still shows a wrong claim: statements left out, blocks taken apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.generator.language.judge import judge

ATTEMPTS = 400


def shrunk(source: str) -> str:
    """Greedy: the first smaller program that still shows one is taken, until none is left."""
    best = ast.unparse(ast.parse(source)) + "\n"
    if not _shows(best):
        return source
    attempts = 0
    progress = True
    while progress and attempts < ATTEMPTS:
        progress = False
        for smaller in _smaller(best):
            attempts += 1
            if attempts > ATTEMPTS:
                break
            if _shows(smaller):
                best, progress = smaller, True
                break
    return best


def _shows(source: str) -> bool:
    try:
        return bool(judge(source).wrong)
    except Exception:  # noqa: BLE001  (a program that the generator would not write)
        return False


def _smaller(source: str) -> Iterator[str]:
    bodies = len(_bodies(ast.parse(source)))
    for number in range(bodies):
        length = len(_bodies(ast.parse(source))[number])
        for width in (8, 4, 2, 1):
            for start in range(length - width, -1, -width):
                yield from _changed(source, number, start, width, opened=False)
        for start in range(length):
            yield from _changed(source, number, start, 1, opened=True)


def _changed(source: str, number: int, start: int, width: int, *, opened: bool) -> Iterator[str]:
    """Without some statements, or with the statements of a block in its place."""
    tree = ast.parse(source)
    body = _bodies(tree)[number]
    inner = getattr(body[start], "body", None) if opened else []
    if opened and not isinstance(inner, list):
        return
    if not opened and isinstance(body[start], ast.Pass) and len(body) == 1:
        return
    body[start : start + width] = inner or ([ast.Pass()] if len(body) == width else [])
    try:
        yield ast.unparse(tree) + "\n"
    except (ValueError, AttributeError):
        return


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            held = getattr(node, name, None)
            if isinstance(held, list) and held:
                found.append(held)
    return found
