"""Time that counts as no work: waiting for our windows, at whatever line, and iterations of training."""

from __future__ import annotations

import msgspec

from tfperfkit.analysis.work.views import views
from tfperfkit.model import RunStatus
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Loop, Site, Step, StepTable
from tfperfkit.rule import Evidence
from tfperfkit.testing import evidence_of

MS = 1_000_000
SOURCE = ("for day in range(5):", "    evaluate(day)")
#: Until 5 s the script computes, until 9 s a window opens, to the end it computes again: all at one line.
OURS = Spans([(5000 * MS, 9000 * MS)])


def log() -> SampleLog:
    frames = (Frame("/s.py", 1, "<module>", 2),)
    stacks = {1: Stack(frames, "tensorflow", "graph"), 2: Stack(frames, "line_profiler", "python")}
    return SampleLog(stacks, [(10 * MS * i, 2 if 500 < i < 900 else 1) for i in range(1400)])


def test_it_is_left_out() -> None:
    evidence = evidence_of()
    evidence.log = log()
    sources = {"/s.py": SOURCE}
    (whole,) = views(evidence, [], sources, 14_000 * MS)
    assert whole.work.seconds > 13 and whole.account.parts_ms["python"] > 3000
    (found,) = views(evidence, [], sources, 14_000 * MS, OURS)
    assert found.work.seconds < 10.1
    assert set(found.log.samples(list(found.log.whole)).activities) == {"graph"}
    assert found.account.parts_ms["python"] == 0


def test_the_begun_and_the_cut_turn_of_the_training_loop_are_no_work() -> None:
    """Before the first update of the first turn, and where an interruption cut the last. A hundred turns without an
    update would be."""
    turns = (Step(1, 2000 * MS, 7000 * MS), Step(2, 7000 * MS, 12_000 * MS))
    sources = {"/s.py": SOURCE}

    def found(steps: tuple[Step, ...], loop: Loop) -> list[Evidence]:
        return views(evidence_of(steps=StepTable(steps=steps, loop=loop), log=log()), [], sources, 14_000 * MS)

    assert found(turns, Loop("/s.py", 1)) == []
    assert [each.work is not None for each in found(turns, Loop("/s.py", 9))] == [True]
    short = (Step(1, 2000 * MS, 2100 * MS),)
    assert len(found(short, Loop("/s.py", 1))) == 1


def test_the_step_in_which_a_run_was_cut_is_no_work_of_the_call_that_trains() -> None:
    """``fit`` at line 2; the last second of the run is its third step, which nobody saw the end of."""
    steps = StepTable(steps=(Step(1, 2000 * MS, 7000 * MS), Step(2, 7000 * MS, 12_000 * MS)), source="keras")
    fits = Site(id=1, kind="batch", target=1, file="/s.py", line=2, chain=(("/s.py", 2),))

    def found(status: RunStatus, site: Site = fits) -> list[Evidence]:
        evidence = evidence_of(steps=steps, log=log().within([(11_000 * MS, 14_000 * MS)]), records={"sites": [site]})
        evidence.run = msgspec.structs.replace(evidence.run, status=status)
        return views(evidence, [], {"/s.py": ("import keras", "model.fit(x)")}, 14_000 * MS)

    assert found("interrupted") == [] and found("killed") == []
    assert len(found("finished")) == 1, "it ended by itself: this is what came after training"
    assert len(found("killed", msgspec.structs.replace(fits, kind="predict"))) == 1
