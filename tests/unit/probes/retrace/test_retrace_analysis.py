"""The retrace probe's analysis on made records: kinds, and the data. No TensorFlow."""

from __future__ import annotations

from pathlib import Path

import msgspec
from retrace_builder import MS, analyzed, shape, trace
from tfperfkit_probes.retrace.model import Difference
from tfperfkit_probes.retrace.probe import RetraceProbe

from tfperfkit.testing import FakeRecording, capture_of, even_steps

STEPS = even_steps(100, 10 * MS)


def test_expected_traces(tmp_path: Path) -> None:
    replica = Difference("context.replica_device", "replica on CPU:0", "replica on CPU:1", "context")
    saving = Difference("context.saved_model", "not exporting", "exporting a SavedModel", "context")
    result = analyzed(
        tmp_path,
        trace(1),
        trace(2, replica),
        trace(3, saving),
        trace(4, shape("f32[1]", "f32[2]"), exporting=True),
        steps=STEPS,
    )
    assert [t.kind for t in result.data.functions[0].traces] == ["first"] + ["expected"] * 3
    assert all(t.reason for t in result.data.functions[0].traces[1:])


def test_damaged_and_foreign_records_are_left_out(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    recording.append("traces", {"id": "no number"})
    recording.append("traces", trace(1))
    result = RetraceProbe().analyze(capture_of(recording, steps=even_steps(2, MS)))
    assert result.data.traces == 1


def test_data_has_the_promised_names(tmp_path: Path) -> None:
    data = msgspec.to_builtins(analyzed(tmp_path, trace(1), trace(2, shape("f32[3]", "f32[2]")), steps=STEPS).data)
    (function,) = data["functions"]
    assert {"function", "file", "line", "owner", "traces"} <= set(function)
    second = function["traces"][1]
    assert {"number", "kind", "step", "ms", "cause", "call_site"} <= set(second)
    assert {"path", "before", "after"} <= set(second["cause"][0])
    assert second["call_site"] == {"file": "train.py", "line": 88, "function": "main"}
