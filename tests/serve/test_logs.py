"""What is logged: one line an event, and no secret in it."""

from __future__ import annotations

import base64
import json
import logging

import pytest

from mplint.serve.logs import Line, Secrets

SECRET = 'a"b\\c é-secret'
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"


def record(message: str, error: BaseException | None = None, **fields: object) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("x", logging.WARNING, "x", 1, "%s", (message,), info)
    made.fields = fields
    return made


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    "secret",
    [
        SECRET,
        base64.b64encode(f"x-access-token:{SECRET}".encode()).decode(),
        "ghs_0123456789abcdefABCDEF",
        "github_pat_0123456789abcdefABCDEF_x",
        "glpat-0123456789abcdefABCD",
        "Authorization: Basic eHh4eHh4eHh4eHh4eHh4",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl",
        KEY,
    ],
)
def test_no_secret_stays(secret: str, as_json: bool) -> None:
    form = Line(Secrets(SECRET, ""), as_json=as_json)
    try:
        raise ValueError(f"it was {secret}!")
    except ValueError as error:
        line = form.format(record(f"so {secret} it is", error, value=secret, deep={"in": [secret]}))
    assert "\n" not in line
    for part in (secret, json.dumps(secret)[1:-1], secret.rpartition(" ")[2]):
        assert part not in line
    assert "***" in line


def test_lines_for_programs_and_for_people() -> None:
    told = record("delivery", id="a b", count=3, other="x\ny=1")
    line = json.loads(Line(Secrets(), as_json=True).format(told))
    assert {key: line[key] for key in ("level", "event", "id", "count", "other")} == {
        "level": "warning",
        "event": "delivery",
        "id": "a b",
        "count": 3,
        "other": "x\ny=1",
    }
    text = Line(Secrets(), as_json=False).format(told)
    assert text.partition(" ")[2] == r'warning delivery id="a b" count=3 other="x\ny=1"'


def test_secrets_are_known_as_long_as_they_open_anything() -> None:
    secrets = Secrets("for-ever")
    for number in range(100):
        secrets.add(f"spent-{number}", until=1.0)
    secrets.add("fresh", until=2.0**40)
    assert secrets.masked("for-ever spent-7 fresh") == "*** spent-7 ***"


def test_a_word_for_people_drives_no_terminal() -> None:
    line = Line(Secrets(), as_json=False).format(record("delivery", path="/\x1b[2J"))
    assert "\x1b" not in line


def test_a_long_text_that_looks_like_the_beginnings_of_tokens_is_looked_through_once() -> None:
    text = "eyJ-" * 100_000  # for hours, if each beginning were followed to the end
    assert Secrets().masked(text) == text
