from __future__ import annotations


class FakeClock:
    """A clock that nobody waits for."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
