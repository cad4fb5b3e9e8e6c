"""The probe ``devices``: where everything really ran, what was copied between devices, and where Python waited."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording


class DevicesProbe:
    """Device of each operation and why it isn't a GPU, copies between devices, and tensors that Python waits for.

    In the background it reads the graphs of each function's first execution; a few steps tell what a step does.
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "devices"
    cost: ClassVar[Cost] = Cost.WINDOW
    claims: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self._recorder: Any = None  # of the recording half, which a report never loads

    def background(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Follow traces to their first execution. Raises ``Unavailable`` without a known seam."""
        from tfperfkit_probes.devices.record import Recorder, following_traces

        self._recorder = Recorder(recording)
        return following_traces(self._recorder)

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """The window: reads of tensors and calls of compiled functions, step by step."""
        from tfperfkit_probes.devices.record import window

        return window(recording, self._recorder)

    def prepare(self, capture: Capture, /) -> None:
        """Import what ``analyze`` needs."""
        from tfperfkit_probes.devices import analysis, tables  # noqa: F401

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Add up."""
        from tfperfkit_probes.devices import tables
        from tfperfkit_probes.devices.analysis import analyse, offers

        data = analyse(capture)
        jit = sum(bool(row.reason) and not row.ops for row in data.functions)
        notes = list(capture.notes)
        if jit:
            reasons = "; ".join(dict.fromkeys(row.reason for row in data.functions if row.reason and not row.ops))
            notes.append(f"{jit} concrete function{'s' * (jit != 1)} without placements: {reasons}")
        return ProbeResult(
            data=data,
            tables=tables.tables(data),
            summary=tables.summary(data),
            notes=tuple(dict.fromkeys(notes)),
            offers=offers(data, capture.window is not None and capture.window.steps > 0),
        )
