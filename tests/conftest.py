"""What all tests share: which of them need TensorFlow, where those run, and what runs first."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import settings

settings.register_profile("mplint", deadline=None)  # how long an example takes says nothing on a busy machine
settings.load_profile("mplint")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist, which reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what imports TensorFlow in one worker, for that takes seconds and memory; skip it where it is missing."""
    missing = importlib.util.find_spec("tensorflow") is None
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.xdist_group("tensorflow"))
        if missing and (item.get_closest_marker("tensorflow") or item.get_closest_marker("verify")):
            item.add_marker(pytest.mark.skip(reason="TensorFlow is not installed: pip install mplint[verify]"))
    # The slow ones first, so that no worker is left with one when the others are done.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
