"""Threads, and the policy that holds in them: Keras 3 has one for each, Keras 2 one for the process."""

from __future__ import annotations

import pytest

from mplint.interpreter.trace import Escaped, LayerMade
from tests.interpreter.programs import worlds

HEAD = """
import asyncio, threading
import multiprocessing.pool
from concurrent.futures import ThreadPoolExecutor, as_completed
from tensorflow import keras

def make(units=1, dtype=None):
    keras.layers.Dense(units, dtype=dtype)
    return units

class Worker(threading.Thread):
    def __init__(self, units):
        super().__init__(daemon=True)
        self.units = units

    def run(self):
        make(self.units)

async def later():
    await asyncio.to_thread(make, 1)

async def in_loop():
    await asyncio.get_running_loop().run_in_executor(None, make, 1)

keras.mixed_precision.set_global_policy("mixed_float16")
"""


def made_under(source: str, generation: str) -> list[str | None]:
    _, (world,) = worlds(generation, main=HEAD + source)
    return [event.policy.name for event in world.trace.events if isinstance(event, LayerMade)]


@pytest.mark.parametrize(
    "source",
    [
        "threading.Thread(target=make).start()",
        "thread = threading.Thread(None, make, 'worker', (2,), {'units': 3})\nthread.start()\nthread.join()",
        "threading.Timer(1.0, make, [2]).start()",
        "Worker(2).start()",
        "with ThreadPoolExecutor() as pool:\n    pool.submit(make, 2).result()",
        "with ThreadPoolExecutor() as pool:\n    list(pool.map(make, [2]))",
        "multiprocessing.pool.ThreadPool(2).map(make, [2])",
        "multiprocessing.pool.ThreadPool(2).apply_async(make, (2,)).get()",
        "asyncio.run(later())",
        "asyncio.new_event_loop().run_until_complete(in_loop())",
    ],
)
def test_what_a_thread_runs(source: str) -> None:
    assert made_under(source, "3") == ["float32"]
    assert made_under(source, "2") == ["mixed_float16"]


def test_the_thread_that_starts_others_keeps_its_policy() -> None:
    source = (
        "def job():\n    keras.mixed_precision.set_global_policy('mixed_bfloat16')\n    make()\n\n"
        "threading.Thread(target=job).start()\nmake()\n"
    )
    assert made_under(source, "3") == ["mixed_bfloat16", "mixed_float16"]
    assert made_under(source, "2") == ["mixed_bfloat16", "mixed_bfloat16"]


@pytest.mark.parametrize("source", ["threading.Thread(target=make).run()", "Worker(2).run()"])
def test_what_runs_in_the_same_thread(source: str) -> None:
    assert made_under(source, "3") == ["mixed_float16"]


def test_a_thread_begins_with_the_policy_of_floatx() -> None:
    source = "keras.backend.set_floatx('float64')\nthreading.Thread(target=make).start()\nmake()\n"
    assert made_under(source, "3") == ["float64", "mixed_float16"]


def test_what_threads_give_is_known() -> None:
    source = (
        "def same(name):\n    return name\n\n"
        "with ThreadPoolExecutor() as pool:\n    jobs = [pool.submit(same, name) for name in ('float64',)]\n"
        "    for job in as_completed(jobs):\n        make(dtype=job.result())\n"
        "    for name in pool.map(same, ['bfloat16']):\n        make(dtype=name)\n"
        "found = multiprocessing.pool.ThreadPool(2).map_async(same, ['float16'])\nmake(dtype=found.get()[0])\n"
    )
    assert made_under(source, "3") == ["float64", "bfloat16", "float16"]


def test_a_thread_that_ends_the_program_ends_itself() -> None:
    source = "import sys\ndef stop():\n    sys.exit(1)\n\nthreading.Thread(target=stop).start()\nmake()\n"
    assert made_under(source, "3") == ["mixed_float16"]


def test_a_pool_that_is_closed() -> None:
    source = "pool = ThreadPoolExecutor()\npool.submit(make)\npool.shutdown()\nmake()\n"
    assert made_under(source, "3") == ["float32", "mixed_float16"]


def test_what_other_classes_start_is_not_known() -> None:
    source = "import jobs\nclass Job(jobs.Job):\n    def run(self):\n        make()\n\nJob().start()\n"
    assert made_under(source, "3") == []


def test_what_a_thread_is_given_is_out_of_sight() -> None:
    source = "def job(given):\n    pass\n\nthreading.Thread(target=job, args=(keras.layers.Dense(1),)).start()\n"
    _, (world,) = worlds("3", main=HEAD + source)
    assert any(isinstance(event, Escaped) for event in world.trace.events)


def test_a_thread_without_anything_to_run() -> None:
    assert made_under("threading.Thread().start()\nthreading.Thread(target=make).join()\nmake()", "3") == [
        "mixed_float16"
    ]


@pytest.mark.parametrize(
    "source",
    [
        "threading.Thread(target=make, kwargs={'dtype': 'float64'}).start()",
        "threading.Timer(1.0, make, None, {'dtype': 'float64'}).start()",
        "multiprocessing.pool.ThreadPool(2).apply(make, kwds={'dtype': 'float64'})",
    ],
)
def test_what_is_passed_by_name(source: str) -> None:
    assert made_under(source, "3") == ["float64"]
