"""Deep recursion."""

from __future__ import annotations

import sys
import threading

import pytest

from mplint.source.stack import on_deep_stack


def depth(count: int) -> int:
    return 0 if count == 0 else 1 + depth(count - 1)


def test_recursion_goes_deep_and_the_limit_comes_back() -> None:
    limit = sys.getrecursionlimit()
    assert on_deep_stack(lambda: depth(20_000)) == 20_000
    assert sys.getrecursionlimit() == limit
    assert threading.stack_size() == 0


def test_nested_calls_stay_in_their_thread() -> None:
    outer, inner = on_deep_stack(lambda: (threading.get_ident(), on_deep_stack(threading.get_ident)))
    assert outer == inner != threading.get_ident()


def test_what_is_raised_there_is_raised_here() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(ZeroDivisionError):
        on_deep_stack(lambda: 1 // 0)
    assert sys.getrecursionlimit() == limit


def test_a_smaller_stack_where_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = threading.stack_size

    def refuse(size: int = 0) -> int:
        if size > 64 << 20:
            raise ValueError("size not valid")
        return real(size)

    monkeypatch.setattr(threading, "stack_size", refuse)
    assert on_deep_stack(lambda: depth(2000)) == 2000


def test_no_thread_at_all_is_a_recursion_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RecursionError):
        on_deep_stack(lambda: 1)
