"""Which comments have silenced something."""

from __future__ import annotations

import pytest

from mplint.source.silence import Silence
from mplint.source.suppressions import Suppressions

KNOWN = ("MP001", "MP002", "MP101", "MP102", "MP201")


def unused(
    text: str, findings: tuple[tuple[str, int], ...] = (), selected: tuple[str, ...] = KNOWN
) -> list[tuple[str, ...]]:
    silence = Silence(Suppressions(text))
    for code, row in findings:
        silence.silences(code, row, row)
    return [found.codes for found in silence.unused("MP002", selected, KNOWN)]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# noqa: MP101", ("MP101",)),
        ("# noqa: mp101", ("MP101",)),
        ("# noqa: F401,MP101,MP102", ("MP101", "MP102")),
        ("# noqa: MP1", ("MP1",)),
        ("# noqa: MP101,MP102,MP101", ("MP101", "MP102")),
        ("# noqa: MP999", ("MP999",)),
        ("# noqa: MP001", ("MP001",)),
        ("# mplint: ignore[MP101]", ("MP101",)),
        ("# mplint: ignore[E501]", ("E501",)),
        ("# mplint: ignore-file[MP101]", ("MP101",)),
        ("# mplint: ignore", ()),
    ],
)
def test_what_silences_nothing(comment: str, codes: tuple[str, ...]) -> None:
    assert unused(f"x = 1  {comment}\n") == [codes]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: E501",
        "# noqa: MPX1",
        "# noqa: EMP101",
        "# mplint: ignore-file",
        "# noqa: MP101, MP002",  # the report itself is silenced
        "# mplint: ignore[MP0]",
        "# noqa: MP101  # mplint: ignore[MP002]",
        "# noqa # noqa: MP101",
    ],
)
def test_what_is_left_alone(comment: str) -> None:
    assert unused(f"x = 1  {comment}\n") == []


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# noqa: MP101", []),
        ("# noqa: MP1", []),
        ("# noqa: MP101, MP102", [("MP102",)]),
        ("# mplint: ignore", []),
        ("# mplint: ignore-file[MP101, MP201]", [("MP201",)]),
        ("# noqa: MP102  # mplint: ignore[MP1]", [("MP102",)]),
        ("# noqa: MP101  # mplint: ignore[MP1]", []),
    ],
)
def test_what_silences_a_finding_of_its_row(comment: str, codes: list[tuple[str, ...]]) -> None:
    assert unused(f"x = 1  {comment}\n", (("MP101", 1),)) == codes
    assert unused(f"y = 2\nx = 1  {comment}\n", (("MP101", 1),)) != codes or "file" in comment


@pytest.mark.parametrize("comment", ["# noqa: MP101", "# noqa: MP1", "# mplint: ignore", "# mplint: ignore[MP101]"])
def test_a_rule_that_did_not_run_may_have_found_something(comment: str) -> None:
    assert unused(f"x = 1  {comment}\n", selected=("MP001", "MP002", "MP102")) == []


def test_codes_that_are_no_rules_are_named() -> None:
    (found,) = Silence(Suppressions("x = 1  # noqa: MP101, MP9\n")).unused("MP002", KNOWN, KNOWN)
    assert (found.codes, found.unknown) == (("MP101", "MP9"), ("MP9",))


def test_a_name_is_no_code() -> None:
    (found,) = Silence(Suppressions("x = 1  # mplint: ignore[low-precision-output]\n")).unused("MP002", KNOWN, KNOWN)
    assert found.codes == found.unknown == ("LOW-PRECISION-OUTPUT",)
