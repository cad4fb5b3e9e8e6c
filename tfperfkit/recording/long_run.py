"""Watch mode in the script's process: no window until somebody asks for one, and files and memory that don't grow.

Kept are: the first records and those of the last minutes in full (``storage.ring``), a row for each minute, a row for
each few seconds for the parent, which looks for changes and asks for windows by a file (``tfperfkit.watching``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns, wall_s
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.contention import all_threads_ns
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.instruments.memory.process import Resident
from tfperfkit.recording.stretch_counter import Minutes, StretchCounter
from tfperfkit.recording.window_run import WindowOwner, WindowRun
from tfperfkit.records.history import (
    ANSWER,
    ASKED,
    ASKED_FOR,
    BLOCKS,
    DETAILS,
    Answer,
    Asked,
    Stretch,
    WatchPlan,
    joined,
)
from tfperfkit.records.samples import FAST_S, NEAR_NS
from tfperfkit.records.step_cutter import StepCutter
from tfperfkit.records.steps import Definition, Marker
from tfperfkit.storage.ring import Ring, RingStream
from tfperfkit.storage.stream_set import Streams

#: Maximum size of each stream that is not in the ring.
MAX_STREAM_BYTES = 3 * 1024 * 1024
#: The files of the ring: these, and the first one.
_SEGMENTS = 6
_BLOCK_BYTES = 256 * 1024
MAX_STACKS = 2000
_MINUTE_NS = 60 * NS_PER_S
_RECENT = 4096  # markers, for the steps before a window
#: Seconds between two samples, while the run is young and then; and between two writes.
_YOUNG_NS = 600 * NS_PER_S
_YOUNG_S, _OLD_S = 0.2, 1.0
#: In the first minute, whose steps are kept for good and are what later ones are compared with; of very short ones the
#: first file of the ring has no more than seconds.
_FIRST_NS, _FIRST_S = 60 * NS_PER_S, 0.05
_FLUSH_NS = 2 * NS_PER_S


class LongSession(WindowOwner, Protocol):
    """Session as its long run uses it."""

    @property
    def definition(self) -> Definition | None: ...
    def is_fetch(self, site: int) -> bool: ...
    @property
    def traces(self) -> tuple[int, int]: ...
    @property
    def ours_ns(self) -> int: ...
    def window_begins(self) -> None: ...


class LongRun:
    """Of one session. ``append`` is given each marker, ``sampled`` each row of the sampler, on one thread at a time;
    ``tick`` is called by the pulse, ``boundary`` by the training thread, if a window's run is under way."""

    def __init__(self, session: LongSession, plan: WatchPlan, streams: Streams) -> None:
        self._session, self._plan, self._streams = session, plan, streams
        path = session.run.path
        self.steps = self._last_step_ns = 0
        self._marked_ns = now_ns()  # the end of the last marker that came in
        self._cutter: StepCutter | None = None
        size = round(plan.details_mb * 1024 * 1024 / (_SEGMENTS + 1))
        self._details = Ring(path / DETAILS, size, _SEGMENTS, head=self._head)
        self._blocks = Ring(path / BLOCKS, _BLOCK_BYTES, 2, pinned=False)
        self._minutes = Minutes(path)
        self._markers = self._details.stream("session/markers")
        self._samples = self._details.stream("session/samples")
        self._rows = self._blocks.stream("session/blocks")
        self._recent: deque[Marker] = deque(maxlen=_RECENT)
        self._definition: Definition | None = None
        self._doing: dict[int, str] = {}  # activity by stack
        self._begun = now_ns()
        self.flush_ns = min(_FLUSH_NS, round(plan.block_s * NS_PER_S))  # between two writes
        self._block = StretchCounter(self._begun)
        self._minute: list[Stretch] = []
        self._traces, self._ours = (0, 0), 0
        self._spent_ns = self._closed_ns = 0
        self._expected_ns = NS_PER_S
        self._number = 0
        self._together = session.manifest.rank is not None
        self._threads = all_threads_ns() if self._together else None
        self.window: WindowRun | None = None
        try:
            self._resident: Callable[[], int] = self._reader(Resident())
        except Unavailable:
            self._resident = lambda: 0

    @staticmethod
    def _reader(resident: Resident) -> Callable[[], int]:
        return lambda: resident.read()[0]

    def ring(self, name: str) -> RingStream:
        """Return a stream of which the first and the last records are kept."""
        return self._details.stream(name)

    def _head(self) -> list[Any]:
        """Return the head for each file of the ring: when the last marker before it ended, and how many steps came
        before.

        Not when the file was made: markers that are on their way are older than that, and come in this file. Nor the
        steps that were counted: the last one may be open until the next begins.
        """
        cutter = self._cutter
        return [self._marked_ns, self.steps if cutter is None else cutter.next_number - 1]

    # --- what comes in --------------------------------------------------------------------------------------------

    def append(self, marker: Marker) -> None:
        """Append a marker, in order."""
        self._markers.append(marker)
        self._marked_ns = max(self._marked_ns, marker.end_ns)
        self._recent.append(marker)
        window = self.window
        if window is not None:
            window.markers.append(marker)
        definition = self._session.definition
        if definition is not None and definition != self._definition:
            self._define(definition)
        elif self._cutter is not None:
            self._feed(self._cutter, marker)

    def _define(self, definition: Definition) -> None:
        """Take a definition of a step that has become known, or known better.

        While all markers are at hand the steps are counted again: so they have the numbers that the report gives them.
        The periods keep what they had.
        """
        first, before = self._definition is None, self.steps
        self._definition, self._cutter = definition, StepCutter(definition)
        if first or len(self._recent) < _RECENT:
            self.steps = 0
            for known in self._recent:
                self._feed(self._cutter, known, counts=first)
        else:
            self._cutter.number = before + 1
            self._feed(self._cutter, self._recent[-1])

    def _feed(self, cutter: StepCutter, marker: Marker, counts: bool = True) -> None:
        step = cutter.feed(marker, self._session.is_fetch(marker.site))
        if step is not None:
            self.steps += step.count
            self._last_step_ns = step.end_ns
            if counts:
                self._block.durations.add(step.duration_ns, step.count)

    def sampled(self, row: Any) -> None:
        """Keep a row of the sampler: of stacks all are kept, of samples the first and the last."""
        if row[0] == "stack":
            self._doing[row[1]] = row[4]
            self._streams.session("samples").append(row)
        else:
            self._samples.append(row)
            if row[0] == "s":
                doing = self._doing.get(row[2], "")
                self._block.samples[doing] += 1
                if len(row) > 6 and doing == "graph" and row[1] - row[5] <= NEAR_NS:
                    self._block.computing(row[1] - row[5], row[4] - row[6])
        window = self.window
        if window is not None:
            window.samples.append(row)

    # --- the pulse ------------------------------------------------------------------------------------------------

    def pause_s(self, now: int) -> float | None:
        """Seconds to the next sample; None: as without watch mode, for a window."""
        if self.window is not None:
            return None
        age, pace = now - self._begun, self._plan.pace
        pause = _FIRST_S if age < _FIRST_NS * pace else _YOUNG_S if age < _YOUNG_NS * pace else _OLD_S
        return max(pause * pace, FAST_S)

    def tick(self, now: int) -> None:
        """Now and then, after the markers have been handed over."""
        if now - self._block.begin_ns >= self._plan.block_s * NS_PER_S:
            self._end_block(now)
        self._details.flush()
        self._blocks.flush()
        self._minutes.flush()
        window = self.window
        if window is not None:
            window.flush()
            if window.over(now):
                self._close_window(now)
        self._look(now)

    def _end_block(self, now: int) -> None:
        block, self._block = self._block, StretchCounter(now)
        traces, ours = self._session.traces, self._session.ours_ns
        block.windows = int(self.window is not None)
        made = block.close(
            now,
            wall_s(),
            self.steps,
            self._last_step_ns,
            traces[0] - self._traces[0],
            traces[1] - self._traces[1],
            self._resident(),
            ours - self._ours,
        )
        self._traces, self._ours = traces, ours
        self._rows.append(made)
        self._minute.append(made)
        if now - self._minute[0].begin_ns >= _MINUTE_NS * self._plan.pace:
            self._end_minute()

    def _end_minute(self) -> None:
        if self._minute:
            minute, self._minute = joined(self._minute), []
            before, self._threads = self._threads, all_threads_ns() if self._together else None
            if before is not None and self._threads is not None:  # threads that end take their times with them
                ran, ready = (max(new - old, 0) for new, old in zip(self._threads, before, strict=True))
                minute = msgspec.structs.replace(minute, ran_ns=ran, ready_ns=ready)
            self._minutes.append(minute)

    # --- windows --------------------------------------------------------------------------------------------------

    def _look(self, now: int) -> None:
        """Whether somebody asks for a window."""
        asked = self._asked()
        if asked is None:
            return
        refused = self._refusal(asked, now)
        window = ""
        if not refused:
            try:
                window = self._begin(asked, now)
            except Exception as error:  # a full disk, a folder that is gone
                refused = words_of(error)
        self._session.event("asked", why=asked.why, text=asked.text, ns=now, refused=refused, window=window)
        with suppress(OSError):
            self._session.run.write_json(ANSWER, Answer(id=asked.id, window=window, refused=refused))

    def _asked(self) -> Asked | None:
        path = self._session.run.path / ASKED
        if not path.exists():
            return None
        raw = self._session.run.read_json(ASKED)
        with suppress(OSError):
            path.unlink()
        try:
            return msgspec.convert(raw, Asked)
        except msgspec.ValidationError:
            return None

    def _refusal(self, asked: Asked, now: int) -> str:
        if self.window is not None:
            return "a window is open already"
        if asked.why in ASKED_FOR:
            return ""
        plan = self._plan
        if self._closed_ns and now - self._closed_ns < plan.cooldown_s * NS_PER_S:
            return f"the last window was less than {plan.cooldown_s:.0f} s ago"
        if self._spent_ns + self._expected_ns > plan.budget * (now - self._begun):
            return f"windows would take more than {100 * plan.budget:.1f} % of the time"
        return ""

    def _begin(self, asked: Asked, now: int) -> str:
        self._number += 1
        recent, definition = list(self._recent), self._session.definition
        counted = 0
        if definition is not None:
            cutter = StepCutter(definition)
            cutted = (cutter.feed(marker, self._session.is_fetch(marker.site)) for marker in recent)
            counted = sum(step.count for step in cutted if step is not None)
        window = WindowRun(self._session, self._number, asked, recent, max(self.steps - counted, 0))
        self.window = window
        self._session.window_begins()
        return window.name

    def _close_window(self, now: int) -> None:
        window, self.window = self.window, None
        if window is not None:
            window.finish(now)
            self._closed_ns = now
            self._spent_ns += window.spent_ns
            self._expected_ns = max(window.spent_ns, NS_PER_S // 10)

    # --- the end --------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Write what is left."""
        now = now_ns()
        self._close_window(now)
        self._end_block(now)
        self._end_minute()
        self._minutes.close()
        self._details.close()
        self._blocks.close()

    def discard(self) -> None:
        """In a forked child."""
        self._details.discard()
        self._blocks.discard()
        self._minutes.discard()
        window, self.window = self.window, None
        if window is not None:
            window.discard()
