"""Made-up traces, and the result of the probe ``retrace``. No TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfperfkit_probes.retrace.model import Difference, TraceRecord
from tfperfkit_probes.retrace.probe import RetraceProbe

from tfperfkit.model import ProbeResult, SourceSpan
from tfperfkit.records.steps import StepTable
from tfperfkit.testing import FakeRecording, capture_of, check_result

MS = 1_000_000
CALL = SourceSpan("train.py", 88, "main")


def trace(number: int, *differences: Difference, **fields: Any) -> TraceRecord:
    """The n-th trace of train_step, 5 ms long, in the n-th step of 10 ms."""
    begin = (number - 1) * 10 * MS + MS
    given: dict[str, Any] = {
        "id": number,
        "begin_ns": begin,
        "end_ns": begin + 5 * MS,
        "self_ns": 5 * MS,
        "function_object": 1,
        "function": "train_step",
        "qualname": "train_step",
        "file": "train.py",
        "line": 41,
        "code": "c",
        "owner": "user",
        "cached": number - 1,
        "closest": number - 1 or None,
        "differences": list(differences),
        "call_site": CALL,
    }
    return TraceRecord(**{**given, **fields})


def shape(before: str, after: str, path: str = "x") -> Difference:
    return Difference(path, before, after, "shape")


def analyzed(folder: Path, *records: TraceRecord, steps: StepTable) -> ProbeResult:
    """The probe's result; it holds no finding of its own."""
    recording = FakeRecording(folder)
    for record in records:
        recording.append("traces", record)
    result = RetraceProbe().analyze(capture_of(recording, steps=steps))
    check_result(result)
    assert result.findings == ()
    return result
