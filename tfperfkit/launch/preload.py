"""Import the modules that the report will need, and read complete files, while the script runs: the report comes sooner
after its end.
"""

from __future__ import annotations

import _thread
import importlib
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from tfperfkit import registry
from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.storage.run_directory import PHASES, RunDirectory, read_stream
from tfperfkit.storage.safe_reader import trace_files

#: Half of the time of a usual report was their import (0.4 of 0.9 s of a processor, ``python -X importtime``).
MODULES = (
    "numpy",
    "numpy.ma",
    "libcst",
    "libcst.metadata",
    "rich.console",
    "tfperfkit.analysis.analyze",
    "tfperfkit.diagnosis.rules",
    "tfperfkit.report.console",
    "tfperfkit.xplane.reader",
)
#: The entry points of rules, as ``diagnosis.rules`` has them.
RULES = "tfperfkit.rules"
_GENTLE = 19
#: So long after a window another one may open at once.
_QUIET_NS = 2 * NS_PER_S


class Preload:
    """``look`` now and then, from one thread, while nothing else of this process imports; ``finish`` before anything
    does: two threads that import the same packages may each see the other's half-made modules."""

    def __init__(self, run: RunDirectory, modules: Sequence[str] = MODULES) -> None:
        self._run = run
        self._modules = modules
        self._left = [self._prepare, self._load]
        self._done = _thread.allocate_lock()

    def look(self) -> None:
        """Begin, once the script has TensorFlow: without it the report is two lines. Again, once the windows are over:
        then what they left is there to be read."""
        if not self._left or not self._done.acquire(blocking=False):
            return
        begins = self._windows_are_over() if len(self._left) == 1 else (self._run.path / "agent.json").exists()
        if begins:
            try:
                _thread.start_new_thread(self._gently, (self._left.pop(),))
                return
            except RuntimeError:
                self._left.clear()
        self._done.release()

    def finish(self) -> None:
        """Wait for what is under way; the report would do it anyway."""
        with self._done:
            pass

    def _windows_are_over(self) -> bool:
        """For now: none has opened for a while since the last one closed. There is a trace to read."""
        rows = read_stream(self._run.session / f"{PHASES}.jsonl")
        match list(deque(rows, maxlen=1)):
            case [[_, "closed", int(when)]]:
                return now_ns() - when > _QUIET_NS and bool(trace_files(self._run.trace))
        return False

    def _gently(self, work: Callable[[], None]) -> None:
        try:
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the thread that waits
            # Its library starts threads that keep the priority of who imports it, and ``machine`` computes on them.
            with suppress(BaseException):
                importlib.import_module("numpy")
            if hasattr(os, "setpriority"):  # on Linux of this thread alone
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, _thread.get_native_id(), _GENTLE)
            with suppress(BaseException):  # the report says what is wrong
                work()
        finally:
            self._done.release()

    def _load(self) -> None:
        for name in self._modules:
            with suppress(BaseException):
                importlib.import_module(name)
        for point in registry.installed(RULES):
            with suppress(BaseException):  # the report says what can't be loaded
                point.load()
        self._prepare()

    def _prepare(self) -> None:
        """Let each probe of the run that wants to prepare its part of the report.

        The parts of a trace that it reads are kept for the next report of this process.
        """
        from tfperfkit.analysis.stored_run import open_run
        from tfperfkit.probe import PreparedProbe
        from tfperfkit.xplane import sharing
        from tfperfkit.xplane.reader import KEPT_BYTES

        if any(file.stat().st_size > KEPT_BYTES for file in trace_files(self._run.trace)):
            return  # nothing of it would be kept, and it may be written once more
        stored = open_run(self._run.path)
        with sharing(keep=True):
            for name in stored.manifest.probes:
                with suppress(BaseException):
                    probe = registry.load(name)
                    if isinstance(probe, PreparedProbe):
                        probe.prepare(stored.capture(name, probe))
