"""What the server counts, in the form of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mplint.serve.assignment import Outcome
from mplint.serve.queue import Depth

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_EVENTS: Final = frozenset({"ping", "pull_request", "Merge-Request-Hook"})
"""All others are counted as one, so that nobody who calls can make series without end."""
_SECONDS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)


class Metrics:
    """One server's."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "mplint_deliveries", "Deliveries of webhooks.", ("event", "outcome"), registry=registry
        )
        self._reviews = Counter("mplint_reviews", "Reviews that have ended.", ("outcome",), registry=registry)
        self._seconds = Histogram(
            "mplint_review_seconds", "How long reviews take.", buckets=_SECONDS, registry=registry
        )
        self._comments = Counter("mplint_comments_posted", "Comments that were posted.", registry=registry)
        self._resolved = Counter("mplint_threads_resolved", "Talks that were resolved.", registry=registry)
        self._buried = Counter("mplint_reviews_given_up", "Reviews that are not tried any more.", registry=registry)
        self._requests = Counter("mplint_api_requests", "Requests to the forge's API.", registry=registry)
        self._left = Gauge("mplint_api_requests_left", "Requests that the forge still allows.", registry=registry)
        self._left.set(float("nan"))  # until it says so
        self._queue = _Queue()
        registry.register(self._queue)

    def delivery(self, event: str, outcome: str) -> None:
        """A delivery was answered."""
        self._deliveries.labels(event if event in _EVENTS else "other", outcome).inc()

    def review(self, outcome: Outcome, seconds: float) -> None:
        """A review has ended."""
        self._reviews.labels(outcome.kind).inc()
        self._seconds.observe(seconds)
        self._comments.inc(outcome.said)
        self._resolved.inc(outcome.resolved)
        self.asked(outcome.requests, outcome.left)

    def asked(self, requests: int, left: int | None) -> None:
        """The forge was asked."""
        self._requests.inc(requests)
        if left is not None:
            self._left.set(left)

    def buried(self) -> None:
        """A review is not tried any more."""
        self._buried.inc()

    def text(self, depth: Depth, now: float) -> bytes:
        """All of it."""
        self._queue.depth, self._queue.now = depth, now
        return generate_latest(self._registry)


class _Queue(Collector):
    """What is read from the database when it is asked for."""

    depth = Depth(0, 0, 0, None)
    now = 0.0

    def collect(self) -> Iterator[Metric]:
        jobs = GaugeMetricFamily("mplint_queue_jobs", "Reviews in the queue.", labels=["state"])
        for state in ("waiting", "running", "failed"):
            jobs.add_metric([state], getattr(self.depth, state))
        yield jobs
        age = 0.0 if self.depth.oldest is None else max(0.0, self.now - self.depth.oldest)
        yield GaugeMetricFamily("mplint_queue_oldest_seconds", "The age of the oldest review to make.", value=age)
