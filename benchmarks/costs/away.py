"""How much longer a call's Python takes after its thread was away from it: its code has left the caches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from benchmarks.costs import measure

Round = Callable[[], list[float]]
#: Samples of each kind of absence in a round; the median counts.
_SAMPLES = 40


def times_as_long(away_ms: float) -> Round:
    """Prepare what measures one absence, in turn.

    CPU time of a thread that takes a batch and calls small functions, after it slept and after it computed, over its
    CPU time for the same right after itself.
    """
    rows = tf.data.Dataset.from_tensor_slices(np.random.default_rng(0).random((64, 100), dtype="float32"))
    batches, counter, small = iter(rows.batch(32).repeat()), tf.Variable(0, dtype=tf.int64), tf.ones((4, 4))
    add, numbers = tf.function(lambda a, b: a + b), tf.ones((1_000_000,))

    def call() -> None:
        next(batches)
        counter.assign_add(1)
        add(small, small)
        add(small, small)

    def compute() -> None:
        end = time.perf_counter() + away_ms / 1e3
        while time.perf_counter() < end:
            _ = numbers + 1.0

    def took(before: Callable[[], object]) -> float:
        before()
        begin = time.thread_time_ns()
        call()
        return time.thread_time_ns() - begin

    def points() -> list[float]:
        kinds = (call, lambda: time.sleep(away_ms / 1e3), compute)
        samples = [[took(kind) for kind in kinds] for _ in range(_SAMPLES)]
        warm, *away = (statistics.median(column) for column in zip(*samples, strict=True))
        return [each / warm for each in away]

    return points


@measure("number", "a call's Python 0.3 ms away from it, over the same right after itself")
def python_away_short() -> Round:
    return times_as_long(0.3)


@measure("number", "a call's Python 1 ms away from it, over the same right after itself")
def python_away_1_ms() -> Round:
    return times_as_long(1.0)


@measure("number", "a call's Python 4 ms away from it, over the same right after itself")
def python_away_4_ms() -> Round:
    return times_as_long(4.0)


@measure("number", "a call's Python 12 ms away from it, over the same right after itself")
def python_away_12_ms() -> Round:
    return times_as_long(12.0)
