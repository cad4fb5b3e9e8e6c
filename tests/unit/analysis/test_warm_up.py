"""The time before the first steady step: parts that add up, steps separated from compiling."""

from __future__ import annotations

import pytest
from evidence_builder import make_evidence

from tfperfkit.analysis.step_summary import summarize
from tfperfkit.analysis.warm_up import warm_up
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Step, StepTable

MS = 1_000_000
#: TensorFlow is imported from 0.5 to 2.5 s.
AGENT = {"process_ns": 0, "import_begin_ns": 500 * MS, "import_end_ns": 2500 * MS, "armed_ns": 2600 * MS}


def test_the_warm_up_adds_up() -> None:
    table = StepTable(
        steps=(
            Step(1, 5000 * MS, 6000 * MS, window="warmup"),
            Step(2, 6000 * MS, 6010 * MS, window="warmup"),
            Step(3, 6010 * MS, 6020 * MS, window="clean"),
        )
    )
    found = warm_up(table, SampleLog({}, []), AGENT, 0, Spans([(5000 * MS, 5600 * MS)]), 10.0)
    assert found is not None and found.total_s == pytest.approx(6.010)
    assert found.parts_s["tracing"] == pytest.approx(0.6)
    assert found.parts_s["importing TensorFlow"] == pytest.approx(2.1)
    assert found.parts_s["the steps themselves"] == pytest.approx(0.020)
    assert found.parts_s["compile and first runs"] == pytest.approx(0.390)


def test_what_ends_in_its_first_call_is_steps_and_not_compiling() -> None:
    for count in (150, 1):  # a single long step, in which a run ended: how much of it compiled nobody knows
        table = StepTable(steps=(Step(1, 5000 * MS, 9000 * MS, count, window="warmup"),))
        found = warm_up(table, SampleLog({}, []), AGENT, 0, Spans([(5000 * MS, 5500 * MS)]), None)
        assert found is not None and found.parts_s["the steps themselves"] == pytest.approx(3.5)
        assert "compile and first runs" not in found.parts_s
        told = summarize(table, make_evidence(steps=table)).note
        assert ("ran in one call" in told) == (count == 150)


@pytest.mark.parametrize(
    ("doing", "context", "compiled"),
    [("graph", "", 0.99), ("eager_ops", "", 0.0), ("input", "", 0.0), ("graph", "evaluate", 0.0)],
)
def test_only_what_ran_in_compiled_functions_is_compiling(doing: str, context: str, compiled: float) -> None:
    table = StepTable(
        steps=(
            Step(1, 5000 * MS, 6000 * MS, window="warmup"),
            Step(2, 6000 * MS, 6010 * MS, window="clean"),
        )
    )
    log = SampleLog({1: Stack((), "tensorflow", doing, context)}, [(5000 * MS + n * 10 * MS, 1) for n in range(100)])
    for tracing in ([], [(3000 * MS, 3100 * MS)]):
        found = warm_up(table, log, AGENT, 0, Spans(tracing), 10.0)
        assert found is not None
        assert found.parts_s.get("compile and first runs", 0.0) == pytest.approx(compiled)
        assert found.parts_s.get("first steps", 0.0) == pytest.approx(0.99 - compiled)


def test_without_samples_nothing_compiles_where_nothing_was_traced() -> None:
    steps = (Step(1, 5000 * MS, 6000 * MS, window="warmup"), Step(2, 6000 * MS, 6010 * MS, window="clean"))
    found = warm_up(StepTable(steps=steps), SampleLog({}, []), AGENT, 0, Spans(), 10.0)
    assert found is not None and "compile and first runs" not in found.parts_s
    assert found.parts_s["first steps"] == pytest.approx(0.99)


def test_without_a_clean_step_the_quickest_of_the_first_tells_what_a_step_takes() -> None:
    first, second = Step(1, 5000 * MS, 9000 * MS, window="warmup"), Step(2, 9000 * MS, 9100 * MS, window="warmup")
    table = StepTable(steps=(first, second))
    found = warm_up(table, SampleLog({}, []), AGENT, 0, Spans([(5000 * MS, 5500 * MS)]), None)
    assert found is not None and found.parts_s["the steps themselves"] == pytest.approx(0.2)
    assert found.parts_s["compile and first runs"] == pytest.approx(3.4)
