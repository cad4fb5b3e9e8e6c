"""The session's heartbeat: a thread that samples and writes, and that no one sees in ``threading.enumerate()``."""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable


class Pulse:
    """Calls ``tick`` again and again; each call returns the seconds to the next. Stops when asked, or when it fails:
    then ``failed`` is set, and ``on_failure`` called."""

    def __init__(self, tick: Callable[[], float], on_failure: Callable[[], None] = lambda: None) -> None:
        self._tick = tick
        self._on_failure = on_failure
        self.failed = False
        self._stopping = _thread.allocate_lock()
        self._done = _thread.allocate_lock()
        self._running = False
        self.cost_ns = 0  # processor time of this thread

    def start(self) -> None:
        self._stopping.acquire()
        self._done.acquire()
        self._running = True
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Ask it to stop and wait for at most a second: a process that is ending must not hang on us."""
        if self._running:
            self._running = False
            self._stopping.release()
            self._done.acquire(timeout=1.0)

    def _run(self) -> None:
        pause = 0.0
        try:
            while not self._stopping.acquire(timeout=pause):
                pause = max(self._tick(), 0.001)
                self.cost_ns = time.thread_time_ns()
        except BaseException:  # the sampler ends; the script goes on, and the report shows fewer samples
            self.failed = True
            self._on_failure()
        finally:
            self._done.release()
