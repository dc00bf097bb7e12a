"""Deliveries of webhooks: who has sent one is made sure of before it is read, and it is read with doubt."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from mplint.review.environment import ForgeName
from mplint.serve.queue import Pull

_IDENTITY: Final = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_REPOSITORY: Final = re.compile(r"(?!\.{1,2}/)[\w.-]{1,100}(?:/(?!\.{1,2}(?:/|\Z))[\w.-]{1,100})+", re.ASCII)
_LARGEST: Final = 2**53
_OPENED: Final = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})


class Unacceptable(Exception):
    """A delivery that is turned away, with a status of HTTP."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Delivery:
    """What a forge tells; `pull` is the pull request that it makes it necessary to review, if any."""

    identity: str
    event: str
    action: str = ""
    pull: Pull | None = None


class Webhook(Protocol):
    """How one forge calls."""

    def authenticate(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raise Unacceptable where it is not the forge that calls."""

    def read(self, headers: Mapping[str, str], body: bytes) -> Delivery:
        """What it tells. Raises Unacceptable where it cannot be understood."""


class GitHubWebhook:
    """GitHub signs what it sends."""

    def __init__(self, secret: str, *, needs_installation: bool = False) -> None:
        self._secret, self._needs_installation = secret.encode(), needs_installation

    def authenticate(self, headers: Mapping[str, str], body: bytes) -> None:
        """The signature must be that of the body."""
        signature = headers.get("X-Hub-Signature-256", "")
        wanted = "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(_bytes(signature), wanted.encode()):
            raise Unacceptable(401, "the signature is not that of the body: is the secret the same on both sides?")

    def read(self, headers: Mapping[str, str], body: bytes) -> Delivery:
        """A pull request that is new, has new commits, or is turned to another branch, is to be reviewed."""
        identity, event = _identity(headers.get("X-GitHub-Delivery")), _identity(headers.get("X-GitHub-Event"))
        content = _object(body)
        action = _word(content.get("action"))
        is_moved = action == "edited" and "base" in _within(content, "changes")
        if event != "pull_request" or not (action in _OPENED or is_moved):
            return Delivery(identity, event, action)
        installation = _within(content, "installation").get("id") if self._needs_installation else None
        if self._needs_installation and not _is_number(installation):
            raise Unacceptable(422, "names no installation: is the webhook that of the app?")
        number = _within(content, "pull_request").get("number")
        name = _within(content, "repository").get("full_name")
        head = _within(_within(content, "pull_request"), "head").get("sha")
        return Delivery(identity, event, action, _pull("github", name, number, installation, head))


class GitLabWebhook:
    """GitLab shows a token that both sides know."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def authenticate(self, headers: Mapping[str, str], body: bytes) -> None:
        """The token must be ours."""
        if not hmac.compare_digest(_bytes(headers.get("X-Gitlab-Token", "")), self._secret):
            raise Unacceptable(401, "the token is another one: is the secret the same on both sides?")

    def read(self, headers: Mapping[str, str], body: bytes) -> Delivery:
        """A merge request that is new, changed, no draft any more, or turned to another branch, is to be reviewed."""
        identity = _identity(headers.get("Idempotency-Key") or headers.get("X-Gitlab-Event-UUID"))
        event = _identity(headers.get("X-Gitlab-Event", "").replace(" ", "-"))
        content = _object(body)
        about = _within(content, "object_attributes")
        action = _word(about.get("action"))
        changes = _within(content, "changes")
        is_changed = "oldrev" in about or bool({"draft", "target_branch"} & changes.keys())
        is_new = action in ("open", "reopen") or (action == "update" and is_changed)
        if content.get("object_kind") != "merge_request" or not is_new:
            return Delivery(identity, event, action)
        name = _within(content, "project").get("path_with_namespace")
        head = _within(about, "last_commit").get("id")
        return Delivery(identity, event, action, _pull("gitlab", name, about.get("iid"), None, head))


def _pull(forge: ForgeName, repository: object, number: object, installation: object, head: object) -> Pull:
    if not isinstance(repository, str) or len(repository) > 300 or not _REPOSITORY.fullmatch(repository):
        raise Unacceptable(422, "names no repository")
    if forge == "github" and repository.count("/") != 1:
        raise Unacceptable(422, "names no repository")
    if not _is_number(number):
        raise Unacceptable(422, "names no pull request")
    assert isinstance(number, int)
    return Pull(forge, repository, number, installation if isinstance(installation, int) else None, _word(head))


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise Unacceptable(400, "is no JSON") from None
    if not isinstance(content, dict):
        raise Unacceptable(422, "is no object")
    return content


def _within(content: dict[str, Any], key: str) -> dict[str, Any]:
    inner = content.get(key)
    return inner if isinstance(inner, dict) else {}


def _identity(text: str | None) -> str:
    if text is None or not _IDENTITY.fullmatch(text):
        raise Unacceptable(400, "lacks the headers that a delivery has")
    return text


def _word(value: object) -> str:
    return value if isinstance(value, str) and _IDENTITY.fullmatch(value) else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST


def _bytes(header: str) -> bytes:
    return header.encode("utf-8", "surrogateescape")
