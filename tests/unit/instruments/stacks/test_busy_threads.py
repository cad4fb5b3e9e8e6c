"""Which threads hardly ever wait."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.stacks.busy_threads import BusyThreads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system tells it on Linux")


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not found() and time.monotonic() < end:
        time.sleep(0.01)
    assert found()


def test_a_thread_that_spins_is_busy_and_one_that_waits_is_not() -> None:
    rows: list[Any] = []
    busy, done = BusyThreads(rows.append), threading.Event()

    def spin() -> None:
        while not done.is_set():
            pass

    threads = [threading.Thread(target=spin), threading.Thread(target=done.wait)]
    for thread in threads:
        thread.start()
    try:
        main = threading.get_ident()
        until(lambda: threads[0].ident in busy.look(now_ns(), main))
        assert busy.threads == (threads[0].ident,)
        row = rows[-1]
        assert row[0] == "ran" and row[2] == threads[0].ident and 0 < row[4] // 2 <= row[3]
        assert busy.look(now_ns(), main) == busy.threads  # not read again within a second
        until(lambda: busy.look(now_ns(), threads[0].ident or 0) == ())  # where it trains, it is none
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_without_other_threads_nothing_is_read() -> None:
    rows: list[Any] = []
    busy = BusyThreads(rows.append)
    for second in range(1, 4):
        assert busy.look(second * NS_PER_S, threading.get_ident()) == () or threading.active_count() > 1
    assert rows == [] or threading.active_count() > 1
