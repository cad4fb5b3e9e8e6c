"""What the report will need is imported while the script runs, so that the report comes sooner after its end."""

from __future__ import annotations

import _thread
import importlib
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from tfperfkit import registry
from tfperfkit.storage.run_directory import RunDirectory

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


class Preload:
    """``look`` now and then, from one thread, while nothing else of this process imports; ``finish`` before anything
    does: two threads that import the same packages may each see the other's half-made modules."""

    def __init__(self, run: RunDirectory, modules: Sequence[str] = MODULES) -> None:
        self._sign = run.path / "agent.json"
        self._modules = modules
        self._started = False
        self._done = _thread.allocate_lock()

    def look(self) -> None:
        """Begin, once the script has TensorFlow: without it the report is two lines."""
        if not self._started and self._sign.exists():
            self._started = True
            self._done.acquire()
            try:
                _thread.start_new_thread(self._load, ())
            except RuntimeError:
                self._done.release()

    def finish(self) -> None:
        """Wait for what is under way; the report would import it anyway."""
        if self._started:
            self._done.acquire()
            self._done.release()
            self._started = False

    def _load(self) -> None:
        try:
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the thread that waits
            if hasattr(os, "setpriority"):  # on Linux of this thread alone
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, _thread.get_native_id(), _GENTLE)
            for name in self._modules:
                with suppress(BaseException):
                    importlib.import_module(name)
            for point in registry.installed(RULES):
                with suppress(BaseException):  # the report says what can't be loaded
                    point.load()
        finally:
            self._done.release()
