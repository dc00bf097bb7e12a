"""GitLab as a server on loopback, over a real git repository, as strict about positions as the real one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.review.repositories import Repository

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FakeGitLab:
    """The project `group/sub/name`, merge request 7, from `work` to `main`."""

    def __init__(self, repository: Repository, *, may_write: bool = True, page: int = 100) -> None:
        self.repository, self.may_write, self.page = repository, may_write, page
        self.talks: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.failing: list[tuple[str, str, int, bool]] = []
        """Method, path, status, and whether the request is obeyed first."""
        self._next = 100

    def git(self, *arguments: str) -> str:
        return self.repository.git(*arguments)

    @property
    def refs(self) -> dict[str, str]:
        return {
            "base_sha": self.git("merge-base", "main", "work"),
            "start_sha": self.git("rev-parse", "main"),
            "head_sha": self.git("rev-parse", "work"),
        }

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [talk["notes"][0] for talk in self.talks]

    @property
    def on_lines(self) -> list[dict[str, Any]]:
        return [note for note in self.notes if note.get("position")]

    def apply(self, note: dict[str, Any]) -> str:
        """Commit the suggestion of a note; the commit."""
        [(_, above, below, text)] = re.findall(
            r"^(`{3,})suggestion:-(\d+)\+(\d+)\n(.*?)^\1$", note["body"], flags=re.MULTILINE | re.DOTALL
        )
        path, line = note["position"]["new_path"], note["position"]["new_line"]
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.repository.file("work", path).decode())
        lines[line - 1 - int(above) : line + int(below)] = [text]
        self.git("checkout", "-q", "work")
        return self.repository.commit({path: "".join(lines).encode()})

    def admits(self, request: web.Request) -> bool:
        """Whether a request comes with the token."""
        return request.headers.get("private-token") == "s3cret"

    def more_routes(self) -> list[web.RouteDef]:
        """What else it serves."""
        return []

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The address of its API."""
        app = web.Application(middlewares=[self._checked])
        at = "/api/v4/projects/{project}"
        app.add_routes(
            [
                *self.more_routes(),
                web.get("/api/v4/user", self._user),
                web.get(f"{at}/merge_requests/7", self._request),
                web.get(f"{at}/merge_requests/7/discussions", self._list),
                web.post(f"{at}/merge_requests/7/discussions", self._discuss),
                web.put(f"{at}/merge_requests/7/discussions/{{talk}}", self._resolve),
                web.put(f"{at}/merge_requests/7/discussions/{{talk}}/notes/{{note}}", self._edit),
                web.post(f"{at}/merge_requests/7/notes", self._note),
                web.put(f"{at}/merge_requests/7/notes/{{note}}", self._edit),
                web.post(f"{at}/statuses/{{sha}}", self._status),
            ]
        )
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        try:
            yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/api/v4"  # type: ignore[attr-defined]
        finally:
            await runner.cleanup()

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self.admits(request):
            return web.json_response({"message": "401 Unauthorized"}, status=401)
        if not self.may_write and request.method != "GET":
            return web.json_response({"message": "403 Forbidden"}, status=403)
        assert request.match_info.get("project", "group/sub/name") == "group/sub/name"
        for one in self.failing:
            method, path, status, is_obeyed = one
            if method == request.method and path in request.path:
                self.failing.remove(one)
                if is_obeyed:
                    await handler(request)
                return web.json_response({"message": "x"}, status=status, headers={"retry-after": "3"})
        return await handler(request)

    async def _user(self, request: web.Request) -> web.Response:
        return web.json_response({"id": 1, "username": "bot"})

    async def _request(self, request: web.Request) -> web.Response:
        return web.json_response({"iid": 7, "state": "opened", "diff_refs": self.refs})

    async def _list(self, request: web.Request) -> web.Response:
        size, page = min(int(request.query["per_page"]), self.page), int(request.query["page"])
        following = str(page + 1) if page * size < len(self.talks) else ""
        return web.json_response(self.talks[(page - 1) * size : page * size], headers={"x-next-page": following})

    async def _discuss(self, request: web.Request) -> web.Response:
        content = await request.json()
        position = content["position"]
        if not self._is_right(position):
            return web.json_response({"message": "400 (Bad request) line_code can't be blank"}, status=400)
        self._add(content["body"], position)
        return web.json_response({}, status=201)

    def _is_right(self, position: dict[str, Any]) -> bool:
        """As GitLab has it: a row that was there has both its numbers, a new one only the new."""
        if any(position[key] != value for key, value in self.refs.items()) or position["position_type"] != "text":
            return False
        patch = self.git("diff", "-M", "-U3", self.refs["base_sha"], "work")
        _, _, mine = patch.partition(f"\n+++ b/{position['new_path']}\n")
        old = new = 0
        for line in mine.partition("\ndiff --git ")[0].split("\n"):
            if match := re.match(r"@@ -(\d+)\S* \+(\d+)\S* @@", line):
                old, new = int(match[1]), int(match[2])
            elif line.startswith("-"):
                old += 1
            else:
                was_there = line.startswith(" ")
                if new == position["new_line"]:
                    return position.get("old_line") == (old if was_there else None)
                old, new = old + was_there, new + 1
        return False

    async def _note(self, request: web.Request) -> web.Response:
        self._add((await request.json())["body"], None)
        return web.json_response({}, status=201)

    def _add(self, body: str, position: dict[str, Any] | None) -> None:
        self._next += 1
        note = {"id": self._next, "body": body, "author": {"id": 1}, "system": False, "resolved": False}
        self.talks.append({"id": f"d{self._next}", "notes": [{**note, "position": position} if position else note]})

    async def _edit(self, request: web.Request) -> web.Response:
        [note] = [one for one in self.notes if str(one["id"]) == request.match_info["note"]]
        note["body"] = (await request.json())["body"]
        return web.json_response(note)

    async def _resolve(self, request: web.Request) -> web.Response:
        [talk] = [one for one in self.talks if one["id"] == request.match_info["talk"]]
        talk["notes"][0]["resolved"] = (await request.json())["resolved"]
        return web.json_response(talk)

    async def _status(self, request: web.Request) -> web.Response:
        self.statuses.append({**await request.json(), "sha": request.match_info["sha"]})
        return web.json_response({}, status=201)
