"""Ranking, merging, headline, prices, and rules by entry point."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Any

import msgspec
import pytest
from computed_builder import spread_out
from concluded import headline
from evidence_builder import make_account, make_evidence
from finding_builder import finding, unexplained
from tfprof_builder import GRAPH, brief

from tfperfkit import gain
from tfperfkit.diagnosis.headline import of_the_run, step_flops, within
from tfperfkit.diagnosis.merging import merge
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.rules import apply, apply_last, available
from tfperfkit.model import Basis, Finding, LineTime, RunAccount, SourceSpan, Work
from tfperfkit.offers import ComputedStretch, FunctionCalls, FunctionCosts, LayerWork
from tfperfkit.records.conclusion import NEEDED, NO_FAULT
from tfperfkit.records.samples import Frame, Samples, Stack
from tfperfkit.rule import LastRule

#: The verdict on a step that computes as fast as the machine can.
KNOWN = f"{NO_FAULT}: {NEEDED}."


def test_the_order_is_by_gain_not_by_severity() -> None:
    ranked = rank([finding("A", 0.1, severity="high"), finding("B", 0.5, severity="low")])
    assert [item.code for item in ranked] == ["B", "A"]
    assert [item.severity for item in ranked] == ["high", "medium"]


def test_under_two_per_cent_nothing_is_shouted() -> None:
    assert rank([finding("A", 0.019)])[0].severity == "info"
    assert rank([finding("A", None)])[0].severity == "info"


def test_severity_goes_by_what_a_fix_saves_of_the_run() -> None:
    """30 % of a loop that is a tenth of the run is 3 % of the run; if the run mostly starts and ends, it is more."""
    item = msgspec.structs.replace(finding("A", 0.3), work="a.py:3")
    shares: dict[tuple[str, Basis], float] = {("a.py:3", "step"): 0.1, ("", "step"): 0.5}
    assert [rank([item], shares, repeated)[0].severity for repeated in (1.0, 0.25, 0.1)] == ["low", "medium", "high"]
    assert rank([item], shares)[0].severity == "high", "if it is not known what is paid once, the loop counts"
    tiny: dict[tuple[str, Basis], float] = {("a.py:3", "step"): 0.001}
    assert rank([item], tiny, 1.0)[0].severity == "low", "a finding does not become a remark"


def test_the_order_goes_by_the_centre_of_the_seconds_that_a_fix_saves() -> None:
    """At least 1.07 times faster, but of 8 seconds; and surely 1.25 times, of 4 seconds."""
    shares: dict[tuple[str, Basis], float] = {("", "step"): 0.8}
    least = finding("A", 0.8, gain=gain.AtLeast(1.07), saves_share=(0.05, 0.8))
    sure = finding("B", 0.2, saves_share=(0.19, 0.21))
    assert [item.code for item in rank([sure, least], shares)] == ["A", "B"]
    less = finding("C", 0.5, gain=gain.AtLeast(1.07), saves_share=(0.05, 0.3))
    assert [item.code for item in rank([less, sure], shares)] == ["B", "C"]


def test_a_risk_keeps_its_voice_and_a_cost_without_a_gain_is_low() -> None:
    risk = finding("R", None, basis="risk", severity="high", share_of_step=0.0)
    run = finding("S", None, basis="run", severity="medium", share_of_step=0.6)
    ranked = rank([finding("A", 0.1), risk, run])
    assert [item.code for item in ranked] == ["R", "A", "S"]
    assert [item.severity for item in ranked] == ["high", "medium", "low"], "what nobody can predict is not loud"


def test_what_is_paid_once_and_has_no_gain_stands_behind_a_cause_that_has_one() -> None:
    tracing = finding("T", None, basis="run", severity="low", share_of_step=0.49)
    assert [item.code for item in rank([tracing, finding("A", 0.1)])] == ["A", "T"]
    assert [item.code for item in rank([tracing, finding("A", 0.03)])] == ["T", "A"]
    known = finding("T", 0.49, basis="run", severity="low")
    assert [item.code for item in rank([finding("A", 0.1), known])] == ["T", "A"]


def test_a_symptom_is_folded_into_its_cause() -> None:
    cause = finding("INP002", 0.8, absorbs=("INP001",))
    merged = merge([finding("INP001", 0.7), cause])
    assert [item.code for item in merged] == ["INP002"]
    assert "Also explains: INP001 (t.py:3, 70 % of the step)." in merged[0].detail


def test_what_costs_much_more_than_the_cause_stands_for_itself() -> None:
    cause = finding("INP002", 0.1, absorbs=("INP001",))
    assert {item.code for item in merge([finding("INP001", 0.7), cause])} == {"INP001", "INP002"}


def test_some_symptoms_are_folded_in_only_at_the_same_place() -> None:
    cause = finding("INP002", 0.8, absorbs_here=("LIN001",))
    near = finding("LIN001", 0.6, where=(SourceSpan("t.py", 40), SourceSpan("t.py", 3)))
    far = finding("LIN001", 0.5, where=(SourceSpan("t.py", 50),))
    assert [item.where[0].line for item in merge([cause, near, far])] == [3, 50]


def test_two_that_absorb_each_other_leave_one() -> None:
    merged = merge([finding("A", 0.5, absorbs=("B",)), finding("B", 0.5, absorbs=("A",))])
    assert len(merged) == 1


def test_a_symptom_wherever_it_stands_takes_in_nothing_of_its_cause_at_a_place() -> None:
    both = [finding("A", 0.5, absorbs_here=("B",)), finding("B", 0.5, absorbs=("A",))]
    assert [item.code for item in merge(both)] == ["B"]
    assert [item.code for item in merge(reversed(both))] == ["B"]


def test_one_cause_in_steps_and_in_a_work_is_reported_where_it_costs_more_of_the_run() -> None:
    found = [finding("A", 0.85), finding("A", 0.88, work="train.py:53")]
    shares = {("", "step"): 0.4, ("train.py:53", "step"): 0.18}
    assert [item.work for item in merge(found, shares)] == [""]
    assert [item.work for item in merge(found, {("", "step"): 0.01, ("train.py:53", "step"): 0.9})] == ["train.py:53"]


def test_one_code_at_one_place_is_reported_once() -> None:
    assert [item.share_of_step for item in merge([finding("A", 0.2), finding("A", 0.4)])] == [0.4]


def test_a_cause_of_the_whole_run_explains_what_a_work_shows_at_its_place() -> None:
    here, there = finding("B", 0.6, work="t.py:2"), finding("B", 0.6, work="t.py:2", where=(SourceSpan("t.py", 9),))
    whole = finding("A", 0.9, basis="run", absorbs=("B",))
    assert [item.code for item in merge([whole, here])] == ["A"]
    assert [item.code for item in merge([whole, there])] == ["A", "B"]
    assert [item.code for item in merge([finding("A", 0.9, absorbs=("B",)), here])] == ["A", "B"]


def test_amdahl_and_intervals() -> None:
    assert gain.speedup(0.5) == pytest.approx(2.0)
    assert gain.from_shares(0.5, 0.2).bounds == (pytest.approx(1.25), pytest.approx(2.0))
    low, high = gain.interval(0.3, 100)
    assert 0.2 < low < 0.3 < high < 0.41  # Wilson's interval for 30 of 100
    assert gain.interval(0.3, 0) == (pytest.approx(0.28), pytest.approx(0.32))
    assert gain.speedup(1.0) <= gain.MAX


def test_the_first_party_rules_come_by_entry_point() -> None:
    names = {point.name for point in available()}
    assert {"input", "eager", "compile", "memory", "step"} <= names
    for point in available():
        assert all(callable(rule) for rule in point.load())


def test_a_broken_rule_becomes_a_sentence_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("made_rules")

    def breaks(evidence: object) -> list[Finding]:
        raise RuntimeError("no luck")

    def bare(evidence: object) -> list[Finding]:
        return [finding("Z", evidence=())]

    def good(evidence: object) -> list[Finding]:
        return [finding("Y")]

    module.RULES = (breaks, bare, good)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_rules", module)
    points = [EntryPoint("made", "made_rules:RULES", "tfperfkit.rules"), EntryPoint("gone", "no_such:RULES", "x")]
    found, troubles = apply(None, points)  # type: ignore[arg-type]
    assert [item.code for item in found] == ["Y"]
    assert len(troubles) == 3
    assert any("no luck" in text for text in troubles) and any("no_such" in text for text in troubles)


def test_a_rule_of_anyone_can_be_asked_last_with_what_the_others_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("last_rules")

    @LastRule
    def sums_up(evidence: object, findings: Sequence[Finding]) -> list[Finding]:
        return [finding(f"LAST{len(findings)}")]

    @LastRule
    def breaks(evidence: object, findings: Sequence[Finding]) -> list[Finding]:
        raise RuntimeError("no luck")

    def first(evidence: object) -> list[Finding]:
        return [finding("A"), finding("B")]

    module.RULES = (sums_up, breaks, first)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "last_rules", module)
    points = [EntryPoint("made", "last_rules:RULES", "tfperfkit.rules")]
    found, troubles = apply(None, points)  # type: ignore[arg-type]
    assert [item.code for item in found] == ["A", "B"] and troubles == []
    left, troubles = apply_last(None, found, points)  # type: ignore[arg-type]
    assert [item.code for item in left] == ["LAST2"]
    assert troubles == ["The rule made.breaks failed: RuntimeError: no luck"]


def test_a_step_far_from_the_machines_rate_is_not_called_bound_by_arithmetic() -> None:
    ((probe, (spread,)),) = spread_out().items()
    one = msgspec.structs.replace(spread.operations[0], ms=10.0, busy_ms=10.0)
    step = msgspec.structs.replace(spread, operations=(one,))
    for flops, said in ((0.75e9, True), (0.06e9, False)):  # 83 and 7 of 100 GFLOP/s
        text = headline(
            [],
            make_evidence(
                parts_ms={"graph": 9.0}, machine_gflops=100.0, offers={probe: [step], "a": [LayerWork(flops=flops)]}
            ),
        )
        assert ("limited by the machine's arithmetic" in text) is said
        assert ("(7 %)" in text) is not said


def test_what_bounds_a_healthy_step() -> None:
    evidence = make_evidence(
        parts_ms={"graph": 9.0, "python": 1.0},
        machine_gflops=100.0,
        offers={"anyone": [LayerWork(flops=0.75e9)]},
    )
    text = headline([], evidence)
    assert text.startswith(f"{KNOWN} 90 % of a step is computing in compiled functions;")
    assert "83 GFLOP/s" in text and "100 on this machine (83 %)" in text
    outrun = make_evidence(parts_ms={"graph": 9.0}, machine_gflops=40.0, offers={"anyone": [LayerWork(flops=0.75e9)]})
    assert headline([], outrun).startswith("No cause found")  # the machine was busy when it was measured
    called = FunctionCalls(per_step={GRAPH: 1.0})
    for flops, said in ((4e5, False), (4e8, True)):  # almost nothing is counted if sizes are open
        costs = FunctionCosts(functions=(brief(flops=flops),))
        text = headline([], make_evidence(parts_ms={"graph": 9.0}, offers={"one": [called], "another": [costs]}))
        assert ("44 GFLOP/s" in text) is said and ("GFLOP" in text) is said
    assert headline([finding("A", 0.3)], evidence) == "First: the title of A (t.py:3)."
    assert headline([], make_evidence()) == ""


def test_what_runs_between_the_steps_is_reported_where_it_takes_long() -> None:
    parts = {"graph": 8.0, "dispatch": 2.0}
    busy = make_account(parts, between_ms={"evaluate": 4.0, "callback": 1.0}, between_total_ms=5.0)
    assert headline([], make_evidence(account=busy)).endswith(
        "Another 5.0 ms passes between steps for each step, most of it predicting and validating."
    )
    quiet = make_account(parts, between_ms={"evaluate": 1.0}, between_total_ms=1.0)
    assert "Between" not in headline([], make_evidence(account=quiet))


def test_a_step_that_mostly_does_not_compute_is_not_called_healthy() -> None:
    text = headline([], make_evidence(parts_ms={"dispatch": 6.0, "graph": 4.0}))
    assert text.startswith("No cause found: 60 % of a step is Python of TensorFlow and Keras.")
    text = headline([], make_evidence(parts_ms={"dispatch": 4.0, "graph": 6.0}))
    assert text.startswith("No cause found: 60 % of a step is computing in compiled functions.")


@pytest.mark.parametrize(
    ("title", "inside"),
    [
        ("The step waits", "the step waits"),
        ("A loop runs", "a loop runs"),
        ("Python prepares", "Python prepares"),
        ("TensorFlow has 1 core", "TensorFlow has 1 core"),
        ("Noise is slow", "Noise is slow"),
        ("XLA is", "XLA is"),
    ],
)
def test_a_title_inside_a_sentence_keeps_the_letter_of_a_name(title: str, inside: str) -> None:
    assert within(title) == inside


def test_long_operations_are_no_sign_of_slow_python() -> None:
    long = headline([], make_evidence(parts_ms={"eager_ops": 96.0, "dispatch": 2.0, "python": 2.0}))
    assert long.startswith("No cause found: 96 % of a step is operations called one by one, each of them long")
    short = headline([], make_evidence(parts_ms={"eager_ops": 60.0, "dispatch": 38.0, "python": 2.0}))
    assert short.startswith("No cause found: 60 % of a step is operations called one by one") and "long" not in short


def said_of_the_run(*given: Any) -> str:
    conclusion = of_the_run(*given)
    return conclusion.text if conclusion is not None else ""


def test_a_run_that_is_something_else_is_called_that() -> None:
    """The largest part of the run, where all its steps took less; with its line, or its packages."""
    saved = LineTime(SourceSpan("/home/ann/train.py", 12, "main"), 30.0)
    account = RunAccount(
        total_s=60.0,
        parts_s={"imports": 9.0, "training": 20.0, "saving": 31.0},
        lines={"saving": (saved,)},
        imports_s={"tensorflow": 8.0, "pandas": 0.5},
    )
    assert said_of_the_run(account, 20.0) == "No cause found: 52 % of the run is loading and saving (train.py:12)."
    assert said_of_the_run(account, 31.0) == ""  # as long as the steps: they are what is spoken of
    assert said_of_the_run(account, 29.0, 29.0) == ""  # a loop with what lies around it
    assert said_of_the_run(account, 9.0, 9.0).startswith("No cause found: 52 % of the run")
    started = RunAccount(total_s=10.0, parts_s={"imports": 9.0, "training": 1.0}, imports_s=account.imports_s)
    assert said_of_the_run(started, 1.0) == (
        "Mostly startup: imports take 90 % of this run (tensorflow 8.0 s), a one-time cost. Profile a longer run."
    )
    less = RunAccount(total_s=25.0, parts_s={"imports": 9.0, "exit": 2.0}, imports_s=account.imports_s)
    assert said_of_the_run(less).startswith("Startup is the largest part: imports take 36 % of this run")
    unknown = RunAccount(total_s=20.0, parts_s={"data": 1.0, "not sampled": 19.0})
    assert said_of_the_run(unknown) == ""  # a small part of a run is not its cause
    assert said_of_the_run(None) == said_of_the_run(RunAccount(total_s=5.0, parts_s={"training": 5.0})) == ""
    graph = {"graph": 100.0}
    told = headline([], make_evidence(parts_ms=graph, run_account=account))
    assert told.startswith("No cause found: 52 % of the run")
    said = headline([], make_evidence(parts_ms=graph))
    assert said.startswith("No cause found: 100 % of a step is computing in compiled functions. Its lines were not")
    said = headline([], make_evidence(parts_ms={"graph": 0.1, "dispatch": 0.3}, run_account=started))
    assert (
        "a one-time cost. Profile a longer run. No cause found: 75 % of a step is Python of TensorFlow and Keras."
        in said
    )


def test_a_sound_step_is_called_that_with_the_reason_unless_much_passes_between_two() -> None:
    parts = {"graph": 9.0, "input": 0.2, "dispatch": 0.8}
    said = headline([], make_evidence(parts_ms=parts, offers=spread_out()))
    assert said.startswith(
        f"{KNOWN} 90 % of a step is computing in compiled functions; input, Python and tracing take 10 %."
    )
    busy = make_account(parts, between_ms={"callback": 5.0}, between_total_ms=5.0)
    said = headline([], make_evidence(account=busy, offers=spread_out()))
    assert said.startswith(KNOWN.replace(":", " in the step itself:") + " 90 % of") and "passes between steps" in said


@pytest.mark.parametrize(("inside", "begins"), [("graph", KNOWN), ("dispatch", "No cause found:")])
def test_a_predict_that_computes_is_sound(inside: str, begins: str) -> None:
    samples = Samples()
    for _ in range(80):
        samples.add(Stack((Frame("t.py", 1, "<module>", 3),), "keras", inside, "evaluate"))
    step = make_evidence(parts_ms={"evaluate": 9.0, "dispatch": 1.0}, samples=samples, offers=spread_out())
    work = Work(kind="loop", where=SourceSpan("t.py", 2), seconds=20.0, share_of_run=0.5, iterations=99)
    traced = ComputedStretch(wall_ms=10.0, window="tfprof", computed=spread_out()["lines"][0])
    narrowed = step.narrowed(
        work=work, steps=step.steps, account=step.account, samples=samples, log=step.log, traced=traced
    )
    said = headline([], narrowed)
    assert said.startswith(f"{begins} 90 % of an iteration is predicting and validating")
    assert ("most of it in compiled functions" in said) is begins.startswith(NO_FAULT)


def test_a_predict_within_training_steps_needs_a_reason() -> None:
    samples = Samples()
    for _ in range(80):
        samples.add(Stack((Frame("t.py", 1, "<module>", 3),), "keras", "graph", "evaluate"))
    step = make_evidence(parts_ms={"evaluate": 9.0, "graph": 1.0}, samples=samples, offers=spread_out())
    said = headline([], step)
    assert said == "No cause found: 90 % of a step is predicting and validating (t.py:3)."
    (owner,) = [item for item in unexplained(step, []) if "Predicting" in item.title]
    assert owner.severity == "low"  # not a remark


def test_what_gains_a_few_per_cent_is_called_small_wherever_it_is() -> None:
    evidence = make_evidence(parts_ms={"graph": 9.0, "dispatch": 1.0})
    small = msgspec.structs.replace(finding("A", 0.3), severity="low", gain=gain.Range(1.035, 1.035, 1.035))
    assert headline([small], evidence).endswith("Small, some 3 % of a step: the title of A (t.py:3).")
    of_work = msgspec.structs.replace(small, work="the loop at t.py:3")
    assert headline([of_work], evidence).endswith("Small, some 3 % of the loop at t.py:3: the title of A (t.py:3).")
    of_run = msgspec.structs.replace(small, basis="run")
    assert headline([of_run], evidence).endswith("Small, some 3 % of the run: the title of A (t.py:3).")
    alone = headline([small], make_evidence())
    assert alone == "No large cause found. Small, some 3 % of a step: the title of A (t.py:3)."
    risk = msgspec.structs.replace(small, basis="risk", gain=gain.Unknown())
    assert headline([risk], evidence).startswith("First: the title of A")


@pytest.mark.parametrize(
    ("note", "known"),
    [
        ("open first dimensions counted as 8, as in the first call", True),
        ("3 operations of open size are not counted", False),
    ],
)
def test_flops_that_lack_open_sizes_are_none_that_a_work_reaches(note: str, known: bool) -> None:
    function = brief(graph="f", flops=2e9, flops_note=note)
    offers = {"ops": [FunctionCosts(functions=(function,)), FunctionCalls(per_step={"f": 2.0})]}
    evidence = make_evidence(parts_ms={"graph": 9.0}, offers=offers)
    assert step_flops(evidence) == 4e9
    evidence.work = Work(kind="loop", where=SourceSpan("t.py", 2), seconds=20.0, share_of_run=0.5)
    assert step_flops(evidence) == (4e9 if known else None)
