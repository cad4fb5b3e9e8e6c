"""Recording: one bounded profiler session over the probe's window."""

from __future__ import annotations

import _thread
import atexit
import itertools
import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.profiler import SHARED, ProfilerSession, StepMarkers, served
from tfperfkit.probe import Recording
from tfperfkit.storage.descriptors import read_file
from tfperfkit_probes.tfprof.streams import Capture, wanted

#: A window without a planned number of steps ends after this many, and any window after this many seconds.
MAX_STEPS = 100
MAX_SECONDS = 30
#: With planned steps the time limit waits for two steps, but no longer than this.
MAX_SECONDS_FOR_STEPS = 300
#: The profiler's buffers may grow by this much. Measured: 256 MB of them make a file of 39 MB, 4.7 s and 560 MB more
#: while it is written.
MAX_GROWTH_BYTES = 256 * 1024 * 1024
#: The script allocates too (a data set loaded in each step comes and goes); the profiler's buffers only grow. So the
#: least of this many looks counts.
_LOOKS = 30
_LOOK_SECONDS = 0.1
#: Without planned steps a window may be within one long call. If the process grows at each look, by so much in all, the
#: buffers do. Measured: a loop of tiny operations left 60 MB of trace in 2.9 s, which took 5.4 s to write.
MAX_STEADY_BYTES = 96 * 1024 * 1024
_STEADY_LOOKS = 6


class Recorder(AbstractContextManager[None]):
    """Holds a session open from enter to exit, or until a bound is reached or the script needs the profiler."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._looks: deque[int] = deque(maxlen=_LOOKS)
        self._planned = recording.planned_steps
        self._markers = StepMarkers()
        self._session: ProfilerSession | None = None
        # Held while the session is being ended, so that whoever comes second waits. Reentrant for signal handlers.
        self._ending = threading.RLock()
        self._open = False
        self._began_ns = 0
        self._memory = 0
        self._done = threading.Lock()  # held while the watch should go on

    def __enter__(self) -> None:
        if served() and not self._recording.asked:
            raise Unavailable(f"{SHARED}; --window tfprof=auto gives the window all the same")
        python = self._wants_python()
        session = ProfilerSession(self._recording.trace_dir, python=python, step_aside=self._step_aside)
        session.start()
        self._session, self._open = session, True
        self._began_ns, self._memory = now_ns(), resident_bytes()
        if self._recording.step > 0:
            self._markers.begin(self._recording.step)
        self._recording.on_step(self._step)
        self._done.acquire()
        # A thread that is still writing when the interpreter ends would abort the process: wait for it.
        atexit.register(self._at_exit)
        try:
            # Not threading.Thread: the script must not see our thread among its own.
            _thread.start_new_thread(self._watch, ())
        except RuntimeError:
            pass  # no more threads at the interpreter's end: the steps' own bound remains

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._finish("window", training_thread=True)
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self._finish("exit", training_thread=False)

    def _step(self, number: int) -> None:
        if not self._open or self._session is None or not self._session.running:
            return
        limit = self._planned or MAX_STEPS
        if self._markers.begun >= limit:
            # The steps that the window should hold are complete; this one is the first after it.
            self._finish("steps" if self._planned is None else "window", training_thread=True)
        else:
            self._markers.begin(number)

    def _watch(self) -> None:
        """On a thread of its own: ends a session that grows too long or too large."""
        while not self._done.acquire(timeout=_LOOK_SECONDS):
            if reason := self._bound():
                self._finish(reason, training_thread=False)
                return

    def _bound(self) -> str | None:
        self._looks.append(resident_bytes())
        if len(self._looks) == _LOOKS and min(self._looks) - self._memory > MAX_GROWTH_BYTES:
            return "memory"
        if self._planned is None and grow_steadily([*self._looks], self._memory):
            return "events"
        seconds = (now_ns() - self._began_ns) / NS_PER_S
        waits_for_steps = bool(self._planned) and self._markers.begun <= 2
        limit = MAX_SECONDS_FOR_STEPS if waits_for_steps else MAX_SECONDS
        return "time" if seconds > limit else None

    def _step_aside(self, what: str) -> None:
        self._finish("script", training_thread=False)
        self._recording.note(f"{what}: ours was ended, its own goes on undisturbed")

    def _finish(self, ended: str, *, training_thread: bool) -> None:
        """End the session and keep what it recorded. The first call counts, later ones wait for it."""
        with self._ending:
            # Not running: a forked child, which has nothing to record.
            if not self._open or self._session is None or not self._session.running:
                return
            self._open = False
            if self._done.locked():
                self._done.release()
            self._end(self._session, ended, training_thread)

    def _end(self, session: ProfilerSession, ended: str, training_thread: bool) -> None:
        markers = self._markers
        if training_thread:
            markers.close()
        complete = markers.begun if training_thread else markers.begun - 1
        file, reason = None, None
        try:
            # A trace without a complete step still tells what ran, unless the script needs the profiler now.
            path = session.stop(save=complete > 0 or ended != "script", at_exit=ended == "exit")
            if path is not None:
                file = os.path.relpath(path, self._recording.trace_dir)
        except Unavailable as error:
            reason = str(error)
            self._recording.note(reason)
        finally:
            markers.drop()
        self._recording.append(
            "captures",
            Capture(
                file=file,
                steps=max(complete, 0),
                first_step=markers.first,
                last_step=markers.last,
                ended=ended,
                reason=reason,
                python=session.python,
                start_ms=session.start_ms,
                stop_ms=session.stop_ms,
            ),
        )
        if ended in _ENDINGS:
            self._recording.note(_ENDINGS[ended])

    def _wants_python(self) -> bool:
        if not wanted(self._recording.options.get("python")):
            return False
        if sys.getprofile() is not None:
            self._recording.note("the Python tracer stayed off: the script has a profile function of its own")
            return False
        return True


_ENDINGS = {
    "time": f"the trace was ended after {MAX_SECONDS} s",
    "memory": f"the trace was ended early: the process had grown by {MAX_GROWTH_BYTES // 1024**2} MB meanwhile",
    "events": f"the trace was ended early: its events filled {MAX_STEADY_BYTES // 1024**2} MB within seconds",
    "steps": f"the trace was ended after {MAX_STEPS} steps",
}


def grow_steadily(looks: Sequence[int], before: int) -> bool:
    """Return whether memory grew from each of the last looks to the next, and is far beyond what it was ``before``."""
    last = looks[-_STEADY_LOOKS:]
    grown = len(last) == _STEADY_LOOKS and last[-1] - before > MAX_STEADY_BYTES
    return grown and all(one < other for one, other in itertools.pairwise(last))


def resident_bytes() -> int:
    """The memory that this process holds; 0 where /proc does not tell. About 15 microseconds."""
    try:
        return int(read_file("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
