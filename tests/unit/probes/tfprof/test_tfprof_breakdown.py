"""The step's breakdown and the operations' own times, on timelines made for the purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfperfkit_probes.tfprof.analysis import TraceFacts, analyse
from tfperfkit_probes.tfprof.breakdown import LABELS, Label, Labelled, breakdown, share_of_longer
from xspace_builder import SpaceBuilder, step

from tfperfkit.records.parts import TRACED, PartName
from tfperfkit.records.pipelines import READING
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.xplane import open_space
from tfperfkit.xplane.intervals import spans_of
from tfperfkit.xplane.names import Kind, parse
from tfperfkit.xplane.spans import Span, SpanIndex, intersect, subtract, total, union

spans = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 60)).map(lambda pair: Span(pair[0], pair[0] + pair[1])), max_size=12
)

labels = st.sampled_from(["input", "eager_ops", "graph", "tracing", "other"])

labelled = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 60), labels).map(lambda t: (t[0], t[0] + t[1], t[2])),
    max_size=15,
)


def split(steps: list[Span], events: list[tuple[int, int, Label]], waits: list[Span]) -> dict[PartName, int]:
    ordered = sorted(events, key=lambda event: (event[0], -event[1]))
    columns = [np.array([event[part] for event in ordered], dtype=np.int64) for part in (0, 1)]
    label = np.array([LABELS.index(event[2]) for event in ordered], dtype=np.int8)
    return breakdown(spans_of(steps), Labelled(*columns, label), spans_of(waits))


def moments(items: list[Any]) -> set[int]:
    return {moment for item in items for moment in range(item[0], item[1])}


@given(spans, spans)
def test_spans_are_sets_of_moments(left: list[Span], right: list[Span]) -> None:
    a, b = union(left), union(right)
    assert moments(a) == moments(left) and total(a) == len(moments(left))
    assert all(x.end < y.begin for x, y in zip(a, a[1:], strict=False))
    assert moments(intersect(a, b)) == moments(left) & moments(right)
    assert moments(subtract(a, b)) == moments(left) - moments(right)
    assert total(subtract(a, b)) == len(moments(left) - moments(right))
    index = SpanIndex(left)
    assert {moment for moment in range(-1, 300) if moment in index} == moments(left)
    for begin, end in right:
        assert end == begin or index.overlaps(begin, end) == bool(moments(left) & set(range(begin, end)))


@given(spans, labelled, spans)
def test_the_parts_add_up_to_the_wall_time(
    steps: list[Span], events: list[tuple[int, int, Label]], waits: list[Span]
) -> None:
    parts = split(steps, events, waits)
    assert set(parts) == set(TRACED)
    assert all(value >= 0 for value in parts.values())
    assert sum(parts.values()) == len(moments(steps))
    assert parts["python"] == len(moments(steps) - moments(events))


def test_a_moment_counts_once_under_the_outermost_event() -> None:
    events: list[tuple[int, int, Label]] = [
        (10, 50, "tracing"),
        (20, 30, "eager_ops"),  # an operation run while tracing
        (50, 90, "graph"),
        (60, 70, "eager_ops"),  # within a py_function
        (90, 95, "input"),
        (95, 97, "other"),
    ]
    parts = split([Span(0, 100)], events, [Span(55, 60), Span(80, 200)])
    assert parts == {"input": 5 + 5 + 10, "python": 13, "eager_ops": 0, "graph": 25, "tracing": 40, "other": 2}


def test_waits_count_only_within_compiled_functions() -> None:
    parts = split([Span(0, 100)], [(0, 40, "eager_ops")], [Span(0, 100)])
    assert (parts["eager_ops"], parts["input"], parts["python"]) == (40, 0, 60)


@pytest.mark.parametrize(
    ("event", "kind", "name", "op_type"),
    [
        ("EagerLocalExecute: MatMul", Kind.EAGER, "", "MatMul"),
        ("EagerLocalExecute: __inference_step_60", Kind.EAGER, "", "__inference_step_60"),
        ("model/dense/MatMul:_MklMatMul", Kind.OP, "model/dense/MatMul", "_MklMatMul"),
        ("while/body/_1/add-1.2:AddV2", Kind.OP, "while/body/_1/add-1.2", "AddV2"),
        ("IteratorGetNextOp::DoCompute", Kind.GET_NEXT, "", "IteratorGetNext"),
        ("IteratorGetNextAsOptionalOp::DoCompute", Kind.GET_NEXT, "", "IteratorGetNextAsOptional"),
        ("Iterator::Root::Prefetch", Kind.ITERATOR, "Iterator::Root::Prefetch", ""),
        ("InstantiatedCapturedFunction::RunAsync", Kind.CALL, "", ""),
        ("MatMul.12", Kind.MAYBE_THUNK, "MatMul.12", ""),
    ],
)
def test_events_are_reported_by_their_names(event: str, kind: Kind, name: str, op_type: str) -> None:
    assert parse(event) == (kind, name, op_type)


@pytest.mark.parametrize(
    "event",
    ["ThreadpoolListener::Record", "$train.py:41 step", "end: MatMul.12", "ThunkExecutor::Execute", "A::B:C", ""],
)
def test_other_events_are_left_unread(event: str) -> None:
    named = parse(event)
    assert named is None or named.kind is Kind.MAYBE_THUNK


def facts(tmp_path: Path, builder: SpaceBuilder, table: StepTable | None = None) -> TraceFacts:
    with open_space(builder.write(tmp_path / "x.xplane.pb")) as space:
        return analyse(space, table or StepTable())


def ops(result: TraceFacts) -> dict[str, tuple[int, float, str]]:
    return {op.name: (op.count, round(op.self_ms * 1000, 6), op.where) for op in result.top_ops}


def test_eager_operations_have_their_own_time(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line(
        "python3.11",
        step(4, 0, 100_000),
        step(5, 100_000, 100_000),
        ("EagerLocalExecute: MatMul", 10_000, 20_000),
        ("MatMul:MatMul", 12_000, 10_000),  # its kernel: part of it
        ("EagerLocalExecute: EagerPyFunc", 110_000, 30_000),
        ("EagerLocalExecute: AddV2", 115_000, 5_000),
        ("EagerLocalExecute: IteratorGetNext", 150_000, 40_000),
        ("IteratorGetNextOp::DoCompute", 151_000, 38_000),
        ("EagerLocalExecute: MatMul", 250_000, 1_000),  # after the steps
        ("train", 0, 300_000, {"step_num": 1}),  # the script's own marker
    )
    result = facts(tmp_path, builder)
    assert (result.steps, result.first_step, result.last_step, result.step_ms) == (2, 4, 5, 0.1)
    assert ops(result) == {"MatMul": (1, 20, "eager"), "EagerPyFunc": (1, 25, "eager"), "AddV2": (1, 5, "eager")}
    assert [(op.name, op.count, op.where) for op in result.input_ops] == [("IteratorGetNext", 1, "input")]
    assert result.breakdown_ms == pytest.approx(
        {"input": 0.02, "python": 0.055, "eager_ops": 0.025, "graph": 0, "tracing": 0, "other": 0}
    )
    assert result.input_share == pytest.approx(0.2)
    assert sum(op.share for op in result.top_ops) == pytest.approx(1)


def test_the_kernels_of_eager_operations_count_undisturbed(tmp_path: Path) -> None:
    def turn(begin: int, kernel: int) -> list[tuple[str, int, int]]:
        """Two operations; the second one's kernel takes so long."""
        return [
            ("EagerLocalExecute: Mul", begin, 1_000),
            ("KernelAndDeviceFunc::Run", begin + 100, 400),
            ("EagerLocalExecute: Sum", begin + 2_000, kernel + 500),
            ("KernelAndDeviceFunc::Run", begin + 2_100, kernel),
        ]

    builder = SpaceBuilder()
    events = [each for index in range(10) for each in turn(index * 10_000, 5_000 if index == 4 else 200)]
    builder.plane().line("python3.11", step(4, 0, 100_000), *events)
    result = {op.type: op for op in facts(tmp_path, builder).top_ops}
    assert result["Sum"].self_ms == pytest.approx((9 * 700 + 5_500) / 1e6)  # the mean has the wait
    assert result["Sum"].kernel_ms == pytest.approx(10 * 200 / 1e6)
    assert result["Mul"].kernel_ms == pytest.approx(10 * 400 / 1e6)


def test_an_operation_in_the_kernel_of_an_eager_one_is_part_of_it_however_deep(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line(
        "python3.11",
        step(4, 0, 100_000),
        ("EagerLocalExecute: MatMul", 10_000, 20_000),
        *[("MatMul:MatMul", 11_000 + number, 10_000 - 2 * number) for number in range(20)],
        ("inner/Mul:Mul", 12_000, 3_000),
        ("IteratorGetNextOp::DoCompute", 16_000, 1_000),
    )
    result = facts(tmp_path, builder)
    assert ops(result) == {"MatMul": (1, 17, "eager"), "inner/Mul": (1, 3, "graph")}
    assert result.input_ops == ()


def test_our_own_reading_of_a_pipeline_is_no_work_of_the_script(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line(
        "python3.11",
        step(1, 0, 100_000),
        (f"EagerLocalExecute: {READING}", 10_000, 20_000),
        ("FunctionRun", 11_000, 1_000, {"id": -7}),
        ("write:WriteFile", 15_000, 5_000),
        ("EagerLocalExecute: MatMul", 40_000, 30_000),
    )
    plane.line("tf_Compute/1", ("ExecutorState::Process", 12_000, 9_000, {"id": -7}), ("read:ReadFile", 13_000, 5_000))
    result = facts(tmp_path, builder)
    assert ops(result) == {"MatMul": (1, 30, "eager")}
    assert result.calls == ()
    assert result.breakdown_ms == pytest.approx(
        {"input": 0, "python": 0.05, "eager_ops": 0.03, "graph": 0, "tracing": 0, "other": 0.02}
    )


def graph_step() -> SpaceBuilder:
    """Return a step of ``fit``: the fetch from 10 to 70 us, of which 20 us overlap with an operation of the step."""
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line(
        "python",
        step(1, 0, 100_000),
        ("EagerLocalExecute: __inference_step_1", 5_000, 90_000),
        ("FunctionRun", 6_000, 1_000, {"id": -11}),
    )
    plane.line(
        "tf_data_iterator_get_next/1",
        ("IteratorGetNextOp::DoCompute", 10_000, 60_000),
        ("ExecutorState::Process", 71_000, 2_000, {"id": -11}),  # the executor goes on where the fetch ended
        ("loss/Mul:Mul", 71_500, 1_000),
    )
    plane.line(
        "tf_Compute/1", ("ExecutorState::Process", 10_000, 20_000, {"id": -11}), ("adam/Sqrt:Sqrt", 10_000, 20_000)
    )
    plane.line(
        "tf_data_private_threadpool/1",
        ("FunctionRun", 9_000, 500, {"id": -22}),
        ("ExecutorState::Process", 30_000, 35_000, {"id": -22}),
        ("PyFunc:PyFunc", 30_000, 35_000),
    )
    return builder


def test_the_wait_within_a_compiled_function_is_input(tmp_path: Path) -> None:
    result = facts(tmp_path, graph_step())
    assert ops(result) == {"adam/Sqrt": (1, 20, "graph"), "loss/Mul": (1, 1, "graph")}
    assert {(op.type, op.count) for op in result.input_ops} == {("IteratorGetNext", 1), ("PyFunc", 1)}
    assert result.breakdown_ms is not None
    assert result.breakdown_ms["input"] == pytest.approx(0.04)
    assert result.breakdown_ms["graph"] == pytest.approx(0.05)
    assert result.breakdown_ms["python"] == pytest.approx(0.01)


def test_xla_kernels_and_nested_operations(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line(
        "python",
        step(1, 0, 100_000),
        ("EagerLocalExecute: __inference_f_2", 5_000, 90_000),
        ("__inference_f_2:__inference_f_2", 6_000, 80_000),
        ("ThunkExecutor::Execute", 7_000, 70_000),
        ("while.1", 8_000, 60_000, {"hlo_op": "while.1"}),
        ("dot.3", 10_000, 10_000, {"hlo_op": "dot.3"}),
        ("end: dot.3", 20_000, 10),
        ("dot.3", 30_000, 10_000, {"hlo_op": "dot.3"}),
    )
    assert ops(facts(tmp_path, builder)) == {"while.1": (1, 40, "xla"), "dot.3": (2, 20, "xla")}


def test_an_xla_function_without_kernels_is_one_operation(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line(
        "python",
        step(1, 0, 100_000),
        ("EagerLocalExecute: __inference_train_step_2", 5_000, 90_000),
        ("__inference_train_step_2:__inference_train_step_2", 6_000, 80_000),
    )
    assert ops(facts(tmp_path, builder)) == {"train_step": (1, 80, "xla")}


def test_a_loop_over_a_dataset_within_a_compiled_function(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line(
        "python",
        step(1, 0, 100_000),
        ("EagerLocalExecute: __inference_loop_1", 0, 100_000),
        ("FunctionRun", 0, 1_000, {"id": 1}),
    )
    plane.line(
        "tf_data_prefetch/1",
        ("ReduceIterator::Root::Prefetch::Scan", 10_000, 80_000),
        ("ReduceIterator::Root::Prefetch::Scan::Batch", 10_000, 30_000),
        ("InstantiatedCapturedFunction::Run", 40_000, 50_000, {"id": 2}),
    )
    plane.line(
        "tf_data_private_threadpool/1",
        ("ExecutorState::Process", 41_000, 40_000, {"id": 2}),
        ("MatMul:MatMul", 41_000, 40_000),
        ("ExecutorState::Process", 82_000, 1_000, {"id": 3}),
        ("Cast:Cast", 82_000, 1_000),
    )
    result = facts(tmp_path, builder)
    assert ops(result) == {"MatMul": (1, 40, "graph")}
    assert [op.type for op in result.input_ops] == ["Cast"]
    assert result.breakdown_ms is not None and result.breakdown_ms["input"] == pytest.approx(0.03)


def test_a_loop_that_was_under_way_when_the_trace_ended(tmp_path: Path) -> None:
    """The event of its call was never written: its fetches show the call."""
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("python", ("EagerLocalExecute: AddV2", 0, 10_000))
    plane.line(
        "tf_data_prefetch/1",
        *[
            event
            for begin in (20_000, 70_000)
            for event in (
                ("ReduceIterator::Root::Prefetch::Scan", begin, 50_000),
                ("ReduceIterator::Root::Prefetch::Scan::Batch", begin, 40_000),
                ("InstantiatedCapturedFunction::Run", begin + 40_000, 10_000, {"id": 2}),
            )
        ],
    )
    plane.line(
        "tf_data_private_threadpool/1",
        ("ExecutorState::Process", 60_000, 10_000, {"id": 2}),
        ("MatMul:MatMul", 60_000, 10_000),
        ("ExecutorState::Process", 110_000, 10_000, {"id": 2}),
        ("MatMul:MatMul", 110_000, 10_000),
    )
    result = facts(tmp_path, builder)
    assert result.breakdown_ms is None
    assert (result.window_ms["input"], result.window_ms["graph"]) == (pytest.approx(0.08), pytest.approx(0.02))
    assert result.graph_wait_share == pytest.approx(0.8)


def test_what_makes_steps_longer_is_waiting_or_computing() -> None:
    steps = [spans_of([Span(100 * number, 100 * number + 100)]) for number in range(4)]

    def share(calls: list[int], waits: list[int]) -> float | None:
        """The calls of each step last so long, and end with so much waiting."""
        ran = spans_of([Span(100 * number, 100 * number + length) for number, length in enumerate(calls)])
        waited = [
            Span(100 * number + length - wait, 100 * number + length)
            for number, (length, wait) in enumerate(zip(calls, waits, strict=True))
        ]
        return share_of_longer(steps[: len(calls)], ran, spans_of(waited))

    assert share([20, 20, 80, 20], [5, 5, 65, 5]) == pytest.approx(1.0)
    assert share([20, 20, 80, 20], [5, 5, 5, 5]) == pytest.approx(0.0)
    assert share([20, 20, 80, 20], [5, 5, 35, 5]) == pytest.approx(0.5)
    assert share([20, 21, 22, 20], [5, 6, 7, 5]) is None  # all alike
    assert share([20, 80], [5, 65]) is None  # through two points there is always a line


def test_without_steps_the_whole_window_is_split(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("other", ("EagerLocalExecute: Add", 0, 10))
    plane.line("python", ("EagerLocalExecute: MatMul", 10_000, 30_000), ("TFE_DeleteTensorHandle", 50_000, 50_000))
    result = facts(tmp_path, builder)
    assert (result.steps, result.step_ms, result.breakdown_ms) == (0, None, None)
    assert result.wall_ms == pytest.approx(0.09)
    assert result.window_ms == pytest.approx(
        {"input": 0, "python": 0.01, "eager_ops": 0.03, "graph": 0, "tracing": 0, "other": 0.05}
    )
    assert "MatMul" in ops(result)


def test_an_empty_trace_has_nothing_to_tell(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane("Task Environment")
    result = facts(tmp_path, builder)
    assert (result.steps, result.top_ops, result.input_share) == (0, (), None)


def three_steps() -> SpaceBuilder:
    builder = SpaceBuilder()
    builder.plane().line(
        "python",
        step(1, 0, 10e6),
        step(2, 10e6, 40e6),
        step(3, 50e6, 2e6),
        ("EagerLocalExecute: MatMul", 15e6, 1e6),
        ("EagerLocalExecute: Sum", 45e6, 1e6),
    )
    return builder


def test_what_stands_between_epochs_is_no_step(tmp_path: Path) -> None:
    table = StepTable(steps=tuple(Step(n, n * 10_000_000, (n + 1) * 10_000_000) for n in (1, 2, 3)), source="keras")
    result = facts(tmp_path, three_steps(), table)
    # Step 2 ended after 10 ms; step 3 was cut: the trace ended in it.
    assert result.steps == 2
    assert result.step_ms == pytest.approx(10)
    assert list(ops(result)) == ["MatMul"]
    assert len(result.notes) == 2


def test_one_marker_can_stand_for_several_steps(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line("python", step(1, 0, 40e6), step(5, 40e6, 40e6))
    table = StepTable(steps=(Step(1, 0, 40_000_000, count=4), Step(5, 40_000_000, 80_000_000, count=4)), source="keras")
    result = facts(tmp_path, builder, table)
    assert (result.steps, result.step_ms) == (8, pytest.approx(10))
    assert facts(tmp_path, builder).steps == 5  # without the table the last one's length is not known


def test_kernels_of_accelerators(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line("python", step(1, 0, 100_000))
    gpu = builder.plane("/device:GPU:0")
    gpu.line("Stream #1(Kernel)", ("gemm", 10_000, 30_000, {"tf_op": "dense/MatMul:MatMul"}), ("gemm", 150_000, 9_000))
    gpu.line("Stream #2(MemcpyH2D)", ("copy", 30_000, 20_000))
    gpu.line("XLA Modules", ("module", 0, 100_000))
    result = facts(tmp_path, builder)
    assert [(row.device, row.busy_ms, row.busy_share) for row in result.devices] == [("/device:GPU:0", 0.04, 0.4)]
    assert ops(result) == {"gemm": (1, 30, "device"), "copy": (1, 20, "device")}
