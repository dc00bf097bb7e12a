"""GitLab: one kind of talk for comments on lines and on the whole."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import httpx

from mplint.review import markers
from mplint.review.comments import Comment
from mplint.review.forge import ForgeError, Note, PullRequest, ReadOnly, Said, Thread
from mplint.review.forges.http import Budget, Clock, Response, Transport
from mplint.review.payload import body
from mplint.review.summary import Status

API: Final = "https://gitlab.com/api/v4"
_BY_PAGE: Final = 100
_COMMAND: Final = re.compile(r"^\s*/\w", re.MULTILINE)
"""As in `/merge`. Blocks of code should hold none, but some versions see no block where the text has backticks."""


class GitLab:
    """One merge request."""

    batch = 20

    def __init__(
        self,
        client: httpx.AsyncClient,
        clock: Clock,
        token: str,
        repository: str,
        number: int,
        api: str = API,
        budget: Budget | None = None,
    ) -> None:
        self._transport = Transport(client, api, clock, budget)
        self._token = token
        self._project = f"{api.removesuffix('/')}/projects/{quote(repository, safe='')}"
        self._user = f"{api.removesuffix('/')}/user"
        self._request = f"{self._project}/merge_requests/{number}"
        self._viewer: int | None = None

    @classmethod
    @asynccontextmanager
    async def connected(
        cls,
        clock: Clock,
        token: str,
        repository: str,
        number: int,
        api: str = API,
        timeout: float = 60.0,
        budget: Budget | None = None,
    ) -> AsyncIterator[GitLab]:
        """The merge request, with a connection that is closed at the end."""
        async with httpx.AsyncClient(timeout=timeout, follow_redirects=False) as client:
            yield cls(client, clock, token, repository, number, api, budget)

    def body(self, comment: Comment) -> str:
        """The whole text of a comment; a suggestion says how many rows above the comment's it replaces.

        There is none of a text that GitLab may take for commands to itself.
        """
        made = comment.suggestion
        if made is None or _COMMAND.search(made.text):
            return body(replace(comment, suggestion=None))
        return body(comment, f"suggestion:-{made.last - made.first}+0")

    async def pull_request(self) -> PullRequest:
        """The change, as it is now."""
        request = await self._ask("GET", self._request)
        refs = request["diff_refs"]
        return PullRequest(refs["base_sha"], refs["head_sha"], refs["start_sha"], request["state"] == "opened")

    async def said(self) -> Said:
        """What was said before, by us."""
        if self._viewer is None:
            self._viewer = int((await self._ask("GET", self._user))["id"])
        threads: list[Thread] = []
        summary: Note | None = None
        async for talk in self._pages(f"{self._request}/discussions"):
            note = next(iter(talk["notes"]), None)
            if note is None or note.get("system") or note["author"]["id"] != self._viewer:
                continue
            text = str(note["body"])
            if text.startswith(markers.SUMMARY):
                summary = summary or Note(str(note["id"]), text)
            elif (mark := markers.fingerprint_in(text)) is not None:
                last = (note.get("position") or {}).get("new_line")
                identity = f"{talk['id']}/notes/{note['id']}"
                threads.append(Thread(identity, talk["id"], mark, text, bool(note.get("resolved")), last, last))
        return Said(tuple(threads), summary)

    async def post(self, pull: PullRequest, comments: Sequence[Comment]) -> tuple[Comment, ...]:
        """Post some comments, one by one: GitLab knows no batches."""
        refused: list[Comment] = []
        for comment in comments:
            content = {"body": self.body(comment), "position": _position(pull, comment)}
            try:
                await self._ask("POST", f"{self._request}/discussions", content, makes=True)
            except _Refused:
                refused.append(comment)
        return tuple(refused)

    async def edit(self, thread: Thread, body: str) -> None:
        """Give a comment another text."""
        await self._ask("PUT", f"{self._request}/discussions/{thread.note}", {"body": body})

    async def resolve(self, thread: Thread, *, resolved: bool) -> None:
        """Resolve a talk, or open it again."""
        await self._ask("PUT", f"{self._request}/discussions/{thread.thread}", {"resolved": resolved})

    async def summarize(self, before: Note | None, body: str) -> None:
        """Write the summary, or give the one there is another text."""
        if before is None:
            await self._ask("POST", f"{self._request}/notes", {"body": body}, makes=True)
        else:
            await self._ask("PUT", f"{self._request}/notes/{before.note}", {"body": body})

    async def mark(self, pull: PullRequest, status: Status) -> None:
        """Mark the commit with the state of its review."""
        state = "failed" if status.state == "failure" else "success"
        content = {"state": state, "name": "mplint", "description": status.description[:255]}
        await self._ask("POST", f"{self._project}/statuses/{pull.head}", content)

    async def _pages(self, url: str) -> AsyncIterator[dict[str, Any]]:
        page = "1"
        while page:
            response = await self._send("GET", f"{url}?per_page={_BY_PAGE}&page={page}", None, makes=False)
            for item in json.loads(response.body):
                yield item
            page = response.headers.get("x-next-page", "")

    async def _ask(self, method: str, url: str, content: object = None, *, makes: bool = False) -> Any:
        response = await self._send(method, url, content, makes=makes)
        return json.loads(response.body) if response.body else None

    async def _send(self, method: str, url: str, content: object, *, makes: bool) -> Response:
        headers: Mapping[str, str] = {"private-token": self._token, "content-type": "application/json"}
        sent = b"" if content is None else json.dumps(content).encode()
        response = await self._transport.send(method, url, headers, sent, repeatable=not makes)
        if response.status < 300:
            return response
        told = f"GitLab refuses it: {response.status} {response.body[:300].decode(errors='replace')}"
        if response.status in (401, 403, 404):
            raise ReadOnly(told)
        raise (_Refused if response.status in (400, 422) else ForgeError)(told)


class _Refused(ForgeError):
    """What was asked for cannot be done."""


def _position(pull: PullRequest, comment: Comment) -> dict[str, object]:
    """Where a comment stands; of a row that was there before, GitLab wants to know both numbers."""
    position: dict[str, object] = {
        "position_type": "text",
        "base_sha": pull.base,
        "start_sha": pull.target,
        "head_sha": pull.head,
        "old_path": comment.was or comment.path,
        "new_path": comment.path,
        "new_line": comment.last,
    }
    return position if comment.last_was is None else {**position, "old_line": comment.last_was}
