"""Version ranges."""

from __future__ import annotations

import pytest

from mplint.project.versions import Range, parse_range

BELOW, FROM, OPEN = "below", "from", "open"


def side(found: Range, boundary: tuple[int, ...] = (2, 16)) -> str:
    assert not (found.is_below(boundary) and found.is_from(boundary))
    return BELOW if found.is_below(boundary) else FROM if found.is_from(boundary) else OPEN


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("", OPEN),
        ("<2.16", BELOW),
        ("<2.16.0", BELOW),
        ("<=2.16", OPEN),
        ("<=2.15.1", BELOW),
        ("<3", OPEN),
        (">=2.16", FROM),
        (">=2.16.0rc1", FROM),
        (">2.16", FROM),
        (">2.15", OPEN),
        (">=2", OPEN),
        ("==2.15.1", BELOW),
        ("==2.15.*", BELOW),
        ("==2.16.*", FROM),
        ("==2.*", OPEN),
        ("==2.18", FROM),
        ("===2.15", BELOW),
        ("~=2.15.0", BELOW),
        ("~=2.15", OPEN),
        ("~=2.16", FROM),
        (">=2.10,<2.16", BELOW),
        (">=2.10, <2.20", OPEN),
        (">=2.10,!=2.11", OPEN),
        ("<2.20,<2.16", BELOW),
        ("^2.15", OPEN),
        ("^2.15.0", OPEN),
        ("~2.15", BELOW),
        ("~2.15.3", BELOW),
        ("^2.16", FROM),
        ("^0.15", BELOW),
        ("2.15.0", BELOW),
        ("2.18.*", FROM),
        ("=2.15", BELOW),
        ("=2.16.1", FROM),
        ("2.14|2.15", BELOW),
        ("2.15|2.16", OPEN),
        ("2.16 || >=2.18", FROM),
        ("(>=2.16)", FROM),
        ("v2.15", BELOW),
        ("*", OPEN),
        ("latest", OPEN),
        ("==2.15.0+cuda118", BELOW),
        ("==20240101", FROM),
    ],
)
def test_ranges(specifier: str, expected: str) -> None:
    assert side(parse_range(specifier)) == expected


def test_a_bare_version_means_what_the_file_format_says() -> None:
    assert side(parse_range("2", bare="=")) == OPEN
    assert side(parse_range("2.15", bare="=")) == BELOW


def test_both_and_either() -> None:
    low, high, exact = parse_range("<2.16"), parse_range(">=2.10"), parse_range("==2.15")
    assert low & high == Range((2, 10), (2, 16))
    assert low & Range() == low
    assert exact & low == exact
    assert parse_range("<=2.16") & parse_range("<2.16.0") == parse_range("<2.16.0")
    assert side(exact | parse_range("==2.13")) == BELOW
    assert side(exact | parse_range("==2.18")) == OPEN
    assert side(parse_range("<=2.16") | parse_range("<2.16")) == OPEN
    assert low | Range() == Range()
