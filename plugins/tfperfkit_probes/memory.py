"""The probe ``memory``: how much the process holds, whether it grows with the steps, and what grows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording
from tfperfkit_probes import memory_tables
from tfperfkit_probes.memory_analysis import analyse
from tfperfkit_probes.memory_record import Recorder


class MemoryProbe:
    """On throughout: samples by a thread, a few looks at the person's containers as steps begin."""

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "memory"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    @contextlib.contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        """Raises ``Unavailable`` on a system that does not tell the memory of a process."""
        recorder = Recorder(recording)
        recorder.start()
        try:
            yield
        finally:
            recorder.stop()

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Growth, what grows, peaks. Findings are made elsewhere, across probes."""
        data, notes = analyse(capture)
        return ProbeResult(
            data=data,
            tables=memory_tables.tables(data),
            summary=memory_tables.summary(data),
            notes=tuple(dict.fromkeys((*capture.notes, *notes))),
        )
