"""What the server tells of its work: one line an event, and never a secret in it."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
from base64 import b64encode
from datetime import datetime, timezone
from typing import Final

_LOG: Final = logging.getLogger("mplint.serve")
_TOKEN: Final = re.compile(
    r"\bgh[a-z]_\w{16,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]+"
    r"|(?i:\b(?:basic|bearer|token) +)[\w.~+/=-]{16,}|-----BEGIN [^-]+-----.*?(?:-----END [^-]+-----|\Z)",
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"[^\s\"=]+")
_MASK: Final = "***"


class Secrets:
    """The secrets that this process knows, and what is left of a text without them."""

    def __init__(self, *known: str) -> None:
        self._known: dict[str, float] = {}
        self.add(*known)

    def add(self, *more: str, until: float = math.inf) -> None:
        """Let no text hold these, at least until they open nothing any more, in seconds since 1970."""
        now = time.time()
        self._known = {secret: end for secret, end in self._known.items() if end > now}
        for secret in filter(None, more):
            users = (b64encode(f"{user}:{secret}".encode()).decode() for user in ("x-access-token", "oauth2"))
            self._known |= dict.fromkeys((secret, json.dumps(secret)[1:-1], *users), until)

    def masked(self, text: str) -> str:
        """The text without the secrets, and without what looks like one."""
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, _MASK)
        return _TOKEN.sub(_MASK, text)


class Line(logging.Formatter):
    """A record on one line, whatever it holds: as JSON, or for people."""

    def __init__(self, secrets: Secrets, *, as_json: bool) -> None:
        super().__init__()
        self._secrets, self._as_json = secrets, as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line, masked as the last thing that is done."""
        at = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {**getattr(record, "fields", {})}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        level, told = record.levelname.lower(), record.getMessage()
        if self._as_json:
            line = json.dumps({"time": at, "level": level, "event": told, **fields}, default=str)
        else:
            words = (f"{key}={_word(value)}" for key, value in fields.items())
            line = " ".join((at, level, told.replace("\n", " "), *words))
        return self._secrets.masked(line)


def tell(event: str, *, level: int = logging.INFO, cause: BaseException | None = None, **fields: object) -> None:
    """Note an event, with what there is to be known of it."""
    known = {name: value for name, value in fields.items() if value not in ("", None)}
    _LOG.log(level, "%s", event, exc_info=cause, extra={"fields": known})


def start(secrets: Secrets, *, as_json: bool) -> None:
    """Let everything that this process notes go to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line(secrets, as_json=as_json))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    _LOG.setLevel(logging.INFO)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # what callers do wrong; they have their answer


def _word(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and _PLAIN.fullmatch(text) else json.dumps(text)
