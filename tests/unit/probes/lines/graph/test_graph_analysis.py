"""From a made trace and made graphs to lines, tables and data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from graphlines_builder import FILE, GraphsBuilder
from ops_builder import Builder
from tfperfkit_probes.lines.graph.analysis import GraphLines, analyse
from tfperfkit_probes.lines.graph.device import read_kernels
from tfperfkit_probes.lines.graph.model import BuiltGraphs
from tfperfkit_probes.lines.graph.result import report
from xspace_builder import PlaneBuilder, SpaceBuilder, step

from tfperfkit.errors import Unavailable
from tfperfkit.records.graph_contents import Layer
from tfperfkit.storage.stream_writer import encoder
from tfperfkit.testing import FakeRecording, capture_of
from tfperfkit.xplane import open_space
from tfperfkit.xplane.spans import Span

FUNCTION = "__inference_step_1"
STEPS = 2


def graphs(recording: FakeRecording) -> None:
    make = GraphsBuilder()
    first = make.stack((90, "main"), (20, "step"), "layer", area="layers")
    second = make.stack((90, "main"), (21, "step"), (40, "helper"))
    update = make.stack((90, "main"), (30, "step"), area="optimizers")
    make.graph(
        "step",
        [
            ("dense/MatMul", "MatMul", first, "f"),
            ("gradient_tape/dense/MatMul/MatMul", "MatMul", -1, "b", (0, "dense/MatMul")),
            ("mul", "Mul", second, "f"),
            ("adam/Add", "AddV2", update, "u"),
        ],
        function=FUNCTION,
        layers={"dense": Layer("dense", "Dense", "10")},
    )
    recording.append("graphs", make.built())


def host(plane: PlaneBuilder, body: Any) -> None:
    """Two steps of 100 µs, each with a call from 10 to 90; ``body(begin)`` gives the events of a compute thread."""
    python, compute = [], []
    for number in range(STEPS):
        at = 100_000 * number
        python += [
            step(number + 1, at, 100_000),
            (f"EagerLocalExecute: {FUNCTION}", at + 10_000, 80_000),
            ("FunctionRun", at + 11_000, 1_000, {"id": 7 + number}),
        ]
        compute += [("ExecutorState::Process", at + 12_000, 77_000, {"id": 7 + number}), *body(at)]
    plane.line("python", *python)
    plane.line("tf_Compute/1", *compute)


def lines(tmp_path: Path, body: Any, space: SpaceBuilder | None = None) -> tuple[FakeRecording, GraphLines]:
    recording = FakeRecording(tmp_path)
    graphs(recording)
    space = space or SpaceBuilder()
    host(space.plane(), body)
    space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    return recording, analyse(capture_of(recording))


def body(at: int) -> list[tuple[Any, ...]]:
    return [
        ("dense/MatMul:MatMul", at + 20_000, 10_000),
        ("gradient_tape/dense/MatMul/MatMul:MatMul", at + 30_000, 20_000),
        ("mul:Mul", at + 50_000, 5_000),
        ("adam/Add:AddV2", at + 60_000, 5_000),
        ("strange:Op", at + 70_000, 4_000),
    ]


def test_the_times_add_up_to_the_step(tmp_path: Path) -> None:
    recording, found = lines(tmp_path, body)
    (function,) = found.functions
    assert function.owner == (FILE, 10, "step") and function.calls == STEPS
    assert found.wall == STEPS * 100_000_000 and function.wall == STEPS * 80_000_000
    assert function.unmatched == {"strange:Op": STEPS * 4_000_000}
    total = function.root.total + function.idle + function.unmatched_wall
    assert total == pytest.approx(function.wall)
    assert function.matched_share == pytest.approx(40 / 44)


def test_the_data_of_the_report(tmp_path: Path) -> None:
    recording, _ = lines(tmp_path, body)
    result = report(capture_of(recording))
    data = msgspec.to_builtins(result.functions)[0]
    assert data["ms_per_step"] == pytest.approx(0.08) and data["unattributed_ms"] == pytest.approx(0.04)
    assert result.step_ms == pytest.approx(0.1) and result.outside_ms == pytest.approx(0.02)
    rows = {row["line"]: row for row in data["lines"]}
    assert list(rows) == [20, 21, 30]
    assert (rows[20]["forward_ms"], rows[20]["backward_ms"]) == (pytest.approx(0.01), pytest.approx(0.02))
    assert rows[20]["children"][0]["name"] == "dense" and rows[20]["children"][0]["shape"] == "10"
    assert rows[21]["children"][0]["line"] == 40 and rows[30]["update_ms"] == pytest.approx(0.005)
    parts = sum(row["forward_ms"] + row["backward_ms"] + row["update_ms"] for row in data["lines"])
    assert parts + data["unattributed_ms"] == pytest.approx(data["ms_per_step"])
    inner = {row["line"]: row["forward_ms"] for row in data["innermost"]}
    assert inner == {20: pytest.approx(0.01), 40: pytest.approx(0.005), 30: 0}
    assert list(data["unmatched"]) == [{"name": "strange:Op", "ms": pytest.approx(0.004)}]
    assert [row["layer"] for row in data["layers"]] == ["dense"]


def test_the_table_adds_up_to_the_step(tmp_path: Path) -> None:
    recording, _ = lines(tmp_path, body)
    table = report(capture_of(recording)).tables[0]
    names = [column.name for column in table.columns]
    own = [row for row in table.rows if not str(row[-1]).startswith(" ")]
    assert sum(float(row[names.index("% step")] or 0) for row in own) == pytest.approx(1.0)
    stages = [names.index(name) for name in ("forward", "backward", "update")]
    assert sum(float(row[i] or 0) for row in own for i in stages) == pytest.approx(0.04)
    assert table.title.startswith("step (train.py:10) · graph, 0.1 ms a step")
    assert "90.9 % of the operations' time is on lines" in table.note and "strange:Op" in table.note


def test_depth_limits_the_unfolding(tmp_path: Path) -> None:
    recording, _ = lines(tmp_path, body)
    flat = FakeRecording(tmp_path, options={"depth": 0})
    assert len(report(capture_of(flat)).tables[0].rows) < len(report(capture_of(recording)).tables[0].rows)


def test_an_asynchronous_kernel_lasts_until_its_end_is_noted(tmp_path: Path) -> None:
    from test_graph_hlo import HloBuilder

    space, hlo = SpaceBuilder(), HloBuilder("a_inference_step_1__XlaMustCompile_true_.9")
    entry = hlo.computation(1)
    hlo.add(entry, "dot.1", "dot", [8], "dense/MatMul")
    hlo.add(entry, "add.1", "add", [8], "mul")
    metadata = space.plane("/host:metadata")
    event = metadata.message.event_metadata.add(key=1)
    metadata.stats(event.value.stats, {"Hlo Proto": hlo.message.SerializeToString()})
    stats = {"hlo_module": "a_inference_step_1__XlaMustCompile_true_.9"}

    def thunks(at: int) -> list[tuple[Any, ...]]:
        return [
            ("dot.1", at + 20_000, 1_000, {"hlo_op": "dot.1", **stats, "_p": at + 1}),
            # the end sets off what follows, which runs before the end itself is noted
            ("ThunkExecutor::Execute", at + 50_000, 6_000),
            ("add.1", at + 51_000, 4_000, {"hlo_op": "add.1", **stats, "_p": at + 2}),
            ("end: add.1", at + 55_000, 0, {"_c": at + 2}),
            ("end: dot.1", at + 56_001, 0, {"_c": at + 1}),
        ]

    _, found = lines(tmp_path, thunks, space)
    (function,) = found.functions
    assert function.jit and function.matched_share == 1.0
    walls = {branch.node.line: branch.total / STEPS / 1e6 for branch in function.root.branches.values()}
    assert walls == {20: pytest.approx(30), 21: pytest.approx(4)}


def test_kernels_of_an_accelerator_take_the_time(tmp_path: Path) -> None:
    space = SpaceBuilder()
    device = space.plane("/device:GPU:0")
    kernels, launches = [], []
    for number in range(STEPS):
        at = 100_000 * number
        kernels.append(("gemm.kd", at + 40_000, 55_000, {"correlation_id": number, "tf_op": "dense/MatMul:MatMul"}))
        kernels.append(("mul.kd", at + 95_000, 2_000, {"correlation_id": 10 + number}))
        launches.append(("cuLaunchKernel", at + 30_000, 10, {"correlation_id": number}))
        launches.append(("cuLaunchKernel", at + 31_000, 10, {"correlation_id": 10 + number, "tf_op": "mul:Mul"}))
    device.line("Stream #1", *kernels)
    device.line("XLA Ops", ("dense", 0, 90_000))

    def driver(at: int) -> list[tuple[Any, ...]]:
        return [("dense/MatMul:MatMul", at + 29_000, 1_000)]

    recording = FakeRecording(tmp_path)
    graphs(recording)
    plane = space.plane()
    host(plane, driver)
    plane.line("Host Threads/9", *launches)
    path = space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    (function,) = analyse(capture_of(recording)).functions
    walls = {branch.node.line: branch.total / STEPS / 1e6 for branch in function.root.branches.values()}
    assert walls == {20: pytest.approx(56), 21: pytest.approx(2)}  # the kernel, and its operation on the host before
    with open_space(path) as opened:
        assert len(list(read_kernels(opened, [Span(0, 100_000_000)]))) == 3  # launched then; "XLA Ops" has no launch


def test_a_pipelines_function_is_reported_beside_the_step(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    graphs(recording)
    make = GraphsBuilder()
    at = make.stack((95, "main"), (60, "decode"))
    make.graph("decode", [("decode_op", "Cast", at, "f")], function="__inference_Dataset_map_decode_5")
    recording.append("graphs", make.built(number=2, function="decode", line=59, owner="tf.data"))
    space = SpaceBuilder()
    plane = space.plane()
    host(plane, body)
    plane.line("tf_data_private_threadpool/1", ("decode_op:Cast", 20_000, 30_000))
    space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    result = report(capture_of(recording))
    (_, pipeline) = result.functions
    assert pipeline.where == "pipeline" and pipeline.ms_per_step == pytest.approx(0.015)
    assert [line.line for line in pipeline.lines] == [60]
    assert any("in the input pipeline" in table.title for table in result.tables)


def test_without_a_trace_the_reason_is_a_note(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    assert report(capture_of(recording)).notes == ()  # no compiled function: nothing to say
    graphs(recording)
    assert "--probes lines,tfprof" in report(capture_of(recording)).notes[0]
    with pytest.raises(Unavailable):
        analyse(capture_of(recording))


def test_a_damaged_record_is_left_out(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    recording.append("graphs", {"number": "x"})
    with pytest.raises(Unavailable):
        analyse(capture_of(recording))


def test_graphs_beyond_the_limit_are_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfperfkit_probes.lines.graph.model.MAX_OPERATIONS", 0)
    recording = FakeRecording(tmp_path)
    builder = Builder(FUNCTION)
    builder.add("Tanh", "Tanh", makes="float32[4]")
    recording.session_streams["graphs"] = [json.loads(encoder.encode(builder.contents()))]
    for number in (1, 2):
        recording.append("graphs", BuiltGraphs(number=number, functions={FUNCTION: FUNCTION}))
    space = SpaceBuilder()
    host(space.plane(), lambda begin: [])
    space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    found = analyse(capture_of(recording))
    assert [len(item.graphs.graphs) for item in found.built] == [1, 0]
    assert found.notes == ["the graphs hold too many operations: those beyond the limit have no source lines"]


def unfinished(*names: tuple[Any, ...]) -> SpaceBuilder:
    """Return a finished call without operations of interest, then one that still ran, for 400 µs, as the trace
    ended."""
    space = SpaceBuilder()
    plane = space.plane()
    plane.line(
        "python",
        ("EagerLocalExecute: __inference_other_2", 0, 10_000),
        ("FunctionRun", 1_000, 1_000, {"id": 6}),
        ("FunctionRun", 20_000, 1_000, {"id": 7}),
    )
    plane.line("tf_Compute/1", ("ExecutorState::Process", 21_000, 400_000, {"id": 7}), *names)
    return space


def found_in(tmp_path: Path, space: SpaceBuilder) -> GraphLines:
    recording = FakeRecording(tmp_path)
    graphs(recording)
    space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    return analyse(capture_of(recording))


def test_a_call_that_was_under_way_when_the_trace_ended_is_known_by_its_operations(tmp_path: Path) -> None:
    made = found_in(tmp_path, unfinished(*body(10_000)[:4]))
    other, function = sorted(made.functions, key=lambda item: item.wall)
    assert function.owner == (FILE, 10, "step") and other.wall == 10_000_000
    assert function.wall == 400_000_000 and function.root.total == 40_000_000
    assert made.wall == 421_000_000


def test_a_call_that_was_under_way_when_the_trace_began_is_known_by_its_operations(tmp_path: Path) -> None:
    space = SpaceBuilder()
    plane = space.plane()
    plane.line("python", ("EagerLocalExecute: __inference_other_2", 500_000, 10_000))
    begun = ("ExecutorState::Process", 1_000, 400_000, {"id": 7})
    plane.line("tf_Compute/1", begun, *body(10_000)[:4], ("ExecutorState::Process", 501_000, 8_000, {"id": 8}))
    made = found_in(tmp_path, space)
    other, function = sorted(made.functions, key=lambda item: item.wall)
    assert function.owner == (FILE, 10, "step") and other.wall == 10_000_000
    assert function.wall == 400_000_000 and function.root.total == 40_000_000
    assert made.wall == 509_000_000


def test_operations_of_no_known_function_are_not_given_to_one(tmp_path: Path) -> None:
    made = found_in(tmp_path, unfinished(("mul:Mul", 30_000, 1_000), ("strange:Op", 40_000, 9_000)))
    assert [function.wall for function in made.functions] == [10_000_000]
    assert made.wall == 421_000_000
