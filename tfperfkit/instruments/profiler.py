"""The TF Profiler: a session of our own, step markers, and stepping aside for a script that profiles itself.

There is one profiler session per process. Ours is a low-level ``ProfilerSession`` that
``tf.profiler.experimental.stop()`` does not know of, so a script can't end it by chance. While it runs, the module
name ``profiler_v2._pywrap_profiler`` is replaced by a stand-in: when the script starts a session
(``tf.profiler.experimental.start``, ``Profile``, Keras' TensorBoard callback, ``tf.summary.trace_on``), ours is
ended first and the script's goes on as if we had not been there.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.errors import Busy, Unavailable
from tfperfkit.instruments.muted import muted
from tfperfkit.storage.descriptors import names_in

#: Levels of the host tracer: 1 the coarsest, 2 each operation, 3 verbose. At 1 operations and input are missing.
HOST_LEVEL = 2
#: Beside the trace: what the profiler's C++ logged as it started and ended.
LOG = "profiler.log"
#: Why no session is held where other processes reach this one. ``TraceMeRecorder::Consume`` keeps pointers to events
#: that ended on another thread than they began on, as collective operations do, into memory that it gives back before
#: it follows them (a native stack of a worker showed it, TensorFlow 2.21): to end a session killed a worker in two of
#: five runs of two workers that ended 40 of them each.
SHARED = (
    "it trains together with other processes over TensorFlow's server: to end TensorFlow's profiler in one of them may "
    "kill it"
)
_SERVED = (
    "the script ended within the window, and it trains together with other processes, whose calls still arrive: to end "
    "TensorFlow's profiler there may crash"
)


class Level:
    """An option's value as every TensorFlow takes it.

    TensorFlow 2.20 and 2.21 silently ignore a plain int; what they take has ``__index__`` and ``__int__`` but no
    ``__bool__``.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    def __int__(self) -> int:
        return self._value


class StepMarkers:
    """Marks training steps in the trace: one event from each step's begin to the next one's, on its thread.

    The events are ``Trace("train", step_num=n, _r=1)``, as XProf wants them; the argument ``tfperf`` tells ours
    from the script's own. ``begun`` counts those opened; all calls are harmless without a session.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.first: int | None = None
        self.last: int | None = None
        self._open: Any = None
        self._thread = 0

    def begin(self, number: int) -> None:
        """Close the step that is open and open step ``number``."""
        from tensorflow.python.profiler.trace import Trace

        self.close()
        self._open = Trace("train", step_num=number, _r=1, tfperf=1)
        self._thread = threading.get_ident()
        self.begun += 1
        self.first = number if self.first is None else self.first
        self.last = number

    def close(self) -> None:
        """Close the open step. From another thread it is dropped: it would be recorded on that thread's line."""
        marker, self._open = self._open, None
        if marker is not None and self._thread == threading.get_ident():
            marker.__exit__(None, None, None)

    def drop(self) -> None:
        """Forget the open step; call it after the session ended, so that it is recorded nowhere."""
        marker, self._open = self._open, None
        if marker is not None:
            marker.__exit__(None, None, None)


class ProfilerSession:
    """A session of the TF Profiler that writes ``<logdir>/plugins/profile/<run>/<host>.xplane.pb``.

    ``step_aside`` is called with a reason, on the script's thread, when the script starts a session or a profiler
    server of its own; it has to end this session with ``stop``. Raises ``Unavailable`` from ``start`` when no
    session can be had.
    """

    def __init__(self, logdir: Path, *, python: bool = False, step_aside: Callable[[str], None]) -> None:
        self.logdir = logdir
        self.python = python
        self.start_ms = 0.0
        self.stop_ms = 0.0
        self._step_aside = step_aside
        self._session: Any = None
        self._lock = threading.RLock()  # reentrant for signal handlers
        self._pid = 0
        self._guard: _Guard | None = None

    @property
    def running(self) -> bool:
        return self._session is not None and self._pid == os.getpid()

    def start(self) -> None:
        """Start tracing; raises ``Unavailable`` with the reason if that can't be, ``Busy`` while the script traces."""
        if "tensorflow" not in sys.modules:
            raise Unavailable("the script has not imported TensorFlow")
        try:
            from tensorflow.python.profiler import profiler_v2, trace
            from tensorflow.python.profiler.internal import _pywrap_profiler
        except ImportError as error:
            raise Unavailable(f"this TensorFlow has no profiler that we know ({error})") from error
        if getattr(profiler_v2, "_profiler", None) is not None or _enabled(trace):
            _remember("a profiler session of the script was running")
            raise Busy("the script runs the TF Profiler itself; its trace is left alone (tfperf report shows it)")
        began = now_ns()
        try:
            session = self._muted(lambda: _started(_pywrap_profiler, self.logdir, self.python))
        except Exception as error:
            raise Unavailable(f"the TF Profiler could not be started ({_one_line(error)})") from error
        self._session, self._pid = session, os.getpid()
        self.start_ms = (now_ns() - began) / 1e6
        self._guard = _Guard.install(profiler_v2, self)

    def stop(self, save: bool = True, at_exit: bool = False) -> Path | None:
        """End the session and give the trace file; None if it was not running or is not to be saved.

        ``at_exit``: the interpreter ends. If other processes reach this one by a server of TensorFlow's, the session is
        then left as it is, for good: to end it while their calls arrive killed a worker in 2 of 12 runs of two workers
        (SIGSEGV, SIGABRT).

        Raises ``Unavailable`` when the trace can't be written. Safe on any thread; the interpreter is free
        meanwhile. In a forked child nothing is written.
        """
        with self._lock:
            try:
                if at_exit and self.running and served():
                    ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))  # its destructor would end it
                    self._session = None
                    raise Unavailable(_SERVED)
                return self._end(save)
            finally:
                # Last: a script that starts its own session while ours is being written waits for it.
                if self._guard is not None:
                    self._guard.remove()
                    self._guard = None

    def _end(self, save: bool) -> Path | None:
        held, self._session = [self._session], None
        if held == [None] or self._pid != os.getpid():
            return None
        if not save:
            self._muted(held.clear)  # a session ends with its last reference
            return None
        if not self.logdir.is_dir():
            raise Unavailable("the run directory is gone")  # TensorFlow would create it again
        before = _traces(self.logdir)
        began = now_ns()
        try:
            self._muted(lambda: held.pop().export_to_tb())
        except Exception as error:
            for path in _traces(self.logdir) - before:
                _remove(path)
            raise Unavailable(f"the trace could not be written ({_one_line(error)})") from error
        finally:
            self.stop_ms = (now_ns() - began) / 1e6
        written = sorted(_traces(self.logdir) - before)
        if not written:
            raise Unavailable("the TF Profiler wrote no trace")
        return written[-1]

    def _muted(self, call: Callable[[], Any]) -> Any:
        return muted(call, str(self.logdir / LOG))

    def script_starts(self, what: str) -> None:
        """The script is about to profile itself: make way. Never raises."""
        _remember(what)
        if self.running:
            try:
                self._step_aside(what)
            except Exception:
                pass
        try:
            self.stop(save=False)  # also waits for a stop that is under way on another thread
        except Exception:
            pass


def script_profiled_itself() -> str | None:
    """Return how the script was seen to profile itself in this process, if it was."""
    return _script_profiled


_script_profiled: str | None = None


def _remember(what: str) -> None:
    global _script_profiled
    _script_profiled = what


class _Guard:
    """Stands in for the module ``_pywrap_profiler`` in ``profiler_v2`` while our session runs."""

    def __init__(self, module: Any, real: Any, session: ProfilerSession) -> None:
        self._module = module
        self._real = real
        self._ours = session

    @classmethod
    def install(cls, module: Any, session: ProfilerSession) -> _Guard | None:
        real = getattr(module, "_pywrap_profiler", None)
        if real is None or isinstance(real, cls):
            return None  # unknown TensorFlow: the script's own start would fail while ours runs
        guard = cls(module, real, session)
        module._pywrap_profiler = guard
        return guard

    def remove(self) -> None:
        if self._module.__dict__.get("_pywrap_profiler") is self:
            self._module._pywrap_profiler = self._real

    def ProfilerSession(self, *args: Any, **kwargs: Any) -> Any:
        self._ours.script_starts("the script started a profiler session")
        return self._real.ProfilerSession(*args, **kwargs)

    def start_server(self, *args: Any, **kwargs: Any) -> Any:
        self._ours.script_starts("the script started a profiler server")
        return self._real.start_server(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _enabled(trace: Any) -> bool:
    """Return whether any session runs, one that a remote client started included. A flag in 2.16, a function later."""
    enabled = getattr(trace, "enabled", False)
    return bool(enabled() if callable(enabled) else enabled)


def _started(pywrap: Any, logdir: Path, python: bool) -> Any:
    session = pywrap.ProfilerSession()
    session.start(str(logdir), _options(python))
    return session


def _options(python: bool) -> dict[str, Level]:
    return {
        "host_tracer_level": Level(HOST_LEVEL),
        "python_tracer_level": Level(1 if python else 0),
        "device_tracer_level": Level(1),
    }


def _traces(logdir: Path) -> set[Path]:
    profiles = logdir / "plugins" / "profile"
    try:
        runs = [profiles / name for name in names_in(profiles)]
        return {run / name for run in runs for name in names_in(run) if name.endswith(".xplane.pb")}
    except OSError:
        return set()


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass


def served() -> bool:
    """Return whether this process has a server of TensorFlow's: of collective operations or of a cluster."""
    if "tensorflow" not in sys.modules:
        return False
    try:
        from tensorflow.python.eager import context

        used = context.context_safe()
        return any(getattr(used, name, None) is not None for name in ("_collective_ops_server_def", "_server_def"))
    except Exception:
        return False


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
