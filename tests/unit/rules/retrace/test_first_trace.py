"""The first trace stays when a graph is kept: its time is in the steps, and not among the saved seconds."""

from __future__ import annotations

import pytest
from tfperfkit_probes.retrace.model import Trace
from tfperfkit_rules.retrace.cost import pay_first

from tfperfkit.clock import NS_PER_MS
from tfperfkit.gain import Range, Unknown
from tfperfkit.records.steps import Step, StepTable

HALF = Range(2.0, 2.0, 2.0)


def make_table(*durations_ms: float, warm: int = 3) -> StepTable:
    steps, at = [], 0
    for number, duration in enumerate(durations_ms):
        end = at + round(duration * NS_PER_MS)
        steps.append(Step(number + 1, at, end, 1, 0, "warmup" if number < warm else "clean"))
        at = end
    return StepTable(steps=tuple(steps), source="custom")


STEPS = make_table(2000, 100, 100, *[100] * 57)


def make_trace(step: int, ms: float) -> Trace:
    return Trace(number=step, kind="retrace", step=step, ms=ms, self_ms=ms, cause=[], call_site=None)


def test_of_steps_that_all_trace_the_longer_first_one_and_one_more_stay() -> None:
    """The first step takes 1,900 ms more, and half of a step of 100 ms is the trace that is needed all the same."""
    (paid,) = pay_first(STEPS, HALF)
    assert paid.seconds == pytest.approx((-1.0, -1.0))


def test_a_trace_of_every_tenth_step_takes_the_time_that_ten_steps_save() -> None:
    """The longer first step saves 0.95 s, one trace 0.5 s."""
    (paid,) = pay_first(STEPS, HALF, apart=10.0)
    assert paid.seconds == pytest.approx((-1.45, -1.45))


def test_of_steps_that_partly_trace_the_warm_up_stays_but_for_its_retraces() -> None:
    """The share is of 5.9 s: the steps behind the warm-up, and 0.2 s of retraces in it. The other 2 s stay."""
    (paid,) = pay_first(STEPS, HALF, [make_trace(2, 80.0), make_trace(3, 120.0), make_trace(30, 500.0)])
    assert paid.seconds == pytest.approx((-1.0, -1.0))


def test_at_best_the_first_runs_of_retraces_in_the_warm_up_go_too() -> None:
    """The second step takes 900 ms more than the others, of which 200 ms are the retrace itself."""
    (paid,) = pay_first(make_table(2000, 1000, 100, *[100] * 57), HALF, [make_trace(2, 200.0)])
    assert paid.seconds == pytest.approx((-1.45, -1.1))


def test_without_a_gain_or_clean_steps_nothing_is_left_out() -> None:
    assert pay_first(STEPS, Unknown()) == ()
    assert pay_first(make_table(2000, 100), HALF) == ()
