"""Work of the pulse, on a thread of its own: it samples and, now and then, writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.stacks.activity import TENSORFLOW
from tfperfkit.instruments.stacks.busy_threads import BusyThreads
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.instruments.steps.markers import Markers
from tfperfkit.recording.boundaries import Boundaries
from tfperfkit.recording.by_time import ByTime
from tfperfkit.recording.long_run import LongRun
from tfperfkit.recording.precision import Precision
from tfperfkit.recording.probe_runner import Probing
from tfperfkit.recording.processor_time import PairedTime, ProcessorTime
from tfperfkit.recording.window_phases import WindowDeaths
from tfperfkit.records.samples import FAST_S

_FLUSH_NS = NS_PER_S // 2
#: In a trial.
_TRIAL_PAUSE_S = 0.1
#: Probes that want a step now and then hear of 20 a second after the first ones, more rarely after 30 s.
_CALL_NS, _CALL_PART = NS_PER_S // 20, 600


class Owner(Protocol):
    """Session as its pulse uses it."""

    @property
    def finished(self) -> bool: ...
    def flush(self) -> None: ...


class Ticks:
    """``named`` looks for the function of --steps-from, where one is given; ``timed_only`` in a trial, which is timed
    and not looked into. ``beside``: threads that open the same files again, which are sampled too, as ``busy`` ones and
    those for which the training thread waits."""

    def __init__(
        self,
        session: Owner,
        steps: Boundaries,
        named: Callable[[], object] | None,
        *,
        markers: Markers,
        sampler: Sampler,
        beside: Callable[[], Sequence[int]],
        busy: BusyThreads,
        precision: Precision,
        by_time: ByTime,
        probing: Probing,
        windows: WindowDeaths,
        long: LongRun | None,
        paired: PairedTime | None,
        timed_only: bool,
        processor: ProcessorTime | None,
    ) -> None:
        self._session, self._steps, self._named = session, steps, named
        self._markers, self._sampler, self._precision, self._by_time = markers, sampler, precision, by_time
        self._beside, self._busy = beside, busy
        self._probing, self._windows, self._long, self._timed_only = probing, windows, long, timed_only
        self._paired, self._processor = paired, processor
        self.armed_ns = 0
        self._last = self._next_flush = self._next_call = 0

    def tick(self) -> float:
        """Sample, now and then write; returns the seconds to the next tick."""
        now = now_ns()
        if self._named is not None:
            self._named()
        self._precision.set_pause(now, self._pause_s(now))
        if self._timed_only:
            return self._only_write(now)
        if self._long is not None and (lead := self._precision.before_sample()) is not None:
            return lead
        if self._paired is not None and self._long is not None and self._long.window is None and self._paired.due(now):
            return FAST_S
        seen = self._sampler.take(now, self._driver, anyone=self._markers.thread is None)
        self._precision.after_sample()
        if self._long is None:
            self._others(now)
        if self._processor is not None:
            self._processor.note(now)
        # The first call of a function counts from where it computes: what it traces is no work.
        if seen.library in TENSORFLOW and (seen.computes or not self._markers.busy):
            self._by_time.worked(min(now - self._last, NS_PER_S))
            if self._steps.number == 0 and self._long is None and not self._session.finished:
                self._precision.without_steps(now, self.armed_ns)
        self._last = now
        if not self._steps.attended and now >= self._next_call and self._probing.rare:
            self._steps.be_quiet(False)  # the next step is announced again
            self._next_call = now + max(_CALL_NS, (now - self.armed_ns) // _CALL_PART)
        if now >= self._next_flush:
            self._write(now)
        return self._precision.next_s

    def _others(self, now: int) -> None:
        """Sample threads other than the training thread, if there are such."""
        if others := self._beside():
            self._sampler.beside(now, [thread for thread in others if thread != self._driver])
        if busy := self._busy.look(now, self._driver):
            self._sampler.beside(now, busy, "busy")
        self._sampler.awaited(now, self._driver, anyone=self._markers.thread is None)

    def _write(self, now: int) -> None:
        window = self._long.window if self._long is not None else None
        self._next_flush = now + (_FLUSH_NS if self._long is None or window is not None else self._long.flush_ns)
        if window is None and (self._steps.number == 0 or self._steps.scheduler.idle):
            self._precision.expire(now)
        self._session.flush()
        if self._long is not None and not self._session.finished:
            self._long.tick(now)
        self._windows.tick(now)
        if not self._session.finished and self._by_time.tick(now, self._driver):
            self._precision.begin()

    def _only_write(self, now: int) -> float:
        if now >= self._next_flush:
            self._next_flush = now + _FLUSH_NS
            self._session.flush()
        return _TRIAL_PAUSE_S

    @property
    def _driver(self) -> int:
        """Return the thread that drives TensorFlow, as far as that is known."""
        return self._markers.thread or threading.main_thread().ident or 0

    def _pause_s(self, now: int) -> float:
        if self._long is not None:
            watched = self._long.pause_s(now)
            return FAST_S if watched is None else watched
        measuring = self._steps.number == 0 or not self._steps.scheduler.idle
        return self._precision.pause_s(now, self.armed_ns, measuring=measuring)
