"""The probe ``devices``: where everything really ran, what was copied between devices, and where Python waited."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.instruments import tracing
from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording
from tfperfkit_probes import devices_findings, devices_tables
from tfperfkit_probes.devices_analysis import analyse
from tfperfkit_probes.devices_record import Recorder, window


class DevicesProbe:
    """In the background it reads the graphs of each function's first execution; a few steps tell what a step does.

    Option ``require_gpu``: the run must not train on a CPU (the session refuses to); the report says why it would.
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "devices"
    cost: ClassVar[Cost] = Cost.WINDOW
    claims: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self._recorder: Recorder | None = None

    @contextlib.contextmanager
    def background(self, recording: Recording, /) -> Iterator[None]:
        """Follow traces to their first execution. Raises ``Unavailable`` without a known seam."""
        recorder = Recorder(recording)
        unsubscribe = tracing.subscribe(recorder)
        self._recorder = recorder
        try:
            yield
        finally:
            unsubscribe()
            recorder.close()
            recorder.tell_facts()

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """The window: reads of tensors and calls of compiled functions, step by step."""
        return window(recording, self._recorder)

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Add up, and tell what costs time."""
        data = analyse(capture)
        required = capture.options.get("require_gpu") not in (None, False, "", "0", "false", "no", "off")
        jit = sum(bool(row.reason) and not row.ops for row in data.functions)
        notes = list(capture.notes)
        if jit:
            reasons = "; ".join(dict.fromkeys(row.reason for row in data.functions if row.reason and not row.ops))
            notes.append(f"{jit} concrete function{'s' * (jit != 1)} without placements: {reasons}")
        return ProbeResult(
            data=data,
            tables=devices_tables.tables(data),
            findings=devices_findings.findings(data, gpu_required=required),
            summary=devices_tables.summary(data),
            notes=tuple(dict.fromkeys(notes)),
        )
