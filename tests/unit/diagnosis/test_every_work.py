"""Findings of the steps and of works are ranked by what they take of the run."""

from __future__ import annotations

import msgspec
import pytest
from evidence_builder import FILE, MS, make_account, make_evidence
from finding_builder import finding

from tfperfkit.diagnosis import every_work
from tfperfkit.diagnosis.freeing import waits_for_iterators
from tfperfkit.gain import AtLeast, Gain, Range, UpTo
from tfperfkit.model import SourceSpan, Work
from tfperfkit.offers import Pipelines
from tfperfkit.records.samples import Frame, SampleLog, Samples, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

WALL_S = 40.0


@pytest.fixture(autouse=True)
def as_computed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ranges as they are computed: ``test_spread`` has their widening."""
    if "widened" not in request.node.name:
        monkeypatch.setattr(every_work, "widen_finding", lambda item, *_: item)


def of_the_steps() -> Evidence:
    """120 steps of 5 ms with pauses of 75 ms, behind a first one that was traced and compiled for 2.4 s."""
    first = Step(1, 0, 2400 * MS, 1, 0, "warmup")
    later = [Step(n, begin * MS, (begin + 5) * MS, 1, 0, "clean") for n in range(2, 121) for begin in (2400 + 80 * n,)]
    account = msgspec.structs.replace(make_account({"graph": 5.0}), between_total_ms=75.0)
    return make_evidence(account=account, steps=StepTable(steps=(first, *later), source="keras"))


def test_a_first_step_that_is_compiled_makes_no_turn_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare a finding of iterations, a tenth more than the finding of a work that takes twice as much of the run."""
    run = of_the_steps()
    work = Work(kind="loop", where=SourceSpan(FILE, 9), seconds=20.0, share_of_run=0.5, iterations=99)
    waits = run.narrowed(
        work=work, steps=run.steps, account=make_account({"python": 9.0}), samples=Samples(), log=SampleLog({}, [])
    )
    fits = finding("EAG006", 0.9, family="eager", basis="turn", gain=Range(10.0, 10.0, 10.0))
    sleeps = finding("STP004", 0.8, family="step", gain=Range(5.0, 5.0, 5.0), where=(SourceSpan(FILE, 10),))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([fits if evidence.work is None else sleeps], []))
    told, _ = every_work.findings(run, [waits], (), WALL_S)
    assert [item.code for item in told] == ["STP004", "EAG006"]
    assert told[1].share_of_run == pytest.approx(0.9 * (2.4 + 119 * 0.005 + 120 * 0.075) / WALL_S)


@pytest.mark.parametrize(
    ("gain", "saves_s"),
    [
        (Range(2.0, 3.0, 4.0), (10.0, 15.0)),
        (Range(2.0, 2.0, 2.0), (10.0, 10.0)),
        (AtLeast(5.0), (16.0, 16.0)),
        (UpTo(5.0), None),
        (Range(1.0, 1.0, 1.0), None),
    ],
)
def test_what_a_finding_of_a_work_saves_is_of_its_half_of_the_run(
    monkeypatch: pytest.MonkeyPatch, gain: Gain, saves_s: tuple[float, float] | None
) -> None:
    run = of_the_steps()
    work = Work(kind="loop", where=SourceSpan(FILE, 9), seconds=20.0, share_of_run=0.5, iterations=99)
    of_work = run.narrowed(
        work=work, steps=run.steps, account=make_account({"python": 9.0}), samples=Samples(), log=SampleLog({}, [])
    )
    sleeps = finding("STP004", 0.8, family="step", gain=gain)
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([] if evidence.work is None else [sleeps], []))
    told, _ = every_work.findings(run, [of_work], (), WALL_S)
    assert told[0].saves_s == (pytest.approx(saves_s) if saves_s else None)


def test_what_a_risk_would_save_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    grows = finding("MEM001", 0.5, family="memory", basis="risk")
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([grows], []))
    told, _ = every_work.findings(of_the_steps(), [], (), WALL_S)
    assert (told[0].share_of_run, told[0].saves_s) == (None, None)


def waited(behind: bool, feeds: bool = True) -> Evidence:
    """Steps that a pipeline feeds, and 3 s until its iterator is freed, after the last of them or before."""
    steps = of_the_steps().steps
    begin = steps.steps[-1].end_ns if behind else steps.steps[0].end_ns
    stacks = {1: Stack((Frame("train.py", 1, "main", 9),), "", "waiting"), 2: Stack((), "", "python")}
    log = SampleLog(stacks, [*((begin + 100 * MS * n, 1) for n in range(31)), (begin + 3050 * MS, 2)])
    offers = {"input": (Pipelines(iterated=True, feeds_steps=feeds),)}
    return make_evidence(account=make_account({"graph": 5.0}), steps=steps, log=log, offers=offers)


def test_the_wait_until_iterators_are_freed_is_of_steps_and_between_them_of_turns() -> None:
    assert waits_for_iterators(waited(behind=True)) == pytest.approx({"step": 3.0, "turn": 3.0}, abs=0.2)
    assert waits_for_iterators(waited(behind=False)) == pytest.approx({"step": 3.0, "turn": 0.0}, abs=0.2)
    assert waits_for_iterators(waited(behind=True, feeds=False)) == {}


def test_iterators_that_lived_less_long_are_freed_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    faster = finding("GRF010", 0.9, family="graph", gain=Range(2.0, 3.0, 4.0))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([faster], []))
    (told,), _ = every_work.findings(waited(behind=True), [], (), WALL_S)
    steps_s = 2.4 + 119 * 0.005
    assert told.saves_s == pytest.approx((steps_s / 2 + 3.0 - steps_s / 2, (steps_s + 3.0) * 0.75), abs=0.2)
    assert [other.where for other in told.elsewhere] == ["the wait until iterators are destroyed"]
    assert "1.5 to 2.2 s of the wait until iterators are destroyed" in told.detail


def test_the_same_line_in_a_work_is_one_finding_with_the_seconds_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """One remedy fixes both: the costlier one is kept, and says what it saves in the other."""
    run = of_the_steps()
    work = Work(kind="loop", where=SourceSpan(FILE, 9), seconds=20.0, share_of_run=0.5, iterations=99)
    of_work = run.narrowed(
        work=work, steps=run.steps, account=make_account({"python": 9.0}), samples=Samples(), log=SampleLog({}, [])
    )
    slow = finding("GRF010", 0.8, family="graph", gain=Range(2.0, 3.0, 4.0))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([slow], []))
    (told,), _ = every_work.findings(run, [of_work], (), WALL_S)
    steps_s = 2.4 + 119 * 0.005
    assert told.work and told.saves_s == pytest.approx((10.0 + steps_s / 2, 15.0 + steps_s * 0.75))
    assert [other.where for other in told.elsewhere] == ["the training steps"]
    assert "1.5 to 2.2 s of the training steps" in told.detail


@pytest.mark.parametrize("between", [True, False])
def test_a_work_between_steps_has_the_seconds_of_the_turns(monkeypatch: pytest.MonkeyPatch, between: bool) -> None:
    """The loop that predicts behind each step is in the training loop's turns: one time, and one finding."""
    run = of_the_steps()
    end = run.steps.steps[-1].end_ns
    begin = 3000 * MS if between else end
    work = Work(kind="loop", where=SourceSpan(FILE, 9), seconds=6.0, share_of_run=0.15, iterations=99)
    log = SampleLog({1: Stack((), "", "python")}, [(begin + 100 * MS * n, 1) for n in range(60)])
    of_work = run.narrowed(
        work=work, steps=run.steps, account=make_account({"python": 9.0}), samples=Samples(), log=log
    )
    at = (SourceSpan(FILE, 10),)
    calls = finding("EAG004", 0.9, family="eager", gain=Range(5.0, 5.0, 5.0), where=at)
    same = finding("EAG004", 0.1, family="eager", gain=Range(1.1, 1.1, 1.1), where=at, basis="turn")
    evaluates = finding("STP001", 0.7, family="step", gain=Range(3.0, 3.0, 3.0), where=at, basis="turn")
    monkeypatch.setattr(
        every_work, "apply", lambda evidence: ([evaluates, same] if evidence.work is None else [calls], [])
    )
    told, _ = every_work.findings(run, [of_work], (), WALL_S)
    kept = {item.code: item for item in told}
    assert set(kept) == ({"EAG004"} if between else {"EAG004", "STP001"})
    assert bool(kept["EAG004"].elsewhere) is not between


def test_what_was_traced_in_the_first_steps_is_no_time_that_faster_steps_save(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = of_the_steps().steps
    run = make_evidence(account=make_account({"graph": 5.0}), steps=steps, tracing=[(0, 2000 * MS)])
    faster = finding("GRF010", 0.9, family="graph", gain=Range(2.0, 2.0, 2.0))
    waits = finding("INP006", 0.9, family="input", gain=Range(2.0, 2.0, 2.0))
    traces = finding("RET014", 0.9, family="retrace", gain=Range(2.0, 2.0, 2.0))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([faster, waits, traces], []))
    told, _ = every_work.findings(run, [], (), WALL_S)
    saved = {item.code: item.saves_s for item in told}
    rest_s = 0.4 + 119 * 0.005
    assert saved["INP006"] == pytest.approx([rest_s / 2] * 2)
    # A graph with less in it is traced sooner, at most in proportion.
    assert saved["GRF010"] == pytest.approx([rest_s / 2, (2.0 + rest_s) / 2])
    assert saved["RET014"] == pytest.approx([(2.4 + 119 * 0.005) / 2] * 2)


def test_what_every_step_traces_is_no_first_trace() -> None:
    """As where each calls predict, whose pipeline is a new one: it goes with the steps."""
    steps = of_the_steps().steps
    traced = [(step.begin_ns, step.begin_ns + 2 * MS) for step in steps.steps[1:]]
    run = make_evidence(
        account=make_account({"graph": 3.0, "tracing": 2.0}), steps=steps, tracing=[(0, 100 * MS), *traced]
    )
    assert every_work._first_tracing_s(run) == pytest.approx(0.098)


def test_a_range_is_widened_by_past_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    item = finding("INP006", 0.9, family="input", gain=Range(2.0, 2.0, 2.0))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([item], []))
    (widened,), _ = every_work.findings(of_the_steps(), [], (), WALL_S)
    monkeypatch.setattr(every_work, "widen_finding", lambda item, *_: item)
    (computed,), _ = every_work.findings(of_the_steps(), [], (), WALL_S)
    assert widened.saves_s is not None and computed.saves_s is not None
    assert widened.saves_s[0] <= computed.saves_s[0] and widened.saves_s[1] > computed.saves_s[1]
    assert widened.saves_share == pytest.approx([end / WALL_S for end in widened.saves_s])


def test_tracing_in_a_window_before_the_steps_were_steady_is_paid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open a trace window with the first step: it holds the step's tracing, which no faster step saves."""
    first, *later = of_the_steps().steps.steps
    steps = StepTable(steps=(msgspec.structs.replace(first, window="tfprof"), *later), source="keras")
    run = make_evidence(account=make_account({"graph": 5.0}), steps=steps, tracing=[(0, 2000 * MS)])
    waits = finding("INP006", 0.9, family="input", gain=Range(2.0, 2.0, 2.0))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([waits], []))
    (told,), _ = every_work.findings(run, [], (), WALL_S)
    assert told.saves_s == pytest.approx([(0.4 + 119 * 0.005) / 2] * 2)
