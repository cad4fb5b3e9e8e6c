"""The line on which a compiled step computes is reported if no rule knows a cause."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import spread_out
from concluded import headline
from evidence_builder import FILE, make_account, make_evidence, make_samples
from finding_builder import finding, unexplained
from tfperfkit_rules.step.cheaper_operations import advise_for

from tfperfkit.ledger.computed_lines import computed_lines
from tfperfkit.model import SourceSpan, Work
from tfperfkit.offers import ComputedOperation, ComputedStep, ComputedStretch
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence


def operation(kind: str, ms: float, line: int, **fields: Any) -> ComputedOperation:
    given = {"stage": "forward", "runs": 1.0, "busy_ms": ms, "direct": True, **fields}
    return ComputedOperation(name=f"{kind}_{line}", type=kind, ms=ms, file=FILE, line=line, **given)


def make_step(*operations: ComputedOperation, graph: float = 9.5) -> Evidence:
    """Return a step of 10 ms of which ``graph`` are a compiled function; the operations take 10 ms with the profiler
    on."""
    parts = {"graph": graph, "dispatch": 10.0 - graph}
    seen = ComputedStep(ms=10.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=operations)
    samples = make_samples([(100, "graph", [Frame(FILE, 1, "step", 3)])])
    return make_evidence(account=make_account(parts), samples=samples, offers={"lines": (seen,)})


SORT = (operation("TopKV2", 4.0, 36), operation("ScatterNd", 2.0, 36, stage="backward"))


def test_a_line_that_sorts_is_reported_with_its_operations_and_what_is_gained_at_most() -> None:
    evidence = make_step(*SORT, operation("_MklMatMul", 4.0, 19, direct=False))
    (found,) = unexplained(evidence, [])
    assert (found.code, found.where) == ("STP003", (SourceSpan(FILE, 36, ""),))
    assert found.title == "One compiled line (TopKV2 and ScatterNd) takes 57 % of a step, unexplained"
    assert found.gain.high == pytest.approx(1 / 0.43)
    assert found.severity == "low"


def test_a_large_kernel_on_few_channels_is_asked_about() -> None:
    def told(kernel: str) -> str:
        shapes = f"4×384×384×1, {kernel} → 4×384×384×1"
        (found,) = unexplained(make_step(operation("Conv2D", 8.0, 36, bound="kernel", shapes=shapes)), [])
        return found.detail

    assert "Its kernel has 53 × 41 numbers on 1 channel: if that is a column" in told("53×41×1×1")
    for kernel in ("3×3×1×1", "53×53×16×1"):
        assert "Its kernel" not in told(kernel)


@pytest.mark.parametrize(
    "operations",
    [
        (operation("_MklMatMul", 8.0, 19), operation("Relu", 2.0, 19)),  # what a step is there for
        (operation("Softplus", 6.0, 19), operation("Sum", 3.0, 19)),  # of fusing other rules know
        (operation("Relu", 8.0, 19, direct=False), operation("Mul", 2.0, 20)),  # within a layer that the line calls
        (operation("StatelessRandomNormalV2", 8.0, 19, bound="kernel"),),  # what a simulation draws, it needs
        (operation("ResourceApplyAdam", 8.0, 19, stage="update"),),  # the optimizer's
        tuple(operation("Mul", 1.0, line) for line in range(10, 20)),  # none takes much
    ],
    ids=["products", "elementwise", "layer", "draws", "update", "many"],
)
def test_what_a_step_is_there_for_is_left_in_peace(operations: tuple[ComputedOperation, ...]) -> None:
    assert list(unexplained(make_step(*operations), [])) == []


@pytest.mark.parametrize(("scope", "count"), [("gradient_tape/MatMul/pfor/transpose", 0), ("transpose", 1)])
def test_copies_that_running_all_turns_of_a_jacobian_at_once_takes_are_nobodys_order_of_axes(
    scope: str, count: int
) -> None:
    moved = operation("_MklTranspose", 4.0, 19, bound="kernel")
    rows = (msgspec.structs.replace(moved, name=scope), operation("_MklMatMul", 3.0, 19))
    assert len(list(unexplained(make_step(*rows), []))) == count


def test_a_line_with_a_finding_and_time_with_an_owner_are_not_told_again() -> None:
    evidence = make_step(*SORT)
    there = finding("GRF007", 0.1, family="graph", where=(SourceSpan(FILE, 36),))
    assert list(unexplained(evidence, [there])) == []
    assert list(unexplained(evidence, [finding("OPS001", 0.5, family="graph", severity="high")])) == []
    assert list(unexplained(evidence, [finding("CMP005", 0.05, family="compile", severity="low")])) == []
    assert len(list(unexplained(evidence, [finding("BAT002", 0.5, family="graph", severity="info")]))) == 1


def test_the_first_line_of_a_report_says_where_it_computes() -> None:
    evidence = make_step(operation("_MklMatMul", 8.0, 22), operation("Relu", 1.0, 23))
    assert [item.where.line for item in computed_lines(evidence.offer(ComputedStep), evidence.account)] == [22, 23]
    assert computed_lines(evidence.offer(ComputedStep), evidence.account)[0].join_types() == "MatMul"
    said = headline([], evidence)
    computed = "95 % of a step is computing in compiled functions"
    assert said.startswith(f"No cause found: {computed}, 76 % of the step on one line (")
    assert ":22: MatMul). No rule can tell whether all of this work is needed" in said


def test_where_arithmetic_is_not_counted_the_kernel_that_takes_most_is_named() -> None:
    one = make_step(operation("_MklConv2D", 9.0, 22), operation("Relu", 1.0, 23))
    assert "The Conv2D kernel takes 90 % of the computing time, without gaps" in headline([], one)
    assert "kernel:" not in headline([], make_step(operation("Conv2D", 4.0, 22), operation("Relu", 4.0, 23)))


def layer(name: str, ms: float, bound: str) -> ComputedOperation:
    return operation("_MklMatMul", ms, 22, layer=f"net/{name}", direct=False, bound=bound)


@pytest.mark.parametrize(
    ("rows", "begins"),
    [
        ((operation("Mul", 6.0, 22), operation("Mul", 4.0, 23)), "No cause found"),  # may be the same each time
        ((operation("Mul", 4.0, 22, bound="memory"), operation("Mul", 4.0, 23, bound="memory")), "No known fault"),
        ((operation("Mul", 4.0, 22), operation("Mul", 4.0, 23)), "No cause found"),  # no limit is known
        (
            (layer("one", 4.0, "arithmetic"), layer("two", 4.0, "kernel")),
            "No cause found",
        ),  # half is slower than need be
        ((layer("one", 4.0, "arithmetic"), layer("two", 4.0, "memory")), "No known fault"),
        ((layer("one", 6.0, "memory"), layer("two", 4.0, "kernel")), "No known fault"),
        ((layer("one", 6.0, ""), layer("two", 4.0, "memory")), "No cause found"),  # nothing bounds it that is known
    ],
    ids=["own line", "own lines", "no limit", "slow", "layers", "layer", "layer without a limit"],
)
def test_no_fault_is_said_only_where_something_speaks_for_it(rows: tuple[ComputedOperation, ...], begins: str) -> None:
    assert headline([], make_step(*rows)).startswith(begins)


def test_gaps_between_operations_are_no_computing() -> None:
    rows = tuple(layer(f"n{number}", 1.0, "memory") for number in range(4))
    step = ComputedStep(ms=10.0, idle_ms=6.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)
    said = headline([], make_evidence(account=make_account({"graph": 10.0}), offers={"lines": (step,)}))
    assert said.startswith("No cause found") and "60 % of that time passes between operations" in said


def test_a_few_per_cent_come_after_what_the_step_does() -> None:
    small = finding("INP001", 0.03, severity="low", title="The step waits for its input")
    said = headline([small], make_step(operation("_MklMatMul", 8.0, 22)))
    assert said.startswith("No cause found: 95 % of a step is computing")
    assert said.endswith(" Small, some 3 % of a step: the step waits for its input (t.py:3).")
    large = finding("INP001", 0.3, severity="high", title="The step waits for its input")
    assert headline([large, small], make_step()) == "First: the step waits for its input (t.py:3)."


def test_products_that_are_fused_or_another_library_s_are_products() -> None:
    for kind in ("_MklNativeFusedMatMul", "_MklNativeDepthwiseConv2dNative", "BatchMatMulV2", "Conv2DBackpropInput"):
        assert list(unexplained(make_step(operation(kind, 9.0, 32)), [])) == []


def test_without_a_trace_nothing_is_said() -> None:
    assert computed_lines(None, make_account({"graph": 10.0})) == []


def slow(kind: str, ms: float, line: int, **fields: Any) -> ComputedOperation:
    return operation(kind, ms, line, **{"bound": "kernel", "lower_ms": ms / 50, "shapes": "8×64 → 8×64", **fields})


def test_a_layer_of_keras_own_whose_kernels_are_slow_is_reported_with_its_shapes_and_what_replaces_it() -> None:
    rows = (
        slow("_MklNativeDepthwiseConv2dNative", 5.0, 19, layer="net/depthwise", direct=False, flops=2e7),
        operation("_MklMatMul", 3.0, 19, layer="net/dense", direct=False, bound="arithmetic"),
    )
    there = finding("INP013", 0.1, severity="info", where=(SourceSpan(FILE, 19),))
    (found,) = unexplained(make_step(*rows), [there])
    assert found.title == "Layer depthwise (DepthwiseConv2dNative) takes 48 % of a step, unexplained"
    assert "8×64 → 8×64" in found.detail and "GFLOP/s" in found.detail
    assert "depthwise convolution" in found.advice
    assert found.gain.high == pytest.approx(1 / 0.525, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "bound", "severity"),
    [
        ("Roll", "", "info"),  # periodic borders: each number is copied once
        ("MirrorPad", "memory", "info"),  # a stencil's border: what it copies it has to
        ("MirrorPad", "", "info"),  # nothing tells that it is slower than it needs be
        ("MirrorPad", "kernel", "low"),
        ("ConcatV2", "memory", "low"),  # may join once what it joins in each turn
        ("TopKV2", "", "low"),
    ],
)
def test_an_operation_that_only_moves_bytes_is_a_remark_unless_its_kernel_is_slow(
    kind: str, bound: str, severity: str
) -> None:
    (found,) = unexplained(make_step(operation(kind, 5.0, 30, bound=bound), operation("Mul", 4.0, 41)), [])
    assert (found.code, found.severity) == ("STP003", severity)


def test_solving_with_matrices_is_a_remark() -> None:
    (found,) = unexplained(make_step(operation("Cholesky", 6.0, 33), operation("MatMul", 4.0, 19)), [])
    assert found.severity == "info" and found.where == (SourceSpan(FILE, 33, ""),)


def test_a_layer_that_the_machine_bounds_is_no_finding_and_stands_in_the_first_line() -> None:
    dense = operation("_MklMatMul", 8.0, 19, layer="net/dense", direct=False, bound="arithmetic")
    evidence = make_step(dense, operation("Relu", 1.0, 19, layer="net/relu", direct=False))
    assert list(unexplained(evidence, [])) == []
    assert ", 76 % of the step in the layer dense (" in headline([], evidence)
    assert ":19: MatMul, limited by the machine's arithmetic);" in headline([], evidence)


@pytest.mark.parametrize(
    ("kind", "word"), [("TopKV2", "top_k"), ("Cumsum", "triangular"), ("Transpose", "transpose_b"), ("Foo", "fewer")]
)
def test_each_type_has_what_usually_replaces_it(kind: str, word: str) -> None:
    assert word in advise_for(kind)


def test_of_work_without_steps_the_trace_that_lay_in_it_tells_the_lines() -> None:
    run = make_step(*SORT, operation("_MklMatMul", 4.0, 19, direct=False))
    seen = run.offer(ComputedStep)
    assert seen is not None
    work = Work(kind="loop", where=SourceSpan(FILE, 40), seconds=8.0, share_of_run=0.8, iterations=800)
    view = {"work": work, "steps": run.steps, "account": run.account, "samples": run.samples, "log": run.log}
    narrowed = run.narrowed(**view)
    assert computed_lines(narrowed.offer(ComputedStep), narrowed.account) == []  # what is known is of the steps
    stretch = ComputedStretch(wall_ms=2000.0, window="tfprof", computed=_times(seen, 200))
    (found,) = unexplained(run.narrowed(**view, traced=stretch), [])
    assert (found.code, found.where) == ("STP003", (SourceSpan(FILE, 36, ""),))
    assert found.title == "One compiled line (TopKV2 and ScatterNd) takes 57 % of an iteration, unexplained"
    assert found.evidence[2].window == "tfprof"
    one = run.narrowed(**view, traced=stretch).offer(ComputedStep)
    assert one is not None and one.ms == pytest.approx(10.0) and one.operations[0].runs == pytest.approx(1.0)


@pytest.mark.parametrize(("traced_ms", "little"), [(0.4, True), (200.0, False)])
def test_a_trace_of_far_less_than_an_iteration_speaks_for_nothing(traced_ms: float, little: bool) -> None:
    """If a work's iterations take 10 ms each, the rest of one may be in other functions."""
    run = make_evidence(account=make_account({"graph": 10.0}), offers=spread_out())
    work = Work(kind="loop", where=SourceSpan(FILE, 40), seconds=8.0, share_of_run=0.8, iterations=800)
    view = {"work": work, "steps": run.steps, "account": run.account, "samples": run.samples, "log": run.log}
    seen = run.offer(ComputedStep)
    assert seen is not None
    stretch = ComputedStretch(wall_ms=traced_ms, window="tfprof", computed=_times(seen, traced_ms / 10.0))
    said = headline([], run.narrowed(**view, traced=stretch))
    assert said.startswith("No cause found" if little else "No known fault")
    assert ("The trace holds 0.4 ms of an iteration" in said) is little


def _times(step: ComputedStep, count: float) -> ComputedStep:
    """Repeat the value so many times."""
    return ComputedStretch(wall_ms=1.0, window="", computed=step).scale_to(count)[0]
