"""Markers that wait: in order, whoever made them, and of C code's calls as numbers until they are asked for."""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque

import pytest

from tfperfkit.instruments.steps import quiet_calls
from tfperfkit.records.steps import Marker

native = pytest.mark.skipif(not quiet_calls.NATIVE, reason="_quiet.c could not be built where tfperfkit was installed")


def made(number: int) -> Marker:
    return Marker(1, number, number + 1)


def test_without_c_code_it_is_a_deque(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet_calls, "NATIVE", False)
    assert isinstance(quiet_calls.queue(Marker), deque)


@pytest.mark.parametrize("number", [1, 63, 64, 65, 5000])
def test_first_in_first_out(number: int) -> None:
    queue = quiet_calls.queue(Marker)
    for turn in range(3):
        for each in range(number):
            queue.append(made(each))
            if each % 3 == turn:
                queue.append(queue.popleft())
        found = [queue.popleft() for _ in range(len(queue))]
        assert sorted(marker.begin_ns for marker in found) == list(range(number))
        assert not queue
        with pytest.raises(IndexError):
            queue.popleft()


@native
def test_markers_are_let_go() -> None:
    queue = quiet_calls.queue(Marker)
    marker = made(1)
    before = sys.getrefcount(marker)
    queue.append(marker)
    assert queue.popleft() is marker
    assert sys.getrefcount(marker) == before
    for _ in range(100):
        queue.append(marker)
    assert sys.getrefcount(marker) == before + 100
    del queue
    gc.collect()
    assert sys.getrefcount(marker) == before


@native
def test_one_thread_adds_while_another_takes() -> None:
    queue = quiet_calls.queue(Marker)
    added = threading.Thread(target=lambda: [queue.append(made(each)) for each in range(50_000)])
    added.start()
    found: list[int] = []
    while added.is_alive() or queue:
        try:
            found.append(queue.popleft().begin_ns)
        except IndexError:
            continue
    added.join()
    assert found == list(range(50_000))
