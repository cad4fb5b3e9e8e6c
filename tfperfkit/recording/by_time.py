"""Which windows are given by time: all that are to come where there is no step; after steps those that wish another.
A window that steps opened is closed by time if no further step comes: it slows what follows the training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tfperfkit.clock import now_ns
from tfperfkit.recording.schedule import FIRST_PATIENCE_NS, PATIENCE_NS, STEPS_ENDED, Scheduler, WindowSpec
from tfperfkit.recording.timed_windows import Points, Stepless, length_ns
from tfperfkit.records.steps import WARMUP_MIN

#: A window with too few steps waits so many times as long for another one: an epoch's validation may come in between.
_TOO_FEW = 5


class Windows(Protocol):
    """Who opens them at the probes: ``probe_runner.Probing``."""

    @property
    def in_window(self) -> bool: ...
    def open_window(self, name: str, steps: int | None, *, after_steps: bool = ..., again: bool = ...) -> bool: ...
    def close_window(self, name: str) -> None: ...


class ByTime:
    """Between the session, which tells of steps and of TensorFlow's work, and ``Stepless``, which finds the moment.

    ``step`` gives the number of the step that runs, 0 before the first; ``ended`` whether recording has ended.
    """

    def __init__(self, points: Points, windows: Windows, step: Callable[[], int], ended: Callable[[], bool]) -> None:
        self._windows, self._step, self._ended = windows, step, ended
        self._scheduler = Scheduler(())
        self._again: list[WindowSpec] = []
        self._early: list[WindowSpec] = []  # given before there was a step, of those that may come twice
        self._longest_ns = self._stepped_ns = 0
        self._moments = Stepless(points, self._open, self._close)

    def plan(self, scheduler: Scheduler) -> None:
        """``scheduler`` gives the windows by steps; what it has left, is given by time."""
        self._scheduler = scheduler
        self._again = [window for window in scheduler.waiting if window.wish.after_steps]

    def step(self, last_step_ns: int, traced: bool) -> None:
        """Note that a step begins; the one before took ``last_step_ns``, and traced a function or not."""
        self._stepped_ns = now_ns()
        if not traced:
            self._longest_ns = max(self._longest_ns, last_step_ns)
        self._moments.step()
        while self._early:
            self._scheduler.give_back(self._early.pop())

    def passed(self) -> None:
        """Steps have passed, of which nobody had to hear."""
        self._moments.passed()

    def worked(self, ns: int) -> None:
        """TensorFlow worked for so long, and there was no step."""
        self._moments.worked(ns)

    def tick(self, now: int, thread: int) -> bool:
        """Return whether a window was asked for just now, to open on ``thread``, which drives TensorFlow."""
        spec = self._scheduler.open
        if spec is not None and spec.count is None and now - self._stepped_ns > self._until_ended_ns(spec):
            self._moments.end_early(spec, now, thread)
        due = () if self._windows.in_window else self._due()
        return self._moments.tick(now, due, thread, self._patience_ns(due)) is not None

    def _patience_ns(self, due: Sequence[WindowSpec]) -> int:
        """After an early window the others come later: as much of the work as before stays without one."""
        if self._step():
            return max(PATIENCE_NS, STEPS_ENDED * self._longest_ns)
        if self._early:
            return PATIENCE_NS + FIRST_PATIENCE_NS
        return FIRST_PATIENCE_NS if due and due[0].wish.after_steps else PATIENCE_NS

    def _until_ended_ns(self, spec: WindowSpec) -> int:
        """Return how long after the last step a window of steps stays open: as long as if it had opened by time."""
        factor = _TOO_FEW if self._scheduler.steps_inside < spec.wish.min_slow_steps else 1
        return factor * max(length_ns(spec), STEPS_ENDED * self._longest_ns)

    def _close(self, probe: str) -> None:
        open_ = self._scheduler.open
        if open_ is not None and open_.probe == probe:
            self._scheduler.end_early()
        self._windows.close_window(probe)

    def finish(self) -> None:
        """Recording ends: what the pulse opens or closes just now comes first."""
        self._moments.finish()

    def unopened(self, now: int) -> tuple[Sequence[WindowSpec], int]:
        """Return the windows that were due and found no point to open at, and for how many ns the first was asked
        for."""
        waited = self._moments.waited_ns(now)
        return (self._scheduler.waiting if waited else ()), waited

    def _due(self) -> tuple[WindowSpec, ...]:
        step = self._step()
        if 0 < step <= WARMUP_MIN:  # no telling how long one takes
            return ()
        waiting = self._scheduler.waiting
        if not step and not self._early:  # what tells most of compiled functions comes first: samples tell the lines
            waiting = tuple(sorted(waiting, key=lambda window: not window.wish.after_steps))
        return (*waiting, *(self._again if step else ()))

    def _open(self, spec: WindowSpec) -> None:
        """On the thread that drives TensorFlow, where nothing of it is under way."""
        if self._ended() or spec not in self._due():
            return
        again = spec not in self._scheduler.waiting
        self._scheduler.give_up(spec)
        if not self._step() and spec.wish.after_steps:
            self._early.append(spec)
        self._again = [window for window in self._again if window.probe != spec.probe]
        self._windows.open_window(spec.probe, None, after_steps=self._step() > 0, again=again)
