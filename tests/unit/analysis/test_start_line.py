"""The start in order of time: no gap, nothing twice, small stretches with their neighbours."""

from __future__ import annotations

from typing import Any

from evidence_builder import make_evidence, make_steps

from tfperfkit.analysis.start_line import start_line
from tfperfkit.analysis.stored_run import Beginning
from tfperfkit.model import WarmUp
from tfperfkit.records.pictures import Start
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.spans import Span
from tfperfkit.records.steps import Step, StepTable

S = 1_000_000_000
BEGUN = Beginning(process=10 * S, importing=11 * S, armed=14 * S)
STEPS = tuple(
    Step(number, (20 + number) * S, (21 + number) * S, 1, 0, "warmup" if number < 3 else "clean")
    for number in range(1, 6)
)


def made(tracing: list[Span], samples: list[tuple[int, Stack]], steps: tuple[Step, ...] = STEPS) -> Start:
    stacks = {number: stack for number, (_, stack) in enumerate(samples)}
    log = SampleLog(stacks, [(when, number) for number, (when, _) in enumerate(samples)])
    table = StepTable(steps=steps, source="custom")
    found = start_line(make_evidence(steps=table, log=log, tracing=tracing, warm_up=WarmUp(total_s=13.0)), BEGUN)
    assert found is not None
    return found


def names(found: Start) -> list[tuple[str, float, float]]:
    return [(phase.name, phase.begin_s, phase.end_s) for phase in found.phases]


def test_what_ran_stands_in_order_and_leaves_no_gap() -> None:
    data = Stack((), "", "python")
    samples = [(14 * S + number * S, data) for number in range(6)]
    found = made([(15 * S, 16 * S), (21 * S, int(22.5 * S))], samples)
    assert names(found) == [
        ("other imports", 0.0, 1.0),
        ("importing TensorFlow", 1.0, 4.0),
        ("data and other Python", 4.0, 5.0),
        ("tracing", 5.0, 6.0),
        ("data and other Python", 6.0, 11.0),
        ("tracing", 11.0, 12.5),
        ("compile and first runs", 12.5, 13.0),
    ]
    ends = [phase.end_s for phase in found.phases]
    assert ends[:-1] == [phase.begin_s for phase in found.phases][1:]
    assert [(item.name, item.begin_s, item.end_s) for item in found.steps] == [
        ("before the steps", 0.0, 11.0),
        ("step 1", 11.0, 12.0),
        ("step 2", 12.0, 13.0),
    ]


def test_an_ordinary_step_is_no_warm_up_of_its_own() -> None:
    """The end of each first step, as long as an ordinary step, is the step."""
    table = StepTable(steps=STEPS, source="custom")
    given: dict[str, Any] = {"steps": table, "parts_ms": {"graph": 400.0}, "warm_up": WarmUp(total_s=13.0)}
    found = start_line(make_evidence(**given), BEGUN)
    assert found is not None
    assert names(found)[-4:] == [
        ("compile and first runs", 11.0, 11.6),
        ("the steps themselves", 11.6, 12.0),
        ("compile and first runs", 12.0, 12.6),
        ("the steps themselves", 12.6, 13.0),
    ]


def test_a_trace_across_several_steps_and_samples_is_one_piece() -> None:
    samples = [(14 * S + number * S, Stack((), "", "python")) for number in range(7)]
    assert names(made([(15 * S, int(22.4 * S))], samples))[2:] == [
        ("data and other Python", 4.0, 5.0),
        ("tracing", 5.0, 12.4),
        ("compile and first runs", 12.4, 13.0),
    ]


def test_without_samples_what_ran_before_the_steps_is_not_known() -> None:
    assert ("not sampled", 4.0, 11.0) in names(made([], []))


def test_what_no_eye_would_find_belongs_to_what_was_before() -> None:
    found = made([(number * S, number * S + S // 1000) for number in range(15, 20)], [])
    assert [name for name, _, _ in names(found)] == [
        "other imports",
        "importing TensorFlow",
        "not sampled",
        "the steps themselves",
    ]


def test_of_a_long_warm_up_the_last_steps_are_one() -> None:
    steps = tuple(
        Step(number, (20 + number) * S, (21 + number) * S, 1, 0, "warmup" if number <= 20 else "clean")
        for number in range(1, 25)
    )
    found = made([], [], steps)
    assert found.steps[-1].name == "steps 13 to 20" and len(found.steps) == 14


def test_no_line_without_an_account() -> None:
    given: dict[str, Any] = {"steps": make_steps()}
    assert start_line(make_evidence(**given), BEGUN) is None
    assert start_line(make_evidence(**given, warm_up=WarmUp(total_s=1.0)), None) is None
