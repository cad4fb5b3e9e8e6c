"""Windows by time: the early one of a run that shows no step, and what becomes of it when steps come after all."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable

import pytest

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.probe import WindowWish
from tfperfkit.recording.by_time import ByTime
from tfperfkit.recording.schedule import FIRST_PATIENCE_NS, PATIENCE_NS, Scheduler, WindowSpec
from tfperfkit.recording.timed_windows import length_ns

LINES, TFPROF = WindowSpec("lines"), WindowSpec("tfprof", wish=WindowWish(after_steps=True))
LATER_NS = PATIENCE_NS + FIRST_PATIENCE_NS


class Points:
    """The thread is at a safe point whenever somebody waits for one."""

    def at_next(self, action: Callable[[], object], thread: int) -> None:
        action()

    def withdraw(self) -> bool:
        return False

    def knock(self) -> None: ...


class Run:
    """A run with given work of TensorFlow's and given steps."""

    def __init__(self, *windows: WindowSpec) -> None:
        self.opened: list[str] = []
        self.step = 0
        self.in_window = False
        self.scheduler = Scheduler(windows)
        self.by_time = ByTime(Points(), self, lambda: self.step, lambda: False)
        self.by_time.plan(self.scheduler)

    def open_window(self, name: str, steps: int | None, *, after_steps: bool = False, again: bool = False) -> bool:
        self.opened.append(name)
        return False

    def close_window(self, name: str) -> None: ...

    def work(self, ns: int) -> None:
        """Do so much more work, and then the pulse; an open window ends."""
        self.by_time.worked(ns)
        for _ in range(2):
            self.by_time.tick(1 << 62, get_ident())

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.step += 1
            self.by_time.step(0, False)


def test_the_trace_comes_early_and_the_rest_late() -> None:
    run = Run(LINES, TFPROF)
    run.work(FIRST_PATIENCE_NS)
    assert run.opened == []
    run.work(1)
    assert run.opened == ["tfprof"]
    run.work(PATIENCE_NS - 1)
    assert run.opened == ["tfprof"]
    run.work(1)
    assert run.opened == ["tfprof", "lines"]


def test_without_the_trace_the_others_come_as_late_as_ever() -> None:
    run = Run(LINES)
    run.work(PATIENCE_NS)
    assert run.opened == []
    run.work(1)
    assert run.opened == ["lines"]


@pytest.mark.parametrize("early", [True, False])
def test_steps_that_come_after_all_get_the_trace_too(early: bool) -> None:
    run = Run(LINES, TFPROF)
    run.work(FIRST_PATIENCE_NS + 1 if early else FIRST_PATIENCE_NS)
    assert (TFPROF in run.scheduler.waiting) is not early
    run.steps(2)
    assert run.scheduler.waiting.count(TFPROF) == 1 and run.scheduler.waiting.count(LINES) == 1


def test_what_was_given_late_does_not_come_back() -> None:
    run = Run(LINES, TFPROF)
    run.work(FIRST_PATIENCE_NS + 1)
    run.work(LATER_NS)
    assert run.opened == ["tfprof", "lines"]
    run.steps(1)
    assert run.scheduler.waiting == (TFPROF,)


class Late(Run):
    """A run whose steps opened a window of ``LINES``; ``after`` is the time since the last step."""

    def __init__(self, spec: WindowSpec = LINES, steps: int = 3) -> None:
        super().__init__(spec)
        self.closed: list[str] = []
        self.scheduler.settle(1)
        for _ in range(40):
            self.boundary()
            if self.scheduler.open is not None:
                break
        for _ in range(steps):
            self.boundary()

    def boundary(self) -> None:
        self.steps(1)
        self.scheduler.boundary(self.step, 100_000_000, False)

    def close_window(self, name: str) -> None:
        self.closed.append(name)

    def after(self, ns: int) -> None:
        self.by_time.tick(now_ns() + ns, get_ident())


def test_a_window_of_steps_is_closed_once_none_comes() -> None:
    run = Late()
    run.after(length_ns(LINES) - NS_PER_S)
    assert run.closed == [] and run.scheduler.open == LINES
    run.after(length_ns(LINES) + NS_PER_S)
    assert run.closed == ["lines"] and run.scheduler.open is None


def test_a_window_with_too_few_steps_waits_longer() -> None:
    run = Late(steps=1)
    run.after(2 * length_ns(LINES))
    assert run.closed == []
    run.after(6 * length_ns(LINES))
    assert run.closed == ["lines"]


def test_a_window_of_a_given_length_waits_for_its_steps() -> None:
    run = Late(WindowSpec("lines", count=30))
    run.after(100 * length_ns(LINES))
    assert run.closed == []
