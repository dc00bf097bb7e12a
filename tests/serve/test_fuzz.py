"""Whatever a forge sends, the server answers and goes on."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serve.inside import Reviewer, call, running

EXAMPLES = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

PAYLOAD: dict[str, Any] = {
    "action": "synchronize",
    "number": 7,
    "before": "0" * 40,
    "after": "1" * 40,
    "pull_request": {
        "number": 7,
        "state": "open",
        "draft": False,
        "head": {"sha": "1" * 40, "ref": "work", "repo": {"full_name": "fork/name", "fork": True}},
        "base": {"sha": "0" * 40, "ref": "main", "repo": {"full_name": "owner/name", "fork": False}},
    },
    "repository": {"id": 1, "full_name": "owner/name", "private": False, "owner": {"login": "owner"}},
    "installation": {"id": 42, "node_id": "x"},
    "sender": {"login": "person", "id": 3},
}

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
EVENTS = st.sampled_from(["pull_request", "ping", "push", "check_run", "pull_request_review"])


def paths(content: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*path, key)
            yield from paths(value, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A payload with some of its values taken away, or put in others' place."""
    content = copy.deepcopy(PAYLOAD)
    for path in draw(st.lists(st.sampled_from(list(paths(PAYLOAD))), min_size=1, max_size=4)):
        inner: Any = content
        for key in path[:-1]:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            if draw(st.booleans()):
                inner.pop(path[-1], None)
            else:
                inner[path[-1]] = draw(ANY)
    return content


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    with running(folder, Reviewer()) as (client, _):
        yield client
        assert client.get("/readyz").status_code == 200


@given(content=mutated(), event=EVENTS)
@EXAMPLES
def test_any_change_of_a_payload(client: httpx.Client, content: object, event: str) -> None:
    assert call(client, json.dumps(content).encode(), event).status_code in (200, 202, 400, 422)


@given(content=ANY, event=EVENTS)
@EXAMPLES
def test_any_json(client: httpx.Client, content: object, event: str) -> None:
    assert call(client, json.dumps(content).encode(), event).status_code in (200, 202, 400, 422)


@given(body=st.binary(max_size=300), event=EVENTS)
@EXAMPLES
def test_any_bytes(client: httpx.Client, body: bytes, event: str) -> None:
    assert call(client, body, event).status_code in (200, 400, 422)


@given(
    cut=st.integers(0, 600),
    other=st.binary(max_size=20),
    delivery=st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f"), max_size=120),
)
@EXAMPLES
def test_any_cut(client: httpx.Client, cut: int, other: bytes, delivery: str) -> None:
    text = json.dumps(PAYLOAD).encode()
    body = text[:cut] + other + text[cut + len(other) :]
    answer = call(client, body, delivery=delivery.encode("ascii", "ignore").decode())
    assert answer.status_code in (200, 202, 400, 422)
