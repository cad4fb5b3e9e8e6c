"""Windows by time: asked for by the pulse, opened and closed by the thread that drives TensorFlow, where it may be."""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Callable

from tfperfkit.clock import now_ns
from tfperfkit.probe import WindowWish
from tfperfkit.recording.schedule import PATIENCE_NS, WindowSpec
from tfperfkit.recording.timed_windows import Stepless, length_ns, no_point

LINES, TFPROF = WindowSpec("lines"), WindowSpec("tfprof")
TIME_WINDOW_NS = length_ns(LINES)
#: One that any thread may open, and for how long it waits for a point all the same.
ANYWHERE, WAITED_NS = WindowSpec("tfprof", wish=WindowWish(any_thread=True)), 1_000_000_001


class Points:
    """Keeps the action; ``pass_by`` is the thread at a safe point."""

    def __init__(self) -> None:
        self.action: Callable[[], object] | None = None
        self.thread = self.knocks = 0

    def at_next(self, action: Callable[[], object], thread: int) -> None:
        assert self.action is None
        self.action, self.thread = action, thread

    def withdraw(self) -> bool:
        withdrawn, self.action = self.action is not None, None
        return withdrawn

    def knock(self) -> None:
        self.knocks += 1

    def pass_by(self) -> None:
        action, self.action = self.action, None
        assert action is not None
        action()


class Windows:
    def __init__(self) -> None:
        self.points = Points()
        self.done: list[str] = []
        self.stepless = Stepless(
            self.points,
            open=lambda spec: self.done.append(f"open {spec.probe}"),
            close=lambda name: self.done.append(f"close {name}"),
        )
        self.stepless.worked(PATIENCE_NS + 1)

    def tick(self, now: int, *waiting: WindowSpec) -> WindowSpec | None:
        return self.stepless.tick(now, waiting, get_ident(), PATIENCE_NS)


def test_patience_first_and_no_window_that_wants_a_step_of_its_own() -> None:
    windows = Windows()
    impatient = Stepless(windows.points, windows.done.append, windows.done.append)
    impatient.worked(PATIENCE_NS)
    assert impatient.tick(0, [LINES], get_ident(), PATIENCE_NS) is None
    assert windows.tick(0, WindowSpec("lines", 5, 3)) is None
    assert windows.points.action is None


def test_windows_come_one_after_another_each_at_a_point() -> None:
    windows = Windows()
    assert windows.tick(0, LINES, TFPROF) == LINES
    assert windows.tick(10 * TIME_WINDOW_NS, LINES, TFPROF) is None  # asked for once, and not open yet
    assert windows.done == [] and windows.stepless.waited_ns(7) == 7
    windows.points.pass_by()
    opened = now_ns()
    assert windows.done == ["open lines"] and windows.stepless.waited_ns(7) == 0
    assert windows.tick(opened, TFPROF) is None and windows.points.action is None
    assert windows.tick(opened + TIME_WINDOW_NS, TFPROF) is None  # asks for the end
    assert windows.done == ["open lines"] and windows.points.knocks == 0
    assert windows.tick(opened + TIME_WINDOW_NS, TFPROF) is None and windows.points.knocks == 1  # it is overdue
    windows.points.pass_by()
    assert windows.done == ["open lines", "close lines"]
    assert windows.tick(opened + TIME_WINDOW_NS, TFPROF) == TFPROF


def test_a_step_takes_back_what_was_asked_for() -> None:
    windows = Windows()
    windows.tick(0, LINES)
    late = windows.points.action
    windows.stepless.step()
    assert windows.points.action is None and late is not None
    late()  # taken by the other thread at the very moment
    assert windows.done == [] and windows.stepless.waited_ns(9) == 0


def test_a_step_ends_the_window_on_the_thread_that_opened_it() -> None:
    windows = Windows()
    windows.tick(0, LINES)
    windows.points.pass_by()
    training = threading.Thread(target=windows.stepless.step)
    training.start()
    training.join()
    assert windows.done == ["open lines"] and windows.points.thread == get_ident()
    windows.points.pass_by()
    assert windows.done == ["open lines", "close lines"]


def test_a_step_on_the_same_thread_ends_it_at_once() -> None:
    windows = Windows()
    windows.tick(0, LINES)
    windows.points.pass_by()
    windows.tick(now_ns() + TIME_WINDOW_NS)  # the end has been asked for
    windows.stepless.step()
    windows.stepless.step()
    assert windows.done == ["open lines", "close lines"] and windows.points.action is None


def test_why_there_was_no_window() -> None:
    assert no_point(3_210_000_000).startswith("not opened: for the 3.2 s in which it was due")


def test_patience_begins_anew_with_each_step_and_may_be_longer() -> None:
    windows = Windows()
    windows.stepless.passed()
    assert windows.tick(0, LINES) is None
    windows.stepless.worked(PATIENCE_NS + 1)
    assert windows.stepless.tick(0, [LINES], get_ident(), 2 * PATIENCE_NS) is None
    assert windows.tick(0, LINES) == LINES


def test_within_a_long_call_the_pulse_opens_and_closes_what_any_thread_may() -> None:
    windows = Windows()
    windows.tick(0, ANYWHERE)
    windows.tick(WAITED_NS - 1, LINES)
    assert windows.done == [] and windows.points.action is not None
    windows.tick(WAITED_NS, LINES)
    assert windows.done == ["open tfprof"] and windows.points.action is None
    assert windows.stepless.waited_ns(9) == 0
    windows.tick(now_ns(), LINES)
    assert windows.done == ["open tfprof"]
    windows.tick(now_ns() + TIME_WINDOW_NS, LINES)
    assert windows.done == ["open tfprof", "close tfprof"] and windows.points.knocks == 0
    assert windows.tick(0, LINES) == LINES


def test_what_belongs_to_the_thread_of_tensorflow_waits_on() -> None:
    windows = Windows()
    windows.tick(0, LINES)
    windows.tick(100 * WAITED_NS)
    assert windows.done == [] and windows.points.action is not None


def test_a_window_within_a_call_ends_with_the_tick_after_a_step() -> None:
    windows = Windows()
    windows.tick(0, ANYWHERE)
    windows.tick(WAITED_NS)
    training = threading.Thread(target=windows.stepless.step)
    training.start()
    training.join()
    assert windows.done == ["open tfprof"] and windows.points.action is None
    windows.tick(0)
    assert windows.done == ["open tfprof", "close tfprof"]


def test_a_point_that_is_just_passed_comes_first() -> None:
    windows = Windows()
    windows.tick(0, ANYWHERE)
    taken, windows.points.action = windows.points.action, None  # by the thread at the point
    windows.tick(WAITED_NS)
    assert windows.done == [] and taken is not None
    taken()
    assert windows.done == ["open tfprof"]


def test_what_was_opened_at_a_point_is_closed_by_the_pulse_where_none_comes_again() -> None:
    windows = Windows()
    windows.tick(0, ANYWHERE)
    windows.points.pass_by()
    ends = now_ns() + length_ns(ANYWHERE)
    windows.tick(ends)  # asks for the end
    windows.tick(ends + 1)
    assert windows.done == ["open tfprof"] and windows.points.knocks == 1
    windows.tick(ends + WAITED_NS)
    assert windows.done == ["open tfprof", "close tfprof"] and windows.points.action is None


def test_a_window_of_steps_ends_at_the_next_point_unless_a_step_comes() -> None:
    windows = Windows()
    windows.stepless.end_early(TFPROF, 0, get_ident())
    windows.stepless.step()  # it was only late
    assert windows.points.action is None and windows.done == []
    windows.stepless.end_early(LINES, 0, get_ident())
    windows.tick(0)
    assert windows.points.knocks == 1
    windows.points.pass_by()
    assert windows.done == ["close lines"]
