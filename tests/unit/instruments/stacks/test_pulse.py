"""The heartbeat: it calls, it stops, and it says when it failed."""

from __future__ import annotations

import threading

from tfperfkit.instruments.stacks.pulse import Pulse


def test_it_calls_until_it_is_reported_to_stop() -> None:
    often, failures = threading.Event(), []
    calls: list[int] = []

    def tick() -> float:
        calls.append(1)
        if len(calls) > 2:
            often.set()
        return 0.001

    pulse = Pulse(tick, lambda: failures.append(1))
    pulse.start()
    assert often.wait(200)
    pulse.stop()
    before = len(calls)
    assert not pulse.failed and not failures
    often.clear()
    assert not often.wait(0.05) and len(calls) == before


def test_a_failure_is_reported_once_and_ends_it() -> None:
    told = threading.Event()
    calls: list[int] = []

    def tick() -> float:
        calls.append(1)
        raise ValueError

    pulse = Pulse(tick, told.set)
    pulse.start()
    assert told.wait(200)
    pulse.stop()
    assert pulse.failed and calls == [1]
