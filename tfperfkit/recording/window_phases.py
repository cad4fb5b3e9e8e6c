"""Phase of each window, written down before the phase begins: whoever finds the process dead knows in which phase it
died.
"""

from __future__ import annotations

import os
from _thread import get_ident
from contextlib import suppress

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.hooks.fault_stacks import FaultStacks
from tfperfkit.model import WindowPhase
from tfperfkit.storage.descriptors import KeptFile
from tfperfkit.storage.run_directory import PHASES, STACKS, RunDirectory

#: A process may still die of a window that has closed, in threads of TensorFlow's.
_AFTER_NS = NS_PER_S


class WindowPhases:
    """Appends ``[probe, phase, ns]`` to ``session/phases.jsonl``, and a fourth item where a thread of ours does it, so
    that the script goes on meanwhile. The streams are written twice a second; this at once, and nothing is held open in
    between. A line that can't be written is left out: the events have the windows too."""

    def __init__(self, run: RunDirectory) -> None:
        self._path = run.session / f"{PHASES}.jsonl"

    def enter(self, probe: str, phase: WindowPhase, beside: bool = False) -> None:
        line = msgspec.json.encode([probe, phase, now_ns(), *(["beside"] if beside else [])]) + b"\n"
        with suppress(OSError):
            file = KeptFile(self._path, os.O_WRONLY | os.O_APPEND)
            file.open()
            file.write(line)
            file.close()


class WindowDeaths:
    """The phases of a run's windows; and as long as one is open, and a second longer, a crash leaves its stacks."""

    def __init__(self, run: RunDirectory) -> None:
        self._phases, self._stacks = WindowPhases(run), FaultStacks(run.session / STACKS)
        self._until = 0
        self._pulse = 0  # the thread that ticks

    def enter(self, probe: str, phase: WindowPhase, whole: bool = False) -> None:
        """``whole``: a window over the whole run, in which no crash is put down to it."""
        self._phases.enter(probe, phase, get_ident() == self._pulse)
        if phase == "closed":
            self._until = now_ns() + _AFTER_NS
        elif not whole:
            self._until = 0
            self._stacks.begin()

    def tick(self, now: int) -> None:
        """Stacks are left to the script again once the last window is past."""
        self._pulse = get_ident()
        if 0 < self._until < now:
            self._stacks.end()

    def end(self, forked: bool = False) -> None:
        self._stacks.end(forked=forked)
