"""GitHub as a server on loopback, over a real git repository, as strict about lines and suggestions as the real one.

It is written from GitHub's documentation, by nobody's code but its own: diffs are read here anew.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.review.repositories import Repository

_BOT = "github-actions[bot]"
_LARGEST = 65536
_MOST_FILES = 3000

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Fault:
    """What goes wrong once with a request whose method and path match.

    `kind` is a status; `cut` or `half` (half an answer), `drop` (none) or `hang`. With `late` it is obeyed first.
    """

    method: str
    path: str
    kind: int | str
    headers: dict[str, str] = field(default_factory=dict)
    body: object = None
    late: bool = False


@dataclass
class Comment:
    id: int
    path: str
    body: str
    commit: str
    original: tuple[int, int]
    at: tuple[int, int] | None
    login: str
    is_resolved: bool = False
    replies: list[str] = field(default_factory=list)

    @property
    def code_of(self) -> str:
        """What it is about."""
        return self.body.split(":")[1]


class FakeGitHub:
    """One repository `owner/name`, one pull request, number 7, from `work` to `main`."""

    def __init__(self, repository: Repository, *, login: str = _BOT, may_write: bool = True, page: int = 100) -> None:
        self.repository, self.login, self.may_write, self.page = repository, login, may_write, page
        self.comments: list[Comment] = []
        self.notes: list[dict[str, Any]] = []
        self.reviews: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str]] = []
        self.edits = 0
        self.state = "open"
        self.tokens = {"s3cret"}
        self.allows_graphql = True
        self.may_resolve = True
        """For which GitHub asks for the permission to write contents."""
        self._next = 1000
        self._head = self.head
        self.url = ""

    # What people do

    @property
    def head(self) -> str:
        return self.repository.git("rev-parse", "work")

    @property
    def base(self) -> str:
        return self.repository.git("merge-base", "main", "work")

    def apply(self, comment: Comment, *others: Comment) -> str:
        """Commit the suggestions of some comments, as the button does; the commit."""
        self._follow()
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for one in (comment, *others):
            assert self.state == "open", "suggestions cannot be applied while the pull request is closed"
            assert one.at is not None, "outdated suggestions cannot be applied"
            changes.setdefault(one.path, []).append((*one.at, suggestion_in(one.body)))
        files: dict[str, str | bytes | None] = {}
        for path, made in changes.items():
            text = self.repository.file("work", path).decode()
            lines = re.findall(r"[^\n]*\n|[^\n]+", text)
            rows = [row for first, last, _ in made for row in range(first, last + 1)]
            assert len(rows) == len(set(rows)), "only one suggestion per line can be applied in a batch"
            for first, last, new in sorted(made, reverse=True):
                old = "".join(lines[first - 1 : last])
                assert new.rstrip("\n") != old.rstrip("\n"), "the suggestion changes nothing"
                assert ("\r\n" in old) == ("\r\n" in new) or not new, "the line ends are others"
                if not old.endswith("\n"):
                    new = new.removesuffix("\n")
                lines[first - 1 : last] = [new]
            files[path] = "".join(lines).encode()
        self.repository.git("checkout", "-q", "work")
        return self.repository.commit(files)

    def thread_of(self, code: str) -> Comment:
        [found] = [comment for comment in self.comments if f"mplint:{code}:" in comment.body]
        return found

    @property
    def open(self) -> list[Comment]:
        return [comment for comment in self.comments if not comment.is_resolved]

    # The server

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The address of its API, in the form of GitHub Enterprise."""
        app = web.Application(middlewares=[self._checked], client_max_size=1 << 26)
        app.add_routes(self.routes())
        self._closed = asyncio.Event()
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{port}/api/v3"
        try:
            yield self.url
        finally:
            self._closed.set()
            await runner.cleanup()

    def routes(self) -> list[web.RouteDef]:
        """What it serves."""
        at = "/api/v3/repos/owner/name"
        return [
            web.get("/api/v3/user", self._user),
            web.get(f"{at}/pulls/7", self._pull),
            web.get(f"{at}/compare/{{refs:.*}}", self._compare),
            web.get(f"{at}/pulls/7/comments", self._list_comments),
            web.post(f"{at}/pulls/7/reviews", self._review),
            web.patch(f"{at}/pulls/comments/{{id}}", self._edit_comment),
            web.get(f"{at}/issues/7/comments", self._list_notes),
            web.post(f"{at}/issues/7/comments", self._note),
            web.patch(f"{at}/issues/comments/{{id}}", self._edit_note),
            web.post(f"{at}/statuses/{{sha}}", self._status),
            web.post("/api/graphql", self._graphql),
        ]

    def admits(self, request: web.Request) -> bool:
        """Whether a request comes with a token that opens what it asks for."""
        return request.headers.get("authorization", "").removeprefix("token ") in self.tokens

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.requests.append((request.method, request.path_qs))
        if not self.admits(request):
            return web.json_response({"message": "Bad credentials"}, status=401)
        is_query = request.path.endswith("/graphql")
        if not self.may_write and request.method != "GET" and not is_query:
            return web.json_response({"message": "Resource not accessible by integration"}, status=403)
        fault = next((one for one in self.faults if _matches(one, request)), None)
        if fault is None:
            return await handler(request)
        self.faults.remove(fault)
        answer = await handler(request) if fault.late else None
        if fault.kind == "hang":
            await self._closed.wait()
        return await _broken(request, fault, answer)

    async def _user(self, request: web.Request) -> web.Response:
        if self.login.endswith("[bot]"):
            return web.json_response({"message": "Resource not accessible by integration"}, status=403)
        return web.json_response(_user(self.login))

    async def _pull(self, request: web.Request) -> web.Response:
        target = self.repository.git("rev-parse", "main")
        return web.json_response(
            {"number": 7, "state": self.state, "base": {"sha": target}, "head": {"sha": self.head}}
        )

    async def _compare(self, request: web.Request) -> web.Response:
        first, second = request.match_info["refs"].split("...")
        return web.json_response({"merge_base_commit": {"sha": self.repository.git("merge-base", first, second)}})

    async def _list_comments(self, request: web.Request) -> web.Response:
        self._follow()
        items: list[dict[str, Any]] = []
        for one in self.comments:
            first, last = one.at or (None, None)
            items.append(
                {
                    "id": one.id,
                    "path": one.path,
                    "body": one.body,
                    "line": last,
                    "start_line": first if first != last else None,
                    "user": _user(one.login),
                }
            )
            items += [
                {"id": one.id + 500, "in_reply_to_id": one.id, "body": text, "user": _user("person")}
                for text in one.replies
            ]
        return self._paged(request, items)

    async def _list_notes(self, request: web.Request) -> web.Response:
        return self._paged(request, self.notes)

    def _paged(self, request: web.Request, items: list[dict[str, Any]]) -> web.Response:
        size, page = min(int(request.query.get("per_page", "30")), self.page), int(request.query.get("page", "1"))
        headers = {}
        if page * size < len(items):
            place = f"{self.url.removesuffix('/api/v3')}{request.path}?per_page={size}"
            last = -(-len(items) // size)
            headers["link"] = f'<{place}&page={page + 1}>; rel="next", <{place}&page={last}>; rel="last"'
        return web.json_response(items[(page - 1) * size : page * size], headers=headers)

    async def _review(self, request: web.Request) -> web.Response:
        content = await request.json()
        if content.get("event") != "COMMENT" or not content.get("body"):
            return _unprocessable("event must be COMMENT, and has a body")
        if content["commit_id"] != self.head:
            return _unprocessable("commit_id is not part of the pull request")
        made: list[Comment] = []
        for one in content["comments"]:
            if problem := self._problem(one):
                return _unprocessable(problem)
            first = one.get("start_line", one["line"])
            self._next += 1
            at = (first, one["line"])
            made.append(Comment(self._next, one["path"], one["body"], self.head, at, at, self.login))
        self.comments += made
        self.reviews.append(content)
        return web.json_response({"id": len(self.reviews)})

    def _problem(self, one: dict[str, Any]) -> str:
        if set(one) - {"path", "body", "line", "side", "start_line", "start_side"}:
            return "unknown fields"
        if not one["body"] or len(one["body"]) > _LARGEST:
            return "body is too long, or empty"
        if one["side"] != "RIGHT" or one.get("start_side", "RIGHT") != "RIGHT":
            return "side must be RIGHT here"
        first, last = one.get("start_line", one["line"]), one["line"]
        if first > last or ("start_line" in one and first == last):
            return "start_line must precede the end line"
        hunks = self._hunks(one["path"])
        if not any(start <= first and last < end for start, end in hunks):
            return "pull_request_review_thread.line must be part of the diff, in one hunk"
        return ""

    def _hunks(self, path: str) -> list[tuple[int, int]]:
        """The rows of the new file that GitHub shows: of the first 3,000 files."""
        names = self.repository.run("diff", "-M", "--name-only", "-z", self.base, "work").decode().split("\0")
        if path not in names[:_MOST_FILES]:
            return []
        patch = self.repository.run("diff", "-M", "-U3", self.base, "work").decode(errors="replace")
        _, _, mine = f"\n{patch}".partition(f"\n+++ b/{path}\n")
        found = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", mine.partition("\ndiff --git ")[0], flags=re.MULTILINE)
        return [(int(start), int(start) + int(count or 1)) for start, count in found]

    async def _edit_comment(self, request: web.Request) -> web.Response:
        [comment] = [one for one in self.comments if str(one.id) == request.match_info["id"]]
        comment.body = (await request.json())["body"]
        self.edits += 1
        return web.json_response({"id": comment.id})

    async def _note(self, request: web.Request) -> web.Response:
        self._next += 1
        note = {"id": self._next, "body": (await request.json())["body"], "user": _user(self.login)}
        self.notes.append(note)
        return web.json_response(note, status=201)

    async def _edit_note(self, request: web.Request) -> web.Response:
        [note] = [one for one in self.notes if str(one["id"]) == request.match_info["id"]]
        note["body"] = (await request.json())["body"]
        self.edits += 1
        return web.json_response(note)

    async def _status(self, request: web.Request) -> web.Response:
        content = await request.json()
        assert content["state"] in ("success", "failure")
        assert len(content["description"]) <= 140
        self.statuses.append({**content, "sha": request.match_info["sha"]})
        return web.json_response({}, status=201)

    async def _graphql(self, request: web.Request) -> web.Response:
        content = await request.json()
        query, variables = content["query"], content["variables"]
        if not self.allows_graphql:
            error = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
            return web.json_response({"errors": [error]})
        if query.startswith("query Threads"):
            start = int(variables["after"] or 0)
            end = start + min(self.page, 100)
            nodes = [
                {"id": f"T{one.id}", "isResolved": one.is_resolved, "comments": {"nodes": [{"databaseId": one.id}]}}
                for one in self.comments
            ]
            threads = {
                "pageInfo": {"hasNextPage": end < len(nodes), "endCursor": str(end)},
                "nodes": nodes[start:end],
            }
            pull = {"pullRequest": {"reviewThreads": threads}}
            return web.json_response({"data": {"viewer": {"login": self.login}, "repository": pull}})
        assert self.may_write
        if not self.may_resolve:
            error = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
            return web.json_response({"data": {"resolveReviewThread": None}, "errors": [error]})
        [comment] = [one for one in self.comments if f"T{one.id}" == variables["thread"]]
        comment.is_resolved = "unresolveReviewThread" not in query
        return web.json_response({"data": {}})

    def _follow(self) -> None:
        """Move the comments with their lines; where these are gone, they are outdated."""
        if self.head == self._head:
            return
        self._head = self.head
        for one in self.comments:
            before = self.repository.file(one.commit, one.path).decode(errors="replace").split("\n")
            try:
                after = self.repository.file(self.head, one.path).decode(errors="replace").split("\n")
            except AssertionError:
                one.at = None
                continue
            first, last = one.original
            lines = before[first - 1 : last]
            found = [n for n in range(len(after)) if after[n : n + len(lines)] == lines]
            one.at = (found[0] + 1, found[0] + len(lines)) if found else None


def suggestion_in(body: str) -> str:
    """The text in the one suggestion of a comment."""
    found = re.findall(r"^(`{3,})suggestion\n(.*?)^\1$", body, flags=re.MULTILINE | re.DOTALL)
    assert len(found) == 1, body
    return str(found[0][1])


def _matches(fault: Fault, request: web.Request) -> bool:
    return fault.method == request.method and re.search(fault.path, request.path_qs) is not None


async def _broken(request: web.Request, fault: Fault, answer: web.StreamResponse | None) -> web.StreamResponse:
    if isinstance(fault.kind, int):
        return web.json_response(fault.body or {"message": "broken"}, status=fault.kind, headers=fault.headers)
    if request.transport is None:
        return web.Response()
    if fault.kind == "cut":
        half = web.StreamResponse(headers={"content-type": "application/json", "content-length": "4096"})
        await half.prepare(request)
        await half.write(b'[{"id": ')
        request.transport.close()
        return half
    if fault.kind == "half":
        return web.Response(body=b'[{"id": ', content_type="application/json")
    request.transport.close()
    return web.Response()


def _unprocessable(message: str) -> web.Response:
    text = json.dumps({"message": "Unprocessable Entity", "errors": [message]})
    return web.Response(text=text, status=422, content_type="application/json")


def _user(login: str) -> dict[str, str]:
    return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}
