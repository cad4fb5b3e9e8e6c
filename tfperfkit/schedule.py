"""The schedule of windows: which steps belong to warm-up, to the clean baseline, to each invasive probe.

Pure: it is told of each step boundary and answers what to close and open. Windows are short in steps and in time,
so that a run of twenty slow steps gets all of them and a run of fast steps measures enough of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from tfperfkit.clock import NS_PER_S
from tfperfkit.errors import UsageError

#: Warm-up lasts at least 2 steps (the first traces, the second may trace again for variable creation) and goes on
#: while steps trace, but no longer than 10: a script that retraces for ever is measured as it is.
WARMUP_LEAST, WARMUP_MOST = 2, 10
#: A script that has kept TensorFlow at work for this long and shows no step gets its windows by time. Preparing data,
#: tracing and compiling don't count.
PATIENCE_NS = 8 * NS_PER_S
TIME_WINDOW_NS = 2 * NS_PER_S


class WindowSpec(msgspec.Struct, frozen=True):
    """A window that was asked for: ``start`` (from 1) and ``count`` in steps, None to be chosen; ``whole`` run."""

    probe: str
    start: int | None = None
    count: int | None = None
    whole: bool = False


def parse_window(text: str) -> WindowSpec:
    """``PROBE=START:COUNT``, ``PROBE=:COUNT``, ``PROBE=COUNT`` or ``PROBE=all``; raises UsageError."""
    probe, separator, value = text.partition("=")
    if separator and probe and value == "all":
        return WindowSpec(probe, whole=True)
    start, colon, count = value.rpartition(":")
    try:
        spec = WindowSpec(probe, int(start) if start else None, int(count) if count else None)
    except ValueError:
        spec = WindowSpec("")
    if not spec.probe or (spec.start is not None and spec.start < 1) or spec.count is None or spec.count < 1:
        raise UsageError(f"--window takes PROBE=START:COUNT or PROBE=all, not {text!r}")
    return spec


def default_count(probe: str, median_ns: float) -> int:
    """How many steps a window should last: half a second for exact lines, a third for the trace (which grows by some
    100 KB a step and whose first and last step XProf drops); never so many that a run of 100 steps gets none."""
    if probe == "tfprof":
        return min(max(math.ceil(0.3 * NS_PER_S / median_ns), 3), 20) + 2
    least = 2 if median_ns >= NS_PER_S else 3
    return min(max(math.ceil(0.5 * NS_PER_S / median_ns), least), 40)


def baseline_count(median_ns: float) -> int:
    """How many clean steps come before the first invasive window: a third of a second's worth, 3 to 30 steps."""
    least = 2 if median_ns >= NS_PER_S else 3
    return min(max(math.ceil(0.3 * NS_PER_S / median_ns), least), 30)


class Action(msgspec.Struct, frozen=True):
    """What to do at a boundary: close or open a probe's window. ``steps`` is the planned length."""

    kind: str  # "open" or "close" or "warm" (warm-up is over)
    probe: str = ""
    steps: int | None = None


class Scheduler:
    """Answers at each step boundary. ``windows`` are in the order in which they should come."""

    def __init__(self, windows: Sequence[WindowSpec]) -> None:
        self._waiting = [window for window in windows if not window.whole]
        self._open: WindowSpec | None = None
        self._close_at = 0
        self._durations: list[int] = []
        self._settled_at = 0
        self.warm_at = 0  # the first step after warm-up; 0 while warm

    @property
    def waiting(self) -> tuple[WindowSpec, ...]:
        return tuple(self._waiting)

    @property
    def idle(self) -> bool:
        """Nothing is open, nothing is to come, and the warm-up is over."""
        return not self._waiting and self._open is None and self.warm_at > 0

    def give_up(self, window: WindowSpec) -> None:
        """The window is given by time instead: no step was seen."""
        self._waiting.remove(window)

    def boundary(self, number: int, last_step_ns: int, traced: bool) -> list[Action]:
        """The step ``number`` is about to begin; the one before took ``last_step_ns`` and ``traced`` or did not."""
        actions: list[Action] = []
        if self._open is not None:
            if number < self._close_at:
                return []
            actions.append(Action("close", self._open.probe))
            self._open = None
            self._settled_at = number + 1
            if self._waiting:
                self._settled_at = number  # windows may follow each other
        elif self.warm_at == 0:
            done = number - 1
            if done >= WARMUP_LEAST and (not traced or done >= WARMUP_MOST):
                self.warm_at = number
                actions.append(Action("warm"))
        elif last_step_ns > 0 and number > self._settled_at:
            self._durations.append(last_step_ns)
            del self._durations[:-50]
        spec = self._due(number)
        if spec is not None:
            self._waiting.remove(spec)
            self._open = spec
            count = spec.count or default_count(spec.probe, self._median())
            self._close_at = number + count
            actions.append(Action("open", spec.probe, count))
        return actions

    def _due(self, number: int) -> WindowSpec | None:
        for spec in self._waiting:
            if spec.start is not None and number >= spec.start:
                return spec
        for spec in self._waiting:
            if spec.start is None:
                ready = self.warm_at and len(self._durations) >= baseline_count(self._median())
                return spec if ready else None
        return None

    def _median(self) -> float:
        ordered = sorted(self._durations)
        return float(ordered[len(ordered) // 2]) if ordered else 0.1 * NS_PER_S
