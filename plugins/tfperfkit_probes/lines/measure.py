"""line_profiler on code objects, without touching the user's functions.

``LineProfiler.add_function`` replaces the function's code by a padded copy, so that twins with equal bytecode can be
told apart. That changes the user's function and misses frames that are already running. Here a stand-in function
is registered that carries the very same bytecode, so running frames (the training loop itself, a module's top level)
are measured too.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

from line_profiler import LineProfiler

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks.profiler_slot import TRACER, leaving_it
from tfperfkit_probes.lines.monitored import OwnPlace, begin

#: Whether line_profiler measures by ``sys.monitoring``.
MONITORED = hasattr(sys, "monitoring")
#: A pending line older than this was not timed by our clock (another timer on another system).
MAX_PENDING_NS = 3600 * NS_PER_S


class LineMeasurement:
    """One measurement: ``add`` code objects, run, read ``rows``."""

    def __init__(self) -> None:
        self._profiler = LineProfiler()
        self._added: set[CodeType] = set()
        self._pending: dict[tuple[str, int], tuple[int, int]] = {}
        self.displaced = ""
        self._tell: Callable[[], object] = lambda: None
        self._own: OwnPlace | None = None

    def add(self, code: CodeType) -> None:
        """Measure this code object; one already added is passed over. Raises Unavailable as ``running`` does."""
        if code in self._added:
            return
        self._added.add(code)
        try:
            self._add(code)
        except Exception as error:
            raise _refused(error) from error

    def _add(self, code: CodeType) -> None:
        stand_in = FunctionType(code, {}, code.co_name, None, tuple(CellType() for _ in code.co_freevars))
        paddings = getattr(self._profiler, "_all_paddings", None)
        if isinstance(paddings, dict):
            # No padding for this bytecode: 0 no-ops keep the hash that running frames have (line_profiler 5).
            before = paddings.get(code.co_code)
            paddings[code.co_code] = 0
            try:
                self._profiler.add_function(stand_in)
            finally:
                if before is None:
                    paddings.pop(code.co_code, None)
                else:
                    paddings[code.co_code] = before
        else:
            self._profiler.add_function(stand_in)

    @contextmanager
    def running(self, ended: Callable[[int], object] = lambda thread: None) -> Iterator[None]:
        """Measure the calling thread; ``ended`` is given its number at the moment when the measuring ends.

        The trace function that was there before comes back. The script may set one of its own meanwhile, or start a
        profiler (see ``leaving_it``): that stays, and ``displaced`` says what the script did. The lines after that are
        missing. Raises Unavailable when line_profiler, perhaps in another version, refuses.
        """
        before, thread = sys.gettrace(), get_ident()
        try:
            self._own = begin(self._profiler, self._added)
            if self._own is None:
                self._profiler.enable_by_count()
        except Exception as error:
            raise _refused(error) from error
        manager = getattr(self._profiler, "_manager", None)
        _stops[self] = partial(self._stop, before, sys.gettrace(), thread, manager)
        self._tell = partial(ended, thread)
        try:
            with leaving_it(self._leave):
                yield
        finally:
            self._end()

    def _end(self) -> bool:
        stop = _stops.get(self)
        if stop is None:
            return False
        try:
            stop()
        except Exception:
            _stops.pop(self, None)
            raise
        _stops.pop(self, None)  # not before: a Ctrl-C may have come in between
        self._tell()
        return True

    def _leave(self, why: str) -> None:
        if not MONITORED:
            self._tell()  # the trace function that the script sets takes the place of line_profiler's by itself
        elif self._end():
            self.displaced = why

    def _stop(self, before: Any, ours: Any, thread: int, manager: Any) -> None:
        current = sys.gettrace()
        if current is not ours:
            self.displaced = TRACER
        self._keep_pending()
        self._disable(thread, manager)
        # All of a thread's LineProfilers share one trace function: one of the script's own may still be at work.
        if self.displaced or getattr(ours, "active_instances", None):
            before = current
        if sys.gettrace() is not before:
            sys.settrace(before)

    def _disable(self, thread: int, manager: Any) -> None:
        """line_profiler keeps for each thread who is at work there, and so ends only what the calling thread began: on
        another one (the training thread has ended, or the script starts a profiler there) its manager does it."""
        own, self._own = self._own, None
        if own is not None:
            own.end()
            return
        end = getattr(manager, "_handle_disable_event", None)
        if MONITORED and get_ident() != thread and callable(end):
            end(self._profiler)
        else:
            self._profiler.disable_by_count()

    def _keep_pending(self) -> None:
        """Remember the lines that are under way as the window closes: line_profiler counts only finished ones."""
        now = now_ns()  # line_profiler's timer on Linux and macOS is the same monotonic clock
        try:
            pending = self._profiler.last_time
        except (KeyError, AttributeError):  # nothing measured on this thread; another line_profiler
            return
        for code, record in pending.items():
            elapsed = now - int(record["time"])
            if 0 <= elapsed < MAX_PENDING_NS:
                self._pending[code.co_filename, code.co_firstlineno] = (int(record["f_lineno"]), elapsed)

    def rows(self) -> Iterator[dict[str, Any]]:
        """``{file, line, function, lines: [[line, hits, ns], …]}`` for each function that ran."""
        stats = self._profiler.get_stats()
        to_ns = stats.unit * 1e9
        for (file, line, function), timings in stats.timings.items():
            lines = [[number, hits, round(time * to_ns)] for number, hits, time in timings]
            pending = self._pending.get((file, line))
            if pending is not None:
                known = next((row for row in lines if row[0] == pending[0]), None)
                if known is None:
                    lines.append([pending[0], 1, pending[1]])
                else:
                    known[1] += 1
                    known[2] += pending[1]
            if lines:
                yield {"file": file, "line": line, "function": function, "lines": lines}

    def dump(self, path: Path) -> None:
        """Write a ``.lprof`` for ``python -m line_profiler``; a full disk costs this file only."""
        try:
            self._profiler.dump_stats(str(path))
        except OSError:
            pass


#: The functions that end each measurement that is under way.
_stops: dict[LineMeasurement, Callable[[], None]] = {}


def _stop_all() -> None:
    """In a forked child nothing is measured; line_profiler's callbacks would fail there as the interpreter ends."""
    while _stops:
        _, stop = _stops.popitem()
        with suppress(Exception):
            stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_all)


def _refused(error: Exception) -> Unavailable:
    return Unavailable(f"line_profiler could not be started ({type(error).__name__}: {error})")
