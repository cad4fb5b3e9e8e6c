"""Windows by time, for a script that keeps TensorFlow at work and shows no step, or none any more."""

from __future__ import annotations

import functools
import threading
from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Protocol

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.recording.schedule import WindowSpec

#: For so long a window waits for the thread that drives TensorFlow, before one that any thread may open opens within
#: the operation that this is in: most scripts pass a point a thousand times as often.
_WITHIN_NS = NS_PER_S
#: How long that lasts, to the next tick: a loop of small operations leaves a million events a second, and writing them
#: takes one of the script's processors for longer than they took.
_LASTS_NS = NS_PER_S // 2
#: A trace of a long call may take seconds to write; the end of recording waits for it.
_WRITTEN_S = 60.0


class Points(Protocol):
    """Seam calls at which windows may open and close: ``instruments.hooks.safe_points``."""

    def at_next(self, action: Callable[[], object], thread: int, /) -> None: ...
    def withdraw(self) -> bool: ...
    def knock(self) -> None: ...


def length_ns(spec: WindowSpec) -> int:
    """Return how long a window by time lasts, as its probe wishes."""
    return round(spec.wish.seconds_without_steps * NS_PER_S)


class _Window:
    """One that was asked for; ``thread`` opened it (0: nobody has yet), ``end_ns`` is set once it is open. ``within``:
    by the pulse, within a call of the script's. ``by_steps``: steps opened it, and none ended it."""

    def __init__(self, spec: WindowSpec, asked_ns: int, thread: int = 0, *, by_steps: bool = False) -> None:
        self.spec = spec
        self.asked_ns = asked_ns
        self.thread = thread
        self.by_steps = by_steps
        self.end_ns: int | None = None
        self.ending = self.within = False


class Stepless:
    """Told of the time in which TensorFlow worked, it asks for windows and for their ends, from the pulse. ``open`` and
    ``close`` get them on the thread that drives TensorFlow, at a point where nothing of it is under way; where it comes
    to none, since it is within one long call, and any thread may open the window, on the pulse's."""

    def __init__(self, points: Points, open: Callable[[WindowSpec], object], close: Callable[[str], object]) -> None:
        self._points = points
        self._open_window, self._close_window = open, close
        self._worked_ns = 0
        self._window: _Window | None = None  # set and read once at a time: two threads do
        self._pulse_at_it = threading.RLock()

    def worked(self, ns: int) -> None:
        """TensorFlow worked for so long, and there was no step."""
        self._worked_ns += ns

    def tick(self, now: int, waiting: Sequence[WindowSpec], thread: int, patience_ns: int) -> WindowSpec | None:
        """Ask for what is due; the window that was asked for now. ``waiting``: those that may open, on ``thread``, once
        TensorFlow has worked for longer than ``patience_ns`` since the last step."""
        window = self._window
        if window is not None:
            if not window.thread and window.spec.wish.any_thread and now - window.asked_ns > _WITHIN_NS:
                self._begin_within(window)
            else:
                self._maybe_end(window, now)
            return None
        spec = next((spec for spec in waiting if spec.start is None), None)
        if spec is None or self._worked_ns <= patience_ns:
            return None
        self._window = window = _Window(spec, now)
        self._points.at_next(functools.partial(self._begin, window), thread)
        return spec

    def end_early(self, spec: WindowSpec, now: int, thread: int) -> None:
        """Close a window that steps opened on ``thread``, for none comes any more."""
        if self._window is None:
            self._window = window = _Window(spec, now, thread, by_steps=True)
            self._ask_end(window)

    def step(self) -> None:
        """End what is open by time, for a step has come. A window that steps opened goes on."""
        self.passed()
        window = self._window
        if window is None:
            return
        if not window.thread or window.by_steps:
            self._window = None
            self._points.withdraw()
        elif window.thread == get_ident():
            self._points.withdraw()
            self._end(window)
        elif not window.ending:
            self._ask_end(window)

    def passed(self) -> None:
        """Steps have passed, of which nobody had to hear."""
        self._worked_ns = 0

    def waited_ns(self, now: int) -> int:
        """Return how long a window has been asked for in vain; 0 if none is."""
        window = self._window
        return now - window.asked_ns if window is not None and not window.thread else 0

    def finish(self) -> None:
        """Nothing of the pulse's is under way afterwards, unless it takes longer than a minute."""
        if self._pulse_at_it.acquire(timeout=_WRITTEN_S):
            self._pulse_at_it.release()

    def _begin_within(self, window: _Window) -> None:
        with self._pulse_at_it:
            if self._points.withdraw():
                window.within = True
                self._begin(window)
                if self._window is not window:  # a step came meanwhile, which saw nothing open yet
                    self._close_window(window.spec.probe)

    def _end_beside(self, window: _Window) -> None:
        """It has opened at a point, and none came since: a long call began there, or TensorFlow was left."""
        with self._pulse_at_it:
            if self._points.withdraw():
                self._end(window)

    def _end_within(self, window: _Window) -> None:
        with self._pulse_at_it:
            self._end(window)

    def _maybe_end(self, window: _Window, now: int) -> None:
        if window.within:
            if window.ending or (window.end_ns is not None and now >= window.end_ns):
                self._end_within(window)
        elif window.ending:  # since the last tick: the script may have left TensorFlow for long
            if window.spec.wish.any_thread and window.end_ns is not None and now - window.end_ns > _WITHIN_NS:
                self._end_beside(window)
            else:
                self._points.knock()
        elif window.end_ns is not None and now >= window.end_ns:
            self._ask_end(window)

    def _ask_end(self, window: _Window) -> None:
        window.ending = True
        if window.within:
            return  # the next tick does it
        self._points.at_next(functools.partial(self._end, window), window.thread)

    def _begin(self, window: _Window) -> None:
        if self._window is not window:  # a step came first
            return
        window.thread = get_ident()
        try:
            self._open_window(window.spec)
        finally:
            window.end_ns = now_ns() + (_LASTS_NS if window.within else length_ns(window.spec))

    def _end(self, window: _Window) -> None:
        if self._window is not window:
            return
        try:
            self._close_window(window.spec.probe)
        finally:
            self._window = None


def no_point(waited_ns: int) -> str:
    """Return why a window was never opened, for the report."""
    return (
        f"not opened: for the {waited_ns / NS_PER_S:.1f} s in which it was due, the main thread was always within an "
        "operation"
    )
