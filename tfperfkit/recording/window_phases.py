"""What each window is doing, written down before it does it: whoever finds the process dead knows what it died in."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from tfperfkit.clock import now_ns
from tfperfkit.model import WindowPhase
from tfperfkit.storage.run_directory import PHASES, RunDirectory


class WindowPhases:
    """Appends ``[probe, phase, ns]`` to ``session/phases.jsonl``. The streams are written twice a second; this at once,
    and nothing is held open in between. What can't be written is not: the events have the windows too."""

    def __init__(self, run: RunDirectory) -> None:
        self._path = run.session / f"{PHASES}.jsonl"

    def enter(self, probe: str, phase: WindowPhase) -> None:
        line = msgspec.json.encode([probe, phase, now_ns()]) + b"\n"
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
