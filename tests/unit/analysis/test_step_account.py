"""The step's account: parts that add up, outliers by their cause, what runs between steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.analysis.step_account import Facts, account
from tfperfkit.model import StepAccount
from tfperfkit.records.samples import SampleLog, Stack, steady_samples
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Step, StepTable

MS = 1_000_000


def steps(durations_ms: list[float], gap_ms: float = 0.0, window: str = "clean") -> StepTable:
    made, now = [], 0
    for number, duration in enumerate(durations_ms, 1):
        end = now + int(duration * MS)
        made.append(Step(number, now, end, window=window))
        now = end + int(gap_ms * MS)
    return StepTable(steps=tuple(made), source="custom")


def log(table: StepTable, activity: dict[str, int]) -> SampleLog:
    """Samples spread over the whole run, in the given proportions."""
    kinds = [name for name, count in activity.items() for _ in range(count)]
    stacks = {i: Stack((), "tensorflow", name) for i, name in enumerate(activity)}
    numbers = {name: i for i, name in enumerate(activity)}
    end = table.steps[-1].end_ns
    taken = [(end * i // len(kinds), numbers[kind]) for i, kind in enumerate(kinds)]
    return SampleLog(stacks, sorted(taken))


def made(
    table: StepTable,
    activity: dict[str, int] | None = None,
    tracing: list[Span] | None = None,
    collections: list[Span] | None = None,
    trace_ms: dict[str, float] | None = None,
    **more: Any,
) -> StepAccount:
    samples = log(table, activity) if activity else SampleLog({}, [])
    result = account(
        Facts(
            steps=table,
            log=samples,
            steady=steady_samples(samples, table, []),
            tracing=Spans(tracing or []),
            collections=Spans(collections or []),
            trace_ms=trace_ms,
            traced_by="tfprof" if trace_ms else "",
            **more,
        )
    )
    assert result is not None
    return result


def test_without_a_clean_step_there_is_no_account() -> None:
    empty = SampleLog({}, [])
    table = steps([10.0] * 5, window="warmup")
    facts = Facts(steps=table, log=empty, steady=steady_samples(empty, table, []), tracing=Spans(), collections=Spans())
    assert account(facts) is None


def test_where_samples_were_lost_the_trace_alone_tells_no_parts() -> None:
    """It knows one kind of Python only: 36 operations called one by one became "the script's own Python"."""
    table = steps([10.0] * 30)
    given = made(table, trace_ms={"python": 8.0, "eager_ops": 2.0})
    assert given.parts_ms["python"] == pytest.approx(8.0)
    lost = made(table, trace_ms={"python": 8.0, "eager_ops": 2.0}, sampled=False)  # type: ignore[arg-type]
    assert (lost.parts_ms, lost.windows, lost.mean_ms) == ({}, (), 10.0)


def test_too_few_samples_of_the_steps_are_not_made_up_for_by_those_before_them() -> None:
    table = steps([10.0] * 20)
    before = [(-n * MS, 0) for n in range(200, 0, -1)]
    stacks = {0: Stack((), "tensorflow", "tracing"), 1: Stack((), "tensorflow", "graph")}
    few = SampleLog(stacks, [*before, *((step.begin_ns + 1, 1) for step in table.steps[:5])])
    samples = steady_samples(few, table, [])
    assert samples.count == 5 and samples.activity_share("tracing") == 0
    facts = Facts(steps=table, log=few, steady=samples, tracing=Spans(), collections=Spans())
    found = account(facts)
    assert found is not None and found.parts_ms == {}
    assert steady_samples(few, StepTable(), []).count == 205  # without steps: all of the run


def test_the_traces_parts_are_scaled_to_the_clean_step() -> None:
    found = made(steps([10.0] * 20), trace_ms={"graph": 9.0, "python": 3.0, "input": 0.0})
    assert found.parts_ms["graph"] == pytest.approx(7.5)
    assert found.parts_ms["python"] == pytest.approx(2.5)
    assert found.windows == ("tfprof",)


def test_the_samples_tell_whose_python_it_was() -> None:
    activity = {"python": 30, "dispatch": 10, "graph": 60}
    found = made(steps([10.0] * 20), activity, trace_ms={"graph": 6.0, "python": 4.0})
    assert found.parts_ms["python"] == pytest.approx(3.0, rel=0.05)
    assert found.parts_ms["dispatch"] == pytest.approx(1.0, rel=0.2)
    assert found.windows == ("tfprof", "samples")


def test_samples_that_fall_into_operations_are_not_missed_in_tensorflows_python() -> None:
    activity = {"python": 5, "dispatch": 5, "eager_ops": 90}
    found = made(steps([10.0] * 20), activity, trace_ms={"eager_ops": 4.0, "python": 6.0})
    assert found.parts_ms["python"] == pytest.approx(0.5, rel=0.2)
    assert found.parts_ms["dispatch"] == pytest.approx(5.5, rel=0.05)


def test_a_stray_sample_of_saving_is_no_part_of_the_step() -> None:
    once = made(steps([10.0] * 20), {"graph": 99, "saving": 1}, trace_ms={"graph": 9.0, "python": 1.0})
    assert once.parts_ms["saving"] == 0.0 and sum(once.parts_ms.values()) == pytest.approx(10.0)
    often = made(steps([10.0] * 20), {"graph": 90, "saving": 10}, trace_ms={"graph": 9.0, "python": 1.0})
    assert often.parts_ms["saving"] == pytest.approx(1.0, rel=0.1)


def test_samples_alone_make_an_account() -> None:
    found = made(steps([10.0] * 20), {"eager_ops": 50, "dispatch": 50})
    assert found.parts_ms["eager_ops"] == pytest.approx(5.0, rel=0.05)
    assert found.windows == ("samples",)


def test_a_trace_without_a_whole_step_tells_what_compiled_functions_wait_for() -> None:
    found = made(steps([10.0] * 20), {"graph": 80, "python": 20}, waits=0.75)
    assert found.parts_ms["input"] == pytest.approx(6, rel=0.1)
    assert found.parts_ms["graph"] == pytest.approx(2, rel=0.1)
    whole = made(steps([10.0] * 20), {"graph": 100}, trace_ms={"graph": 10.0}, waits=0.75)
    assert whole.parts_ms["input"] == 0  # a trace of whole steps has told it


def test_without_trace_and_samples_nothing_is_guessed() -> None:
    found = made(steps([10.0] * 20))
    assert found.parts_ms == {} and found.mean_ms == pytest.approx(10.0)


def test_a_retrace_at_every_tenth_step_is_counted_though_the_median_never_sees_it() -> None:
    table = steps([10.0] * 9 + [110.0] + [10.0] * 9 + [110.0])
    tracing = [(s.begin_ns, s.begin_ns + 95 * MS) for s in table.steps if s.duration_ns > 50 * MS]
    found = made(table, {"graph": 100}, tracing=tracing)
    assert found.ordinary_ms == pytest.approx(10.0) and found.mean_ms == pytest.approx(20.0)
    assert [outlier.cause for outlier in found.outliers] == ["tracing", "tracing"]
    assert [outlier.step for outlier in found.outliers] == [10, 20]
    assert found.parts_ms["tracing"] == pytest.approx(10.0)


def with_slow_steps(activity: str, context: str, traced_ms: float) -> StepAccount:
    """Steps of 10 ms, each tenth 110 ms, traced for a while and then doing ``activity``."""
    table = steps([10.0] * 9 + [110.0] + [10.0] * 9 + [110.0])
    slow = [step for step in table.steps if step.duration_ns > 50 * MS]
    stacks = {1: Stack((), "keras", "eager_ops"), 2: Stack((), "keras", activity, context)}
    taken = [(step.begin_ns + part * MS, 1) for step in table.steps for part in (2, 5, 8)]
    taken += [(step.begin_ns + part * MS, 2) for step in slow for part in range(20, 110, 10)]
    samples = SampleLog(stacks, sorted(taken))
    found = account(
        Facts(
            steps=table,
            log=samples,
            steady=steady_samples(samples, table, []),
            collections=Spans(),
            tracing=Spans([(s.begin_ns, s.begin_ns + int(traced_ms * MS)) for s in slow]),
        )
    )
    assert found is not None
    return found


def test_the_first_run_of_a_new_trace_is_time_in_the_compiled_function() -> None:
    found = with_slow_steps("graph", "", traced_ms=10.0)
    assert {outlier.cause for outlier in found.outliers} == {"first run of a new trace"}


def test_predict_that_also_traces_is_predict_and_not_tracing() -> None:
    found = with_slow_steps("eager_ops", "evaluate", traced_ms=10.0)
    assert {outlier.cause for outlier in found.outliers} == {"predict and validation"}
    assert found.parts_ms["evaluate"] > 5 and found.parts_ms["tracing"] == 0


def test_a_cause_that_fills_part_of_an_outlier_gets_that_part() -> None:
    found = with_slow_steps("dispatch", "", traced_ms=40.0)
    assert {outlier.cause for outlier in found.outliers} == {"tracing"}
    assert found.parts_ms["tracing"] == pytest.approx(4.0)
    assert found.parts_ms["dispatch"] > 3


def test_what_predict_did_in_each_step_is_a_part_of_its_own() -> None:
    table = steps([10.0] * 20)
    stacks = {1: Stack((), "keras", "eager_ops", "evaluate"), 2: Stack((), "keras", "eager_ops")}
    taken = [(step.begin_ns + part * MS, 2 if part == 8 else 1) for step in table.steps for part in (2, 4, 6, 8)]
    samples = SampleLog(stacks, taken)
    found = account(
        Facts(
            steps=table,
            log=samples,
            steady=steady_samples(samples, table, []),
            tracing=Spans(),
            collections=Spans(),
            trace_ms={"eager_ops": 8.0, "graph": 2.0},
        )
    )
    assert found is not None
    assert found.parts_ms["evaluate"] == pytest.approx(6.0)
    assert found.parts_ms["eager_ops"] == pytest.approx(2.0) and found.parts_ms["graph"] == pytest.approx(2.0)


def test_a_collection_explains_an_outlier_and_its_part() -> None:
    table = steps([10.0] * 12 + [60.0] + [10.0] * 7)
    slow = table.steps[12]
    found = made(table, {"graph": 100}, collections=[(slow.begin_ns + MS, slow.begin_ns + 50 * MS)])
    assert [outlier.cause for outlier in found.outliers] == ["garbage collection"]
    assert found.parts_ms["gc"] == pytest.approx(50 / 20)


def test_what_nothing_explains_is_said_to_be_unexplained() -> None:
    found = made(steps([10.0] * 12 + [60.0] + [10.0] * 7), trace_ms={"graph": 10.0})
    assert [outlier.cause for outlier in found.outliers] == [""]
    assert found.parts_ms["other"] == pytest.approx(2.5)


def test_jitter_is_no_outlier() -> None:
    assert made(steps([10.0, 10.1, 10.0, 9.9, 10.2, 10.0, 11.5, 10.0, 10.1, 12.0])).outliers == ()


def test_two_kinds_of_steps_are_not_outliers_of_each_other() -> None:
    assert made(steps([10.0, 100.0] * 10)).outliers == ()


def test_fetches_that_python_timed_outweigh_the_window() -> None:
    table = StepTable(steps=tuple(Step(n, (n - 1) * 10 * MS, n * 10 * MS, 1, 4 * MS, "clean") for n in range(1, 21)))
    found = made(table, trace_ms={"input": 1.0, "graph": 9.0})
    assert found.parts_ms["input"] == pytest.approx(4.0)


def test_copies_are_taken_from_the_compiled_part() -> None:
    found = made(steps([10.0] * 20), trace_ms={"graph": 10.0}, moved={"copies": 0.2, "collectives": 0.0})
    assert found.parts_ms["copies"] == pytest.approx(2.0)
    assert found.parts_ms["graph"] == pytest.approx(8.0)


def test_an_accelerator_s_idle_time_stands_beside_the_parts() -> None:
    found = made(steps([10.0] * 20), trace_ms={"graph": 10.0}, busy={"/device:GPU:0": 0.7})
    assert found.idle_ms == {"/device:GPU:0": pytest.approx(3.0)}
    assert sum(found.parts_ms.values()) == pytest.approx(10.0)


def test_time_between_steps_has_its_own_account() -> None:
    table = steps([10.0] * 20, gap_ms=5.0)
    end = table.steps[-1].end_ns
    stacks = {1: Stack((), "keras", "graph", "evaluate"), 2: Stack((), "keras", "graph")}
    inside = [(s.end_ns + 2 * MS, 1) for s in table.steps[:-1]] + [(s.begin_ns + MS, 2) for s in table.steps]
    samples = SampleLog(stacks, sorted(inside))
    found = account(
        Facts(
            steps=table,
            log=samples,
            steady=steady_samples(samples, table, []),
            tracing=Spans(),
            collections=Spans(),
        )
    )
    assert found is not None and end
    assert found.between_total_ms == pytest.approx(19 * 5 / 20)
    assert found.between_ms == {"evaluate": pytest.approx(19 * 5 / 20)}


@given(
    st.lists(st.floats(0.5, 500), min_size=1, max_size=60),
    st.dictionaries(st.sampled_from(["input", "python", "graph", "eager_ops", "tracing", "other"]), st.floats(0, 50)),
    st.dictionaries(st.sampled_from(["python", "dispatch", "graph", "host_sync", "saving"]), st.integers(1, 60)),
)
def test_the_parts_always_add_up_to_the_mean(
    durations: list[float], trace_ms: dict[str, float], activity: dict[str, int]
) -> None:
    found = made(steps(durations), activity, trace_ms=trace_ms)
    if found.parts_ms:
        assert sum(found.parts_ms.values()) == pytest.approx(found.mean_ms)
        assert min(found.parts_ms.values()) >= -1e-9


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100))), st.integers(0, 100), st.integers(0, 100))
def test_spans_count_each_moment_once(spans: list[Span], begin: int, end: int) -> None:
    covered = {moment for low, high in spans for moment in range(low, high)}
    expected = len([moment for moment in covered if begin <= moment < end])
    assert Spans(spans).overlap(begin, max(begin, end)) == expected


def seen(table: StepTable, kinds: list[Stack], taken: list[tuple[int, int]]) -> StepAccount:
    """The account of steps of which the samples are ``taken``, on top of 40 in ordinary ones: ``kinds[0]``."""
    ordinary = [(table.steps[index].begin_ns + 1, 0) for index in range(40)]
    samples = SampleLog(dict(enumerate(kinds)), sorted([*ordinary, *taken]))
    facts = Facts(
        steps=table, log=samples, steady=steady_samples(samples, table, []), tracing=Spans(), collections=Spans()
    )
    found = account(facts)
    assert found is not None
    return found


def test_outliers_too_short_for_a_cause_of_their_own_have_one_together() -> None:
    """One sample each, as 20 a second give: five saw Python, two the saving of a checkpoint."""
    late = (60, 70, 80, 90, 95)
    table = steps([70.0 if number in (*late, 65, 75) else 2.0 for number in range(1, 101)])
    kinds = [Stack((), "tensorflow", name) for name in ("graph", "python", "saving")]
    taken = [(table.steps[number - 1].begin_ns + MS, 1) for number in late]
    taken += [(table.steps[number - 1].begin_ns + MS, 2) for number in (65, 75)]
    found = seen(table, kinds, taken)
    causes = {outlier.step: outlier.cause for outlier in found.outliers}
    assert causes == {**dict.fromkeys(late, "the script's Python"), 65: "", 75: ""}
    assert found.parts_ms["python"] == pytest.approx(5 * 68 / 100, rel=0.1)
    assert sum(found.parts_ms.values()) == pytest.approx(found.mean_ms)


def test_of_outliers_that_saw_two_things_the_cause_gets_its_share() -> None:
    late = (60, 70, 80)
    table = steps([70.0 if number in late else 2.0 for number in range(1, 101)])
    kinds = [Stack((), "tensorflow", name) for name in ("graph", "python", "saving")]
    taken = [(table.steps[number - 1].begin_ns + at * MS, kind) for number in late for at, kind in ((1, 1), (50, 2))]
    found = seen(table, kinds, taken)
    assert {outlier.cause for outlier in found.outliers} == {"the script's Python"}
    assert [outlier.found_ms for outlier in found.outliers] == pytest.approx([35, 35, 35], rel=0.1)
    assert found.parts_ms["other"] == pytest.approx(found.parts_ms["python"], rel=0.2)


@pytest.mark.parametrize(("usual_ms", "excess_ms"), [(20, 12), (20, 30), (50, 25), (100, 40)])
def test_short_outliers_are_not_blamed_on_what_a_step_always_does(usual_ms: int, excess_ms: int) -> None:
    """Run a compiled function for the usual time, then Python for all of the excess, with a sample each 50 ms."""
    late = range(50, 4000, 39)
    table = steps([float(usual_ms + excess_ms * (number in late)) for number in range(1, 4001)])
    kinds = [Stack((), "tensorflow", name) for name in ("graph", "python")]
    taken, index = [], 0
    for when in range(0, table.steps[-1].end_ns, 50_300_007):
        while table.steps[index].end_ns <= when:
            index += 1
        taken.append((when, int(when - table.steps[index].begin_ns >= usual_ms * MS)))
    found = seen(table, kinds, taken)
    assert len(found.outliers) == len(late)
    causes = [outlier.cause for outlier in found.outliers]
    assert "a compiled function" not in causes
    if usual_ms == 20:  # else few of them saw it
        assert causes.count("the script's Python") >= 0.1 * len(causes)


def test_time_between_steps_is_weighed_where_samples_are_fewer() -> None:
    """Ten samples at 10 ms saw one thing, ten at 50 ms the other: five times the time."""
    table = steps([1.0] * 21, gap_ms=100.0)
    gaps = [step.end_ns for step in table.steps[:-1]]
    kinds = {0: Stack((), "", "python"), 1: Stack((), "", "saving")}
    early = [(gaps[0] + n * 10 * MS, 0) for n in range(10)]
    later = [(gaps[n] + MS, 1) for n in range(10, 20)]
    samples = SampleLog(kinds, [*early, *later], [(0, 10 * MS), (gaps[5], 50 * MS)])
    facts = Facts(
        steps=table, log=samples, steady=steady_samples(samples, table, []), tracing=Spans(), collections=Spans()
    )
    found = account(facts)
    assert found is not None
    assert found.between_ms["saving"] == pytest.approx(5 * found.between_ms["python"])
    assert sum(found.between_ms.values()) == pytest.approx(found.between_total_ms)


def late_calls(**more: Any) -> StepAccount:
    """Steps of 10 ms, every seventh of 100 ms, all in a compiled function that fetches its batch; traced late ones."""
    table = steps([100.0 if number % 7 == 3 else 10.0 for number in range(70)])
    traced = {"input": 90.0, "graph": 6.0, "python": 2.0}
    return made(table, {"graph": 400}, trace_ms=traced, feeds=True, **more)


def test_late_calls_wait_for_their_input_if_traced_calls_do() -> None:
    """Keep up with most steps by a generator. The others' wait for it is no computing."""
    found = late_calls(longer_wait_share=0.6)
    assert {outlier.cause for outlier in found.outliers} == {"input"}
    excess = 90.0 / 7 * 0.6
    assert found.parts_ms["input"] == pytest.approx(excess + 2.0, rel=0.05)  # 8 of an ordinary step's 10 ms are others'
    assert found.parts_ms["graph"] == pytest.approx(6.0 + 90.0 / 7 * 0.4, rel=0.05)
    assert found.input_in_graph_ms == pytest.approx(excess, rel=0.05)


@pytest.mark.parametrize("share", [None, 0.3])
def test_late_calls_compute_if_nothing_shows_that_they_wait(share: float | None) -> None:
    found = late_calls(longer_wait_share=share)
    assert {outlier.cause for outlier in found.outliers} == {"a compiled function"}
    assert found.parts_ms["graph"] > 90.0 / 7
