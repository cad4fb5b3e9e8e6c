"""RET001 to RET013 on what the probe ``retrace`` makes of made-up traces: blame, share, range, words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from retrace_builder import CALL, MS, analyzed, shape, trace
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.retrace.model import Difference, RetraceData, TraceRecord
from tfperfkit_rules.retrace.avoidable import avoidable_traces

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.testing import even_steps, evidence_of


class Judged(NamedTuple):
    """The probe's data and notes, and what the rule finds in the data."""

    data: RetraceData
    notes: Sequence[str]
    findings: tuple[Finding, ...]


@pytest.fixture
def analyze(tmp_path: Path) -> Any:
    numbers = itertools.count()

    def run(*records: TraceRecord, steps: StepTable | None = None, source: str = "") -> Judged:
        table = even_steps(100, 10 * MS) if steps is None else steps
        result = analyzed(tmp_path / str(next(numbers)), *records, steps=table)
        sources = {"train.py": source} if source else {}
        evidence = evidence_of(steps=table, data={"retrace": result.data}, sources=sources)
        return Judged(result.data, result.notes, tuple(avoidable_traces(evidence)))

    return run


def only(judged: Judged) -> Finding:
    (finding,) = judged.findings
    return finding


def test_partial_batches_are_reported_in_the_full_form(analyze: Any) -> None:
    result = analyze(
        trace(1, arguments=[Argument("x", "f32[32,100]", "tensor", "float32", [32, 100])]),
        trace(2, shape("f32[32,100]", "f32[17,100]"), closest=1),
        trace(
            3,
            shape("f32[17,100]", "f32[9,100]"),
            end_ns=20 * MS + MS + 1840 * MS,
            arguments=[Argument("x", "f32[9,100]", "tensor", "float32", [9, 100])],
        ),
    )
    assert only(result).detail.splitlines() == [
        "RETRACE #3 of train_step (train.py:41) at step 3 · 1.84 s, worth 184 steps",
        "  called from main (train.py:88)",
        "  closest trace #2:  x  f32[17,100] → f32[9,100]   dim 0: a partial batch",
        "  pattern: 2 of 3 traces differ only in x.shape[0] ∈ {32, 17, 9}",
        "  after the fix: traces 3 → 1",
    ]
    assert result.findings[0].code == "RET002"


def test_slices_of_a_tensor_are_no_batches_of_a_dataset(analyze: Any) -> None:
    """Dropping the rest would leave examples out where nothing makes batches."""
    sizes = [trace(1), trace(2, shape("f32[32]", "f32[17]")), trace(3, shape("f32[32]", "f32[9]"))]
    sliced = only(analyze(*sizes, source="import tensorflow as tf\nstep(x[0:32])\n"))
    assert sliced.advice.startswith("Leave the size open with") and "drop" not in sliced.advice
    batched = only(analyze(*sizes, source="import tensorflow as tf\nfor x in data.batch(32):\n    step(x)\n"))
    assert batched.advice.startswith("Drop the partial batch")


def test_of_sizes_that_are_left_open_the_first_retrace_stays(analyze: Any) -> None:
    """``reduce_retracing`` leaves a size open when it has seen a second one."""
    retraces = [trace(n, shape(f"f32[4,{10 + n}]", f"f32[4,{11 + n}]")) for n in (2, 3, 4)]
    result = analyze(trace(1), *retraces, steps=even_steps(22, 10 * MS, warmup=2))
    finding = only(result)
    assert "Leave the size open with @tf.function(reduce_retracing=True)" in finding.advice
    values = {item.name: item.value for item in finding.evidence}
    assert (values["avoidable retraces"], values["traces now"], values["traces after the fix"]) == (3, 4, 2)
    assert "traces 4 → 2" in finding.detail


def test_share_leaves_warm_up_out_but_counts_what_was_lost_in_it(analyze: Any) -> None:
    steps = even_steps(22, 10 * MS, warmup=2)
    result = analyze(
        trace(1), trace(2, shape("f32[32]", "f32[31]")), trace(3, shape("f32[31]", "f32[30]")), steps=steps
    )
    # 10 ms lost; 20 clean steps of 10 ms, and the 5 ms that were lost in the warm-up.
    assert only(result).share_of_step == pytest.approx(10 / 205)
    assert only(result).gain.likely == pytest.approx(1 / (1 - 10 / 205))
    assert only(result).severity == "low"


def test_the_range_goes_on_to_what_the_first_run_took(analyze: Any) -> None:
    even = even_steps(20, 10 * MS)
    late = tuple(
        msgspec.structs.replace(step, begin_ns=step.begin_ns + 30 * MS, end_ns=step.end_ns + 30 * MS)
        for step in even.steps[2:]
    )
    second = msgspec.structs.replace(even.steps[1], end_ns=even.steps[1].end_ns + 30 * MS)  # 40 ms, both traces in it
    steps = msgspec.structs.replace(even, steps=(even.steps[0], second, *late))
    values = [trace(n, Difference("lr", str(n - 1), str(n), "value")) for n in (2, 3)]
    # 2 * 5 ms of 230 ms; or the 30 ms that step 2 took more.
    assert only(analyze(trace(1), *values, steps=steps)).gain.bounds == pytest.approx(
        (1 / (1 - 10 / 230), 1 / (1 - 30 / 230))
    )


def test_traces_between_steps_cost_the_run_and_no_step(analyze: Any) -> None:
    """Traces at the ends of epochs take longer than the step before them."""
    values = [trace(n, Difference("lr", str(n - 1), str(n), "value")) for n in (5, 10, 15)]
    finding = only(analyze(trace(1), *values, steps=even_steps(20, MS)))
    assert finding.basis == "run" and finding.gain.bounds is not None
    assert only(analyze(trace(1), *values, steps=even_steps(20, 10 * MS))).basis == "step"


def test_where_every_step_traces_and_no_window_shows_the_rest_the_least_is_given(analyze: Any) -> None:
    values = [trace(n, Difference("lr", str(n - 1), str(n), "value")) for n in range(2, 21)]
    finding = only(analyze(trace(1), *values, steps=even_steps(20, 10 * MS)))
    assert finding.gain.likely is None and finding.gain.bounds is None
    assert finding.gain.low == pytest.approx(1 / (1 - 95 / 200))


@pytest.mark.parametrize(("count", "severity"), [(3, "low"), (10, "medium"), (60, "high")])
def test_severity_follows_the_share(analyze: Any, count: int, severity: str) -> None:
    values = [trace(n, Difference("lr", str(n - 1), str(n), "value")) for n in range(2, count + 3)]
    finding = only(analyze(trace(1), *values))
    assert rank([finding])[0].severity == severity
    # The call gives the value: it changes, not the decorator.
    assert [item.function for item in finding.where] == ["main", "train_step"]


def test_one_partial_batch_is_at_most_info(analyze: Any) -> None:
    once = trace(1), trace(2, shape("f32[32]", "f32[9]"))
    assert analyze(*once).findings == ()  # 0.5 % of the steps
    short = only(analyze(*once, steps=even_steps(3, 10 * MS)))
    assert short.severity == "info" and short.gain.likely is None


def test_one_dtype_in_a_short_run_is_low(analyze: Any) -> None:
    once = trace(1), trace(2, Difference("x", "f32[4]", "f64[4]", "dtype"))
    assert only(analyze(*once, steps=even_steps(3, 10 * MS))).severity == "low"


def test_a_mode_is_not_blamed_and_a_counter_beside_it_is(analyze: Any) -> None:
    def mode(n: int) -> TraceRecord:
        return trace(n, Difference("training", "True", "False", "value"))

    def counter(n: int) -> TraceRecord:
        return trace(n, Difference("step", str(n), str(n + 1), "value"))

    result = analyze(trace(1), mode(2), counter(3), counter(4))
    assert only(result).title == "train_step retraced twice because the Python value of step changes"


def test_rare_partial_batches_of_many_sizes(analyze: Any) -> None:
    """Change the length of a dataset, which leaves another rest at each epoch's end."""
    records = [trace(1)]
    for n in range(1, 6):
        begin = n * 100 * MS + MS
        records.append(
            trace(n + 1, shape(f"f32[{32 if n == 1 else n}]", f"f32[{n + 1}]"), begin_ns=begin, end_ns=begin + 5 * MS)
        )
    assert "drop_remainder" in only(analyze(*records)).advice


def test_functions_made_in_the_first_step_are_not_blamed(analyze: Any) -> None:
    made = [
        trace(n, function_object=n, cached=0, closest=None, begin_ns=n * MS, end_ns=n * MS + MS) for n in range(1, 5)
    ]
    result = analyze(*made)
    assert [t.kind for t in result.data.functions[0].traces] == ["first"] + ["new_function_object"] * 3
    assert result.findings == ()


def test_functions_made_in_later_steps_are_blamed(analyze: Any) -> None:
    result = analyze(*(trace(n, function_object=n, cached=0, closest=None) for n in range(1, 5)))
    assert only(result).code == "RET008"


def test_instances_called_from_one_line_without_steps(analyze: Any) -> None:
    def made(count: int) -> list[TraceRecord]:
        return [trace(n, function_object=n, cached=0, closest=None, instance_of="Model") for n in range(1, count + 1)]

    assert analyze(*made(4), steps=StepTable()).findings == ()
    assert only(analyze(*made(12), steps=StepTable())).code == "RET009"


def test_a_failure_and_then_a_success_is_not_blamed(analyze: Any) -> None:
    result = analyze(trace(1, error="ValueError"), trace(2, cached=0, closest=None, failed_before=1))
    assert result.findings == ()
    assert result.data.functions[0].traces[1].cause[0].before == "failed with ValueError"


def test_time_in_an_outer_retrace_counts_once(analyze: Any) -> None:
    outer = [trace(1), trace(2, shape("f32[1]", "f32[2]")), trace(3, shape("f32[2]", "f32[3]"))]
    inner = [
        trace(
            n,
            shape("f32[1]", "f32[2]"),
            id=n + 10,
            outer_id=n,
            function="inner",
            line=9,
            begin_ns=o.begin_ns + 1,
            end_ns=o.end_ns - 1,
        )
        for n, o in enumerate(outer, 1)
        if n > 1
    ]
    result = analyze(trace(1, id=11, outer_id=1, function="inner", line=9), *inner, *outer)
    assert only(result).where[0].function == "train_step"
    assert result.data.avoidable_ms == pytest.approx(10)


def test_retraces_of_keras_name_the_persons_line(analyze: Any) -> None:
    keras = [
        trace(
            n,
            *([Difference("data[0]", "f32[4]", "f64[4]", "dtype")] if n > 1 else []),
            owner="keras",
            function="one_step_on_data",
            file="keras/trainer.py",
        )
        for n in range(1, 5)
    ]
    finding = only(analyze(*keras))
    assert finding.where[0] == CALL
    assert "Keras" in finding.title


def test_limited_records_give_a_note_and_no_blame(analyze: Any) -> None:
    record = TraceRecord(id=1, begin_ns=1, end_ns=1, self_ns=0, function="f", limits="no seam")
    result = analyze(record, msgspec.structs.replace(record, id=2))
    assert result.findings == () and result.notes == ("no seam",)


def test_steps_of_several_are_weighed_whole(analyze: Any) -> None:
    steps = StepTable(steps=(Step(1, 0, 1000 * MS, count=50, window="clean"),))
    result = analyze(trace(1), *(trace(n, shape(f"f32[{n}]", f"f32[{n + 1}]")) for n in range(2, 12)), steps=steps)
    assert only(result).share_of_step == pytest.approx(50 / 1000)


def test_what_was_traced_before_the_first_step_costs_the_run_and_no_step(tmp_path: Path) -> None:
    """Put a lesson's other examples before the loop that trains."""
    later = tuple(
        msgspec.structs.replace(step, begin_ns=step.begin_ns + 9_000 * MS, end_ns=step.end_ns + 9_000 * MS)
        for step in even_steps(5, 10 * MS).steps
    )
    table = msgspec.structs.replace(even_steps(5, 10 * MS), steps=later)
    values = [trace(n, Difference("x", "f32[4]", f"i{n}", "dtype")) for n in (2, 3, 4)]
    data = analyzed(tmp_path, trace(1), *values, steps=table).data
    assert {item.step for item in data.functions[0].traces} == {0}
    (finding,) = avoidable_traces(evidence_of(steps=table, data={"retrace": data}, wall_s=10.0))
    assert (finding.basis, finding.severity, finding.gain.likely) == ("run", "info", None)
    assert finding.share_of_step == pytest.approx(15e-3 / 10)
