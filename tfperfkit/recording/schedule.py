"""The schedule of windows: which steps belong to warm-up, to the clean baseline, to each invasive probe.

Pure: it hears of each step boundary and answers what to close and open. Windows are short in steps and in time,
so that a run of twenty slow steps gets all of them and a run of fast steps measures enough of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from tfperfkit.clock import NS_PER_S
from tfperfkit.errors import UsageError
from tfperfkit.probe import WindowWish
from tfperfkit.records.steps import IN_ONE_CALL, WARMUP_MIN

#: Warm-up lasts at least 2 steps (the first traces, the second may trace again for variable creation) and goes on
#: while steps trace, but no longer than 10: a script that retraces for ever is measured as it is.
WARMUP_MAX = 10
#: A script that has kept TensorFlow at work for this long, and showed no step, or none any more, gets its windows by
#: time: sooner where there was none, for many scripts take but seconds. Preparing data, tracing and compiling don't
#: count.
PATIENCE_NS = 5 * NS_PER_S
FIRST_PATIENCE_NS = 2 * NS_PER_S
#: Steps have ended where none came for as long as so many of the longest.
STEPS_ENDED = 3
#: How long a window of one of several ranks is, in steps, within what its probe takes: enough of fast steps, not too
#: much of slow ones, for what a step takes is not asked.
TOGETHER = 10
#: Maximum number of times that a window which could not open is postponed (about 60x the initial step count).
MAX_PUT_OFF = 10
#: From this length on a step is slow: a window and the baseline make do with fewer.
SLOW_NS = NS_PER_S


class WindowSpec(msgspec.Struct, frozen=True):
    """A window that was asked for: ``start`` (from 1) and ``count`` in steps, None to be chosen as the probe wishes;
    the ``whole`` run; ``never``: none at all."""

    probe: str
    start: int | None = None
    count: int | None = None
    whole: bool = False
    never: bool = False
    wish: WindowWish = WindowWish()


def parse_window(text: str) -> WindowSpec:
    """``PROBE=START:COUNT``, ``PROBE=:COUNT``, ``PROBE=COUNT``, ``PROBE=all``, ``PROBE=none`` or ``PROBE=auto`` (where
    tfperf would put it); raises UsageError."""
    probe, separator, value = text.partition("=")
    if separator and probe and value in ("all", "none", "auto"):
        return WindowSpec(probe, whole=value == "all", never=value == "none")
    start, colon, count = value.rpartition(":")
    try:
        spec = WindowSpec(probe, int(start) if start else None, int(count) if count else None)
    except ValueError:
        spec = WindowSpec("")
    if not spec.probe or (spec.start is not None and spec.start < 1) or spec.count is None or spec.count < 1:
        raise UsageError(f"--window takes PROBE=START:COUNT, PROBE=all, none or auto, not {text!r}")
    return spec


def wished_count(wish: WindowWish, median_ns: float) -> int:
    """Return how many steps a window should last, when the median step takes so long."""
    lower = wish.min_slow_steps if median_ns >= SLOW_NS else wish.min_steps
    return max(min(max(math.ceil(wish.seconds * NS_PER_S / median_ns), lower), wish.max_steps) + wish.extra_steps, 1)


def baseline_count(median_ns: float) -> int:
    """Return how many clean steps come before the first invasive window: a third of a second's worth, 3 to 30 steps."""
    lower = 2 if median_ns >= SLOW_NS else 3
    return min(max(math.ceil(0.3 * NS_PER_S / median_ns), lower), 30)


def planned_together(windows: Sequence[WindowSpec]) -> list[WindowSpec]:
    """Return the windows of one of several ranks, at steps that follow from the list alone: all ranks that are given
    the same list open them at the same steps, however fast they are and whatever they trace.

    The first begins when the warm-up must be over. Each has its place, also where it is left out (``never``), for on
    another rank it may not be. One that was asked for by number stays there.
    """
    planned = []
    begin = WARMUP_MAX + 2
    for window in windows:
        wish = window.wish
        usual = max(min(max(TOGETHER, wish.min_steps), wish.max_steps) + wish.extra_steps, 1)
        count = window.count or usual
        if window.start is not None or window.whole:
            planned.append(window)
            continue
        planned.append(msgspec.structs.replace(window, start=begin, count=count))
        begin += count
    return planned


class Action(msgspec.Struct, frozen=True):
    """Action at a boundary: close or open a probe's window. ``steps`` is the planned length."""

    kind: str  # "open" or "close" or "warm" (warm-up is over)
    probe: str = ""
    steps: int | None = None


class Scheduler:
    """Answers at each step boundary. ``windows`` are in the order in which they should come."""

    def __init__(self, windows: Sequence[WindowSpec]) -> None:
        self._waiting = [window for window in windows if not window.whole and not window.never]
        self._open: WindowSpec | None = None
        self._open_at = self._close_at = 0
        self._durations: list[int] = []
        self._put_off = 0
        self._settled_at = 0
        self._number = self._together = 0  # the last boundary's, and how many steps came with it
        self.warm_at = 0  # the first step after warm-up; 0 while warm

    @property
    def waiting(self) -> tuple[WindowSpec, ...]:
        return tuple(self._waiting)

    @property
    def idle(self) -> bool:
        """Nothing is open, nothing is to come, and the warm-up is over."""
        return not self._waiting and self._open is None and self.warm_at > 0

    @property
    def open(self) -> WindowSpec | None:
        """The window that steps opened and that waits for its last step."""
        return self._open

    @property
    def steps_inside(self) -> int:
        """Return how many steps of the open window are complete."""
        return self._number - self._open_at

    def end_early(self) -> None:
        """The open window is closed before its last step: none comes any more."""
        self._open, self._settled_at = None, self._number + 1

    def settle(self, number: int) -> None:
        """The warm-up has long been over, when step ``number`` begins."""
        self.warm_at = number

    def give_up(self, window: WindowSpec) -> None:
        """The window is given by time instead: no step was seen, or none comes any more. None if it was given."""
        if window in self._waiting:
            self._waiting.remove(window)

    def give_back(self, window: WindowSpec) -> None:
        """It was given by time, and there are steps now."""
        if window not in self._waiting:
            self._waiting.append(window)

    def put_off(self, number: int) -> None:
        """The window that was to open at step ``number`` could not: it comes when half as many steps more have run, and
        so on, a few times.
        """
        spec, self._open = self._open, None
        if spec is not None and not spec.whole and self._put_off < MAX_PUT_OFF:
            self._put_off += 1
            self._waiting.append(msgspec.structs.replace(spec, start=number + max(number // 2, 1)))

    def boundary(self, number: int, last_step_ns: int, traced: bool) -> list[Action]:
        """The step ``number`` is about to begin; the one before took ``last_step_ns`` and ``traced`` or did not."""
        actions: list[Action] = []
        self._number, self._together = number, number - self._number
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
            if done >= WARMUP_MIN and (not traced or done >= WARMUP_MAX):
                self.warm_at = number
                actions.append(Action("warm"))
        elif last_step_ns > 0 and number > self._settled_at:
            self._durations.append(last_step_ns)
            del self._durations[:-50]
        spec = self._due(number)
        if spec is not None:
            self._waiting.remove(spec)
            self._open = spec
            count = spec.count or wished_count(spec.wish, self._median())
            self._open_at, self._close_at = number, number + count
            actions.append(Action("open", spec.probe, count))
        return actions

    def _due(self, number: int) -> WindowSpec | None:
        for spec in self._waiting:
            if spec.start is not None and number >= spec.start:
                return spec
        waiting = [spec for spec in self._waiting if spec.start is None]
        lower = baseline_count(self._median())
        if self._median() >= SLOW_NS and self._together >= IN_ONE_CALL:
            # An epoch in one call: few more may come. Only a trace sees into it, and one call is a baseline of many
            # steps.
            waiting.sort(key=lambda spec: not spec.wish.after_steps)
            lower = 1
        return waiting[0] if waiting and self.warm_at and len(self._durations) >= lower else None

    def _median(self) -> float:
        ordered = sorted(self._durations)
        return float(ordered[len(ordered) // 2]) if ordered else 0.1 * NS_PER_S
