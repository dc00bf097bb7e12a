"""GitHub, and GitHub Enterprise: REST for comments, GraphQL for the talks that they begin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import gidgethub
import httpx
from gidgethub.abc import GitHubAPI

from mplint.review import markers
from mplint.review.comments import Comment
from mplint.review.forge import ForgeError, Note, PullRequest, ReadOnly, Said, Thread
from mplint.review.forges.http import Budget, Clock, Transport
from mplint.review.payload import body, placed
from mplint.review.summary import Status

API: Final = "https://api.github.com"
_BY_PAGE: Final = 100
_THREADS: Final = """\
query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  viewer { login }
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved comments(first: 1) { nodes { databaseId } } }
      }
    }
  }
}
"""
_RESOLVE: Final = (
    "mutation Resolve($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } } }"
)
_REOPEN: Final = (
    "mutation Reopen($thread: ID!) { unresolveReviewThread(input: {threadId: $thread}) { thread { isResolved } } }"
)
_MAKES_SOMETHING: Final = ("/reviews", "/comments")

_T = TypeVar("_T")


class Api(GitHubAPI):
    """gidgethub over our transport."""

    def __init__(self, transport: Transport, clock: Clock, token: str | None, api: str) -> None:
        super().__init__("mplint", oauth_token=token, base_url=api)
        self._transport, self._clock = transport, clock

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        repeatable = method != "POST" or not url.endswith(_MAKES_SOMETHING)
        response = await self._transport.send(method, url, headers, body, repeatable=repeatable)
        return response.status, response.headers, response.body

    async def sleep(self, seconds: float) -> None:
        """Let others go on for so long."""
        await self._clock.sleep(seconds)


class GitHub:
    """One pull request."""

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
        self._api = Api(Transport(client, api, clock, budget), clock, token, api)
        self._graphql = f"{api.removesuffix('/').removesuffix('/v3')}/graphql"
        self._repository, self._number = repository, number
        self._viewer: str | None = None

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
    ) -> AsyncIterator[GitHub]:
        """The pull request, with a connection that is closed at the end."""
        async with httpx.AsyncClient(timeout=timeout, follow_redirects=False) as client:
            yield cls(client, clock, token, repository, number, api, budget)

    def body(self, comment: Comment) -> str:
        """The whole text of a comment; GitHub takes the rows of the suggestion from the comment's place."""
        return body(comment)

    async def pull_request(self) -> PullRequest:
        """The change, as it is now."""
        pull = await told(self._api.getitem(self._at("pulls/{number}"), self._names()))
        target, head = pull["base"]["sha"], pull["head"]["sha"]
        compared = await told(
            self._api.getitem(
                self._at("compare/{target}...{head}?per_page=1"), {**self._names(), "target": target, "head": head}
            )
        )
        return PullRequest(compared["merge_base_commit"]["sha"], head, target, pull["state"] == "open")

    async def said(self) -> Said:
        """What was said before, by us."""
        threads = await self._threads()
        ours = [note async for note in self._notes("pulls/{number}/comments") if not note.get("in_reply_to_id")]
        found: list[Thread] = []
        for note in ours:
            mark = markers.fingerprint_in(note["body"])
            if mark is None:
                continue
            thread, is_resolved = threads.get(note["id"], (None, False))
            last = note.get("line")
            first = note.get("start_line") or last
            found.append(Thread(str(note["id"]), thread, mark, _text(note), is_resolved, first, last))
        summary: Note | None = None
        async for note in self._notes("issues/{number}/comments"):
            if note["body"].startswith(markers.SUMMARY):
                summary = Note(str(note["id"]), _text(note))
                break
        return Said(tuple(found), summary)

    async def post(self, pull: PullRequest, comments: Sequence[Comment]) -> tuple[Comment, ...]:
        """Post some comments as one review; where GitHub refuses it, it is found out which comment it is."""
        many = "1 comment" if len(comments) == 1 else f"{len(comments)} comments"
        content = {
            "commit_id": pull.head,
            "event": "COMMENT",
            "body": f"mplint has {many} on this change.",
            "comments": [{**placed(comment), "body": self.body(comment)} for comment in comments],
        }
        try:
            await told(self._api.post(self._at("pulls/{number}/reviews"), self._names(), data=content))
        except _Refused:
            if len(comments) == 1:
                return tuple(comments)
            half = len(comments) // 2
            return (*await self.post(pull, comments[:half]), *await self.post(pull, comments[half:]))
        return ()

    async def edit(self, thread: Thread, body: str) -> None:
        """Give a comment another text."""
        names = {**self._names(), "note": thread.note}
        await told(self._api.patch(self._at("pulls/comments/{note}"), names, data={"body": body}))

    async def resolve(self, thread: Thread, *, resolved: bool) -> None:
        """Resolve a talk, or open it again."""
        await told(self._api.graphql(_RESOLVE if resolved else _REOPEN, endpoint=self._graphql, thread=thread.thread))

    async def summarize(self, before: Note | None, body: str) -> None:
        """Write the summary, or give the one there is another text."""
        if before is None:
            await told(self._api.post(self._at("issues/{number}/comments"), self._names(), data={"body": body}))
        else:
            names = {**self._names(), "note": before.note}
            await told(self._api.patch(self._at("issues/comments/{note}"), names, data={"body": body}))

    async def mark(self, pull: PullRequest, status: Status) -> None:
        """Mark the commit with the state of its review."""
        content = {"state": status.state, "description": status.description[:140], "context": "mplint"}
        await told(self._api.post(self._at("statuses/{head}"), {**self._names(), "head": pull.head}, data=content))

    async def _threads(self) -> dict[int, tuple[str, bool]]:
        """Each talk, and whether it is resolved, by the number of its first comment."""
        owner, _, name = self._repository.partition("/")
        found: dict[int, tuple[str, bool]] = {}
        after: str | None = None
        while True:
            try:
                answer = await told(
                    self._api.graphql(
                        _THREADS, endpoint=self._graphql, owner=owner, name=name, number=self._number, after=after
                    )
                )
            except ReadOnly:  # a token that may not even ask: comments are known all the same
                self._viewer = await self._login()
                return found
            self._viewer = answer["viewer"]["login"]
            page = answer["repository"]["pullRequest"]["reviewThreads"]
            for node in page["nodes"]:
                for first in node["comments"]["nodes"]:
                    found[first["databaseId"]] = (node["id"], node["isResolved"])
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]

    async def _notes(self, what: str) -> AsyncIterator[dict[str, Any]]:
        """The comments of one kind that are ours."""
        notes = self._api.getiter(self._at(f"{what}?per_page={_BY_PAGE}"), self._names())
        while (note := await told(_next(notes))) is not None:
            if note.get("body") and self._is_ours(note.get("user") or {}):
                yield note

    async def _login(self) -> str | None:
        """Who the token is of; None where it is an app's, which has no user."""
        try:
            return str((await told(self._api.getitem("/user")))["login"])
        except ReadOnly:
            return None

    def _is_ours(self, author: Mapping[str, Any]) -> bool:
        """An app's name has an ending here, and in GraphQL it may have none; a person of that name is another one."""
        if self._viewer is None:
            return author.get("type") == "Bot"
        return author.get("login") in (self._viewer, f"{self._viewer}[bot]")

    def _at(self, place: str) -> str:
        return f"/repos/{{+repository}}/{place}"

    def _names(self) -> dict[str, str]:
        return {"repository": self._repository, "number": str(self._number)}


class _Refused(ForgeError):
    """What was asked for cannot be done."""


async def told(call: Coroutine[Any, Any, _T]) -> _T:
    """The result of a call, with gidgethub's exceptions as ours; none of them holds the token."""
    try:
        return await call
    except (gidgethub.InvalidField, gidgethub.ValidationError, gidgethub.BadRequestUnknownError) as error:
        raise _Refused(f"GitHub refuses it: {error}") from None
    except gidgethub.HTTPException as error:
        kind = ReadOnly if error.status_code in (401, 403, 404) else ForgeError
        raise kind(f"GitHub refuses it: {error.status_code} {error}") from None
    except gidgethub.GraphQLException as error:
        raise (ReadOnly if _is_forbidden(error) else ForgeError)(f"GitHub refuses it: {error}") from None


def _is_forbidden(error: gidgethub.GraphQLException) -> bool:
    if isinstance(error, gidgethub.BadGraphQLRequest):
        return True
    told = error.response.get("errors", ()) if isinstance(error.response, dict) else ()
    return any(one.get("type") in ("FORBIDDEN", "NOT_FOUND") for one in told)


async def _next(notes: AsyncIterator[dict[str, Any]]) -> dict[str, Any] | None:
    return await anext(notes, None)


def _text(note: Mapping[str, Any]) -> str:
    return str(note["body"])
