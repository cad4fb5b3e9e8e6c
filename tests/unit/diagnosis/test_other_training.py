"""Windows that saw another training than most steps are of: by the lines that led to the steps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from concluded import headline
from evidence_builder import FILE, MS, make_evidence, make_steps

from tfperfkit.diagnosis.other_training import notes, other_trainings
from tfperfkit.model import SourceSpan
from tfperfkit.offers import StepBreakdown
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

#: Of 60 steps of 10 ms: warm-up 1 to 3, a window 8 to 12.
WINDOW = range(8, 13)


def stack(*lines: int) -> Stack:
    return Stack(tuple(Frame(FILE, 1, "<module>", line) for line in lines), "tensorflow", "graph")


def given(steps_at: Sequence[tuple[range, Sequence[int]]], window: str = "tfprof") -> Evidence:
    """``steps_at``: steps by number, and the lines that led to each, in turn one sample after the other."""
    table = make_steps(60)
    steps = tuple(
        Step(s.number, s.begin_ns, s.end_ns, window=window if s.number in WINDOW else s.window) for s in table.steps
    )
    stacks: dict[int, Stack] = {}
    taken = []
    for numbers, lines in steps_at:
        for turn, number in enumerate(numbers):
            line = lines[turn % len(lines)]
            stacks[line] = stack(line)
            taken.append(((number - 1) * 10 * MS + 5 * MS, line))
    return make_evidence(
        parts_ms={"graph": 9.0, "dispatch": 1.0},
        steps=StepTable(steps=steps, source="keras"),
        log=SampleLog(stacks, sorted(taken)),
        offers={"tfprof": (StepBreakdown(parts_ms={"graph": 9.0}, steps=5),)},
    )


def test_a_short_training_before_the_long_one() -> None:
    evidence = given([(range(1, 15), [30]), (range(15, 61), [40])])
    (found,) = other_trainings(evidence)
    assert (found.probe, found.seen, found.main) == ("tfprof", SourceSpan(FILE, 30), SourceSpan(FILE, 40))
    assert found.main_share == pytest.approx(46 / 52) and found.begin == 25
    (note,) = notes(evidence)
    assert "train.py:30, 12 % of" in note and "train.py:40 has 88 %" in note and "--window tfprof=25:10" in note
    assert "another training" in headline((), evidence)


@pytest.mark.parametrize(
    "steps_at",
    [
        [(range(1, 61), [30])],
        [(range(1, 35), [30]), (range(35, 61), [40])],
        [(range(1, 8), [30]), (range(8, 13), [31]), (range(13, 61), [30, 32])],
        [(range(1, 11), [30]), (range(11, 61), [40])],
    ],
    ids=["one training", "two of a size", "lines of one loop", "a window across both"],
)
def test_windows_that_saw_what_there_is(steps_at: Sequence[tuple[range, Sequence[int]]]) -> None:
    evidence = given(steps_at)
    assert other_trainings(evidence) == [] and notes(evidence) == ()
    assert "another training" not in headline((), evidence)


def test_another_window_than_the_trace_is_a_note_only() -> None:
    evidence = given([(range(1, 15), [30]), (range(15, 61), [40])], window="devices")
    assert len(notes(evidence)) == 1 and "another training" not in headline((), evidence)
