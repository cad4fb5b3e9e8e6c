"""The retrace probe's analysis on made records: kinds, and the data. No TensorFlow."""

from __future__ import annotations

from pathlib import Path

import msgspec
from retrace_builder import MS, analyzed, shape, trace
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.retrace.model import Difference
from tfperfkit_probes.retrace.probe import RetraceProbe

from tfperfkit.offers import CallShape, CallShapes
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


def offered_shapes(folder: Path, *shapes: list[int]) -> tuple[CallShape, ...]:
    """The rows that the probe offers of a function with a trace for each shape of its argument."""
    records = [
        trace(number, arguments=[Argument("step", "3", "value"), Argument("x", "", "tensor", "float32", each)])
        for number, each in enumerate(shapes, 1)
    ]
    (offer,) = [item for item in analyzed(folder, *records, steps=STEPS).offers if isinstance(item, CallShapes)]
    return offer.calls


def test_rows_are_offered_if_all_traces_of_the_function_have_the_same_number(tmp_path: Path) -> None:
    rows = CallShape(file="train.py", line=88, argument="x", rows=6000)
    assert offered_shapes(tmp_path / "one", [6000, 40]) == (rows,)
    assert offered_shapes(tmp_path / "two", [6000, 40], [6000, 3]) == (rows,)
    assert offered_shapes(tmp_path / "differ", [6000, 40], [50, 40]) == ()
    assert offered_shapes(tmp_path / "open", [-1, 40]) == () and offered_shapes(tmp_path / "scalar", []) == ()
