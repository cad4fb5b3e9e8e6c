"""From which samples the shares of a work are drawn."""

from __future__ import annotations

from tfperfkit.analysis.work.views import _join_over, _steady, holds_steps
from tfperfkit.records.samples import SampleLog, Stack, precise_spans
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Step, StepTable

MS = 1_000_000


def log() -> SampleLog:
    """Return samples of a second of one line, then of four seconds of another, one each 10 ms."""
    stacks = {1: Stack((), "tensorflow", "python"), 2: Stack((), "tensorflow", "graph")}
    return SampleLog(stacks, [(10 * MS * i + MS, 1 if i < 100 else 2) for i in range(500)])


SPANS = [(100 * MS * i, 100 * MS * (i + 1)) for i in range(50)]


def test_those_of_the_precise_time_alone() -> None:
    assert set(_steady(log(), SPANS, Spans([(0, 1000 * MS)])).activities) == {"python"}


def test_all_where_the_precise_time_was_too_short() -> None:
    assert _steady(log(), SPANS, Spans([(0, 150 * MS)])).count == 500
    assert _steady(log(), SPANS, Spans()).count == 500


def test_a_stretch_goes_on_behind_a_trace_that_was_described() -> None:
    stretches = Spans([(0, 1000 * MS), (1030 * MS, 5000 * MS), (5030 * MS, 6000 * MS)])
    joined = _join_over(stretches, Spans([(1001 * MS, 1029 * MS), (7000 * MS, 7030 * MS)]))
    assert joined[:] == [(0, 5000 * MS), (5030 * MS, 6000 * MS)]
    assert joined.overlap(7000 * MS, 7030 * MS) == 0, "of other work"
    half_precise = Spans([(500 * MS, 6000 * MS)])
    assert set(_steady(log(), stretches[:2], half_precise).activities) == {"graph"}, "without the first trace"
    assert set(_steady(log(), joined[:1], half_precise).activities) == {"python", "graph"}


def test_the_precise_times_of_a_run() -> None:
    events = [
        {"kind": "precise", "ns": 5},
        {"kind": "precise_end", "ns": 9},
        {"kind": "precise", "ns": 20},
    ]
    assert precise_spans(events) == [(5, 9), (20, 1 << 62)]
    assert precise_spans([]) == []


def test_a_trace_of_training_steps_tells_nothing_of_the_work_around_them() -> None:
    steps = StepTable(steps=(Step(1, 100, 200, 1, 0, "clean"), Step(2, 900, 950, 1, 0, "tfprof")), source="keras")
    windows = [(880, 1000, "tfprof"), (300, 600, "lines")]
    assert holds_steps("tfprof", windows, steps)
    assert not holds_steps("lines", windows, steps)
    assert not holds_steps("tfprof", windows, StepTable())
