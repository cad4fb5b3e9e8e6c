"""Parts of an account that no finding explains; and that what the figures show and the first line never contradict."""

from __future__ import annotations

import pytest
from concluded import headline
from evidence_builder import FILE, make_account, make_evidence, make_samples
from finding_builder import finding, unexplained
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.diagnosis import every_work
from tfperfkit.model import RunAccount, SourceSpan, Work
from tfperfkit.offers import AvoidableTracing, LayerWork
from tfperfkit.records.parts import PARTS, RunPart
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.rule import Evidence

DOING = {"python": "python", "graph": "graph", "host_sync": "host_sync", "eager_ops": "eager_ops", "gc": "python"}
DOING["dispatch"] = "dispatch"


def make_step(parts: dict[str, float]) -> Evidence:
    """Evidence whose samples have these proportions, each part at a line of its own."""
    whole = sum(parts.values())
    frames = {part: Frame(FILE, 1, "step", 10 + index) for index, part in enumerate(parts)}
    doing = {part: DOING.get(part, "python") for part in parts}
    samples = make_samples([(round(200 * ms / whole), doing[part], [frames[part]]) for part, ms in parts.items()])
    return make_evidence(account=make_account(parts), samples=samples)


def test_a_part_without_a_finding_is_reported_with_its_lines_and_what_is_gained_at_most() -> None:
    (found,) = unexplained(make_step({"graph": 5.0, "host_sync": 5.0}), [])
    assert (found.code, found.severity, found.share_of_step) == ("STP003", "low", 0.5)
    assert found.gain.likely is None and found.gain.high == 2.0
    assert found.where == (SourceSpan(FILE, 11, "step"),)
    assert found.title == "Reading values of tensors takes 50 % of a step, unexplained"


def test_what_computes_or_is_small_or_has_an_owner_is_not() -> None:
    assert list(unexplained(make_step({"graph": 9.4, "python": 0.6}), [])) == []
    assert [item.parts for item in unexplained(make_step({"graph": 9.4, "host_sync": 0.6}), [])] == [("host_sync",)]
    known = make_step({"graph": 5.0, "python": 5.0})
    assert list(unexplained(known, [finding("LIN001", 0.3, family="step")])) == []
    assert len(list(unexplained(known, [finding("LIN001", 0.2, family="step")]))) == 1  # explains less than half of it
    assert len(list(unexplained(known, [finding("OPS001", 0.5, family="graph")]))) == 1
    assert len(list(unexplained(known, [finding("LIN001", 0.5, work="other.py:3")]))) == 1


@pytest.mark.parametrize(
    ("called", "severity"),
    [("tensorflow.python.lib.io.tf_record:write", "info"), ("tensorflow.python.ops.math_ops:add", "low")],
)
def test_writing_records_is_no_python_to_compile(called: str, severity: str) -> None:
    samples = make_samples([(200, "dispatch", [Frame(FILE, 1, "export", 7, None, (called,))])])
    (found,) = unexplained(make_evidence(account=make_account({"dispatch": 9.0, "graph": 1.0}), samples=samples), [])
    assert found.severity == severity and "takes 90 % of a step" in found.title
    assert ("fewer and larger calls" in found.advice) == (severity == "low")


@pytest.mark.parametrize(
    ("called", "severity"),
    [("keras.src.layers.preprocessing.text_vectorization:adapt", "info"), ("keras.src.layers.layer:__call__", "low")],
)
def test_a_layer_that_goes_through_the_data_itself_is_nothing_to_compile(called: str, severity: str) -> None:
    samples = make_samples([(200, "eager_ops", [Frame(FILE, 1, "main", 7, None, (called,))])])
    found, _ = unexplained(
        make_evidence(account=make_account({"eager_ops": 6.0, "dispatch": 3.0, "graph": 1.0}), samples=samples), []
    )
    assert found.severity == severity and "takes 60 % of a step" in found.title
    assert ("@tf.function" in found.advice) == (severity == "low")


@pytest.mark.parametrize(("avoidable_ms", "severity"), [(10.0, "info"), (900.0, "low")])
def test_first_traces_of_new_models_are_a_remark(avoidable_ms: float, severity: str) -> None:
    ms = 1_000_000
    stack = Stack((Frame(FILE, 1, "fitted", 7),), "", "tracing", "")
    given = make_evidence(
        account=make_account({"tracing": 6.0, "graph": 4.0}),
        samples=make_samples([(200, "graph", [stack.frames[0]])]),
        log=SampleLog({1: stack}, [(0, 1), (1000 * ms, 1)], [(0, 10 * ms)]),
        tracing=[(0, 1000 * ms)],
        offers={"retrace": [AvoidableTracing(ms=avoidable_ms)]},
    )
    (found,) = unexplained(given, [])
    assert found.severity == severity and found.where == (SourceSpan(FILE, 7, "fitted"),)


def test_collections_belong_to_the_line_that_they_interrupt() -> None:
    """While one runs no sample is taken; the one behind it sees the line that waited."""
    ms = 1_000_000
    makes, runs = (Stack((Frame(FILE, 1, "step", line),), "", "python", "") for line in (10, 20))
    taken = [(0, 1), (10 * ms, 2), (20 * ms, 2), (120 * ms, 1), (130 * ms, 2), (140 * ms, 2)]
    evidence = make_evidence(
        account=make_account({"gc": 6.0, "graph": 4.0}),
        samples=make_samples([(150, "python", [runs.frames[0]]), (50, "python", [makes.frames[0]])]),
        log=SampleLog({1: makes, 2: runs}, taken, [(0, 10 * ms)]),
        collections=[(21 * ms, 119 * ms)],
    )
    (found,) = unexplained(evidence, [])
    assert found.title.startswith("Garbage collection takes") and found.where == (SourceSpan(FILE, 10, "step"),)


def test_a_line_that_two_works_reach_explains_a_part_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding is reported once; its part of the other work has an owner too."""
    run = make_step({"graph": 10.0})
    found = finding("EAG004", 0.9, family="eager")
    works = []
    for line in (3, 9):
        known = make_step({"evaluate": 9.0, "dispatch": 1.0})
        work = Work(kind="loop", where=SourceSpan(FILE, line), seconds=4.0, share_of_run=0.5, iterations=40)
        view = {"steps": known.steps, "account": known.account, "samples": known.samples}
        works.append(run.narrowed(work=work, log=SampleLog({}, []), **view))
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([found] if evidence.work is not None else [], []))
    told, _ = every_work.findings(run, works, (), 8.0)
    assert [(item.code, item.work) for item in told] == [("EAG004", "train.py:3")]
    monkeypatch.setattr(every_work, "apply", lambda evidence: ([], []))
    left, _ = every_work.findings(run, works, (), 8.0)
    assert {item.work for item in left} == {"train.py:3", "train.py:9"} and {item.code for item in left} == {"STP003"}


def test_operations_and_what_hands_them_out_are_one_and_long_ones_compute() -> None:
    (found,) = unexplained(make_step({"eager_ops": 6.0, "dispatch": 3.0, "graph": 1.0}), [])
    assert found.share_of_step == pytest.approx(0.9) and found.where[0].line == 10
    assert list(unexplained(make_step({"eager_ops": 9.0, "dispatch": 0.1}), [])) == []


def test_a_finding_about_operations_owns_the_heavy_ones_that_it_leaves_too() -> None:
    known = make_step({"eager_ops": 7.0, "dispatch": 2.0, "graph": 1.0})
    assert list(unexplained(known, [finding("EAG001", 0.3, family="eager")])) == []
    assert len(list(unexplained(known, [finding("EAG001", 0.05, family="eager")]))) == 1


def test_the_larger_half_of_them_is_enough_where_that_is_little() -> None:
    """Of 15 % of a step a finding that costs 9 % owns the rest, as of any other part."""
    given = make_step({"python": 8.5, "eager_ops": 1.0, "dispatch": 0.5})
    step = finding("EAG001", 0.09, family="eager", parts=("eager_ops", "dispatch"))
    python = finding("INP002", 0.85, family="input", parts=("python",))
    assert list(unexplained(given, [step, python])) == []
    assert [item.parts for item in unexplained(given, [python])] == [("eager_ops", "dispatch")]


def test_a_wait_seen_in_the_whole_run_owns_the_work_that_it_is() -> None:
    evidence = make_step({"graph": 1.0, "other": 9.0})
    work = Work(kind="loop", where=SourceSpan(FILE, 3), seconds=4.0, share_of_run=0.3, iterations=None)
    view = evidence.narrowed(
        work=work, steps=evidence.steps, account=evidence.account, samples=evidence.samples, log=SampleLog({}, [])
    )
    waits = finding("INP013", 0.2, family="input", basis="run")
    assert list(unexplained(view, [waits])) == [] and len(list(unexplained(view, []))) == 1


def test_a_small_part_or_one_of_a_short_work_is_a_remark() -> None:
    assert [item.severity for item in unexplained(make_step({"graph": 8.0, "python": 2.0}), [])] == ["info"]
    evidence = make_step({"graph": 5.0, "python": 5.0})
    for share, said in ((0.2, "info"), (0.39, "info"), (0.41, "low")):  # a fifth of the run
        work = Work(kind="loop", where=SourceSpan(FILE, 3), seconds=4.0, share_of_run=share, iterations=40)
        view = evidence.narrowed(
            work=work, steps=evidence.steps, account=evidence.account, samples=evidence.samples, log=SampleLog({}, [])
        )
        (found,) = unexplained(view, [])
        assert found.severity == said and "takes 50 % of the loop at train.py:3" in found.title


@given(st.dictionaries(st.sampled_from(sorted(DOING)), st.floats(0.1, 100.0), min_size=1), st.floats(0, 2e9))
def test_the_first_line_never_says_nothing_to_fix_over_what_does_not_compute(
    parts: dict[str, float], flops: float
) -> None:
    samples = make_step(parts).samples
    evidence = make_evidence(
        account=make_account(parts),
        samples=samples,
        machine_gflops=100.0,
        offers={"anyone": [LayerWork(flops=flops)]},
    )
    text = headline([], evidence)
    largest = max(parts, key=lambda part: parts[part])
    assert PARTS[largest].sentence in text  # type: ignore[index]
    if text.startswith("No known fault"):
        assert largest == "graph" and parts["graph"] >= 0.75 * sum(parts.values())
    else:
        assert text.startswith("No cause found")
    assert ("GFLOP/s" not in text) or largest == "graph"


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        ({"prediction": 4.0}, "is predicting"),
        ({"validation": 4.0}, "is validating"),
        ({"prediction": 4.0, "validation": 1.0}, "is predicting and validating"),
        ({}, "is predicting and validating"),
    ],
)
def test_a_run_that_validates_nothing_is_not_said_to(ran: dict[RunPart, float], said: str) -> None:
    made = make_step({"evaluate": 9.0, "python": 1.0})
    made.run_account = RunAccount(total_s=99.0, parts_s={"training": 90.0, **ran}) if ran else None
    text = headline([], made)
    assert f"{said}." in text or f"{said} (" in text


@pytest.mark.parametrize(
    ("calls", "title"),
    [
        (("matplotlib.pyplot:hist", "numpy:asarray"), "matplotlib's hist takes 50 % of a step, unexplained"),
        ((), "The script's own Python takes 50 % of a step, unexplained"),
    ],
)
def test_python_that_another_package_runs_is_called_that(calls: tuple[str, ...], title: str) -> None:
    frames = [Frame(FILE, 1, "step", 10, None, calls)], [Frame(FILE, 1, "step", 11)]
    samples = make_samples([(100, "python", frames[0]), (100, "graph", frames[1])])
    made = make_evidence(account=make_account({"python": 5.0, "graph": 5.0}), samples=samples)
    (found,) = unexplained(made, [])
    assert found.title == title
