"""The pictures of the probes, from their data in a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from input_builder import mapped, pipeline, stage
from retrace_builder import analyzed, shape, trace
from tfperfkit_probes.input.model import InputData
from tfperfkit_probes.input.pictures import pictures as input_pictures
from tfperfkit_probes.memory.model import Grower, MemoryData
from tfperfkit_probes.memory.pictures import pictures as memory_pictures
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_probes.ops.pictures import pictures as ops_pictures
from tfperfkit_probes.retrace.pictures import pictures as retrace_pictures
from tfperfkit_probes.tfprof.pictures import pictures as tfprof_pictures
from tfprof_builder import op, traced

from tfperfkit import registry
from tfperfkit.model import ProbeResult
from tfperfkit.picture import Flow, Ledger, PictureProbe, Series, Tree
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.records.steps import Step, StepTable


def plain(data: Any) -> Any:
    return msgspec.to_builtins(data)


def test_an_input_pipeline_flows_from_its_source_to_the_step() -> None:
    data = InputData(pipelines=(pipeline(stage("Batch"), mapped(own_ms=9.0), stage("TensorSlice"), bound_by=1),))
    (flow,) = input_pictures(plain(data))
    assert isinstance(flow, Flow)
    assert [(box.name, box.marked) for box in flow.stages] == [("TensorSlice", False), ("Map", True), ("Batch", False)]


def test_a_pipeline_says_in_which_steps_its_wait_was_seen_and_in_which_file_its_function_stands() -> None:
    function = mapped(mapped=SourceSpan("/lib/keras/adapter.py", 128, "permutation"))
    made = pipeline(function, in_training=True, fetch_ms_per_step=4.5, fetch_window="trace")
    (flow,) = input_pictures(plain(InputData(pipelines=(made,))))
    assert isinstance(flow, Flow)
    assert flow.end == "the step, which waits 4.5 ms for it (in the traced steps)"
    assert ("runs", "permutation at adapter.py:128") in flow.stages[0].facts


def test_traces_stand_in_order_with_their_cause(tmp_path: Path) -> None:
    steps = StepTable(steps=tuple(Step(n + 1, n * 1000, (n + 1) * 1000, 1, 0, "clean") for n in range(9)))
    result = analyzed(tmp_path, trace(1), trace(2, shape("f32[8]", "f32[7]")), steps=steps)
    (ledger,) = retrace_pictures(plain(result.data))
    assert isinstance(ledger, Ledger)
    assert [entry.kind for entry in ledger.entries] == ["first trace", "retrace"]
    assert ledger.entries[1].text == "x: f32[8] → f32[7]"


def test_operations_are_a_tree_whose_parts_fit() -> None:
    data = traced(op("MatMul", 40.0, name="a/MatMul"), op("Add", 10.0, where="eager", name="b/Add"), steps=10)
    (tree,) = tfprof_pictures(plain(data))
    assert isinstance(tree, Tree)
    assert tree.nodes[0].value == pytest.approx(5.0)
    for number, node in enumerate(tree.nodes):
        below = sum(item.value for item in tree.nodes if item.parent == number)
        assert below <= node.value * 1.001


def test_operations_of_a_trace_without_steps_are_those_of_all_of_it() -> None:
    (tree,) = tfprof_pictures(plain(traced(op("MatMul", 40.0, name="a/MatMul"), steps=0)))
    assert isinstance(tree, Tree)
    assert (tree.nodes[0].name, tree.nodes[0].value) == ("operations of the trace", 40.0)
    said = [tree.note, *(node.note for node in tree.nodes if node.note)]
    assert said[1:] and not any("a step" in note or "0 steps" in note for note in said), said


def test_memory_is_a_series_and_says_what_grows() -> None:
    data = MemoryData(series=((0.0, 0, 100, 50), (1.0, 1, 200, 60), (2.0, 2, 300, 70)), growth_bytes_per_step=0.0)
    (series,) = memory_pictures(plain(data))
    assert isinstance(series, Series)
    assert [line.values[-1] for line in series.lines] == [300, 70, 2]
    assert "does not grow" in series.note
    grower = Grower(
        name="codes", kind="tensors", container="list", per_step=1.0, bytes_per_step=None, first=3, last=1308,
        file="/project/train.py", line=27, function="main",
    )  # fmt: skip
    grown = msgspec.structs.replace(data, growth_bytes_per_step=2048.0, growth_is_significant=True, growers=(grower,))
    (series,) = memory_pictures(plain(grown))
    assert isinstance(series, Series)
    assert series.note == "It grows by 2 KiB at each step: codes at train.py:27 went from 3 to 1,308 elements."
    assert memory_pictures(plain(MemoryData())) == []


def test_without_compiled_functions_there_is_no_arithmetic() -> None:
    assert ops_pictures(plain(OpsData(functions=[]))) == []


def test_the_probes_that_draw_are_asked_by_protocol() -> None:
    installed = registry.available()
    drawing = {name for name in installed if isinstance(registry.load(name, installed), PictureProbe)}
    assert drawing >= {"input", "memory", "ops", "retrace", "tfprof"}
    empty = {"input": InputData(), "memory": MemoryData(), "ops": OpsData(functions=[])}
    for name, data in empty.items():
        probe = registry.load(name, installed)
        assert isinstance(probe, PictureProbe)
        assert list(probe.pictures(None, ProbeResult(data=plain(data)))) == []  # type: ignore[arg-type]
