"""The run's account: every second of the process in one part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from evidence_builder import FILE
from hypothesis import given, settings
from hypothesis import strategies as st
from run_builder import AGENT, KERAS, S, make_log, make_run, make_table, stack

from tfperfkit.analysis.gather import pauses, waits_for_us
from tfperfkit.analysis.run_account import children_note, run_account
from tfperfkit.model import LineTime, RunAccount, SourceSpan, WarmUp
from tfperfkit.records.freed import freed
from tfperfkit.records.parts import RUN_PARTS
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Loop, Step, StepTable

DATA = stack(line=4)
PREDICT = stack("eager_ops", f"{KERAS}:predict", f"{KERAS}:__next__", line=8, context="evaluate")
FIT = stack("graph", f"{KERAS}:fit", f"{KERAS}:function", line=6)
FIT_PYTHON = stack("dispatch", f"{KERAS}:fit", line=6)


def account_of(facts: Any) -> RunAccount | None:
    """The account, whose ledger has the same parts and total."""
    found = run_account(facts)
    if found is None:
        return None
    account, ledger = found
    assert ledger.total == pytest.approx(account.total_s, abs=1e-6)
    assert dict(ledger.sum_parts()) == pytest.approx(account.parts_s, abs=1e-6)
    return account


def parts(facts: Any) -> dict[str, float]:
    account = account_of(facts)
    assert account is not None
    assert sum(account.parts_s.values()) == pytest.approx(account.total_s)
    return {part: round(seconds, 2) for part, seconds in account.parts_s.items()}


def test_every_stretch_has_its_part() -> None:
    seen = [(3.5, 5.0, DATA), (5.0, 6.0, FIT), (6.0, 9.0, PREDICT)]
    assert parts(make_run(seen, steps=make_table(5.0, 6.0, 10))) == {
        "imports": 3.0,
        "data": 1.5,
        "training": 1.0,
        "prediction": 3.0,
        "ending": 1.0,
        "tfperf": 0.5,
    }


def test_imports_before_and_after_tensorflow_are_told_apart() -> None:
    account = account_of(make_run([(3.0, 5.0, stack("python", "pandas:<module>")), (5.0, 9.0, DATA)]))
    assert account is not None
    assert account.imports_s == pytest.approx({"before TensorFlow": 1.0, "tensorflow": 2.0, "pandas": 2.0})


def test_a_sample_that_comes_late_was_held_up_by_what_it_sees() -> None:
    log = SampleLog({1: DATA, 2: stack(line=5)}, [(4 * S, 1), (9 * S, 2)], [(3 * S, S // 100)])
    account = account_of(make_run(log=log, events=[{"kind": "end", "ns": 9 * S}]))
    assert account is not None
    assert account.lines["data"] == (
        LineTime(SourceSpan(FILE, 5, "<module>"), 5.0),
        LineTime(SourceSpan(FILE, 4, "<module>"), 1.0),
    )


def test_tracing_is_measured_and_not_sampled() -> None:
    seen = [(3.0, 9.0, stack("dispatch", "tensorflow.python.ops.math_ops:reduce_sum"))]
    assert parts(make_run(seen, tracing=[(4 * S, 6 * S)]))["tracing"] == 2.0


def test_what_a_trace_took_is_not_rounded_up_to_the_next_sample() -> None:
    """Samples each half of a second, traces of a tenth: half of the samples see one."""
    traces = stack("tracing", "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__")
    seen = [(3.0 + n / 2, 3.5 + n / 2, traces if n % 2 else DATA) for n in range(12)]
    tracing = [(3 * S + (n + 1) * S // 2 - S // 10, 3 * S + (n + 1) * S // 2) for n in range(12)]
    found = parts(make_run(log=make_log(seen, rate_s=0.5), events=[{"kind": "end", "ns": 9 * S}], tracing=tracing))
    assert found["tracing"] == pytest.approx(1.2) and found["tensorflow"] == pytest.approx(2.4)
    # If no trace was recorded, only samples are left.
    assert parts(make_run(log=make_log(seen, rate_s=0.5), events=[{"kind": "end", "ns": 9 * S}]))["tracing"] == 3.0


def test_tracing_for_predict_is_predicting() -> None:
    assert parts(make_run([(3.0, 9.0, PREDICT)], tracing=[(4 * S, 6 * S)])) == {
        "imports": 3.0,
        "prediction": 6.0,
        "ending": 1.0,
    }


def test_tracing_within_steps_and_their_first_runs_are_no_training() -> None:
    facts = make_run(
        [(3.0, 5.0, DATA), (5.0, 9.0, FIT)],
        steps=make_table(5.0, 9.0, 4, warm=2),
        tracing=[(5 * S, 5 * S + S // 2)],
        warm_up=WarmUp(total_s=7.0, parts_s={"compile and first runs": 1.0}),
    )
    assert parts(facts) == {"imports": 3.0, "data": 2.0, "tracing": 1.5, "training": 2.5, "ending": 1.0}
    account = account_of(facts)
    assert account is not None
    assert [line.where.line for line in account.lines["tracing"]] == [6]
    assert account.lines["training"][0].seconds == pytest.approx(2.5, abs=0.05)


def test_what_fit_does_between_steps_is_no_data() -> None:
    first, second = make_table(4.0, 5.0, 10), make_table(7.0, 8.0, 10)
    table = StepTable(steps=(*first.steps, *second.steps), source="keras")
    validation = stack("graph", f"{KERAS}:fit", f"{KERAS}:evaluate", line=6, context="evaluate")
    seen = [
        (3.0, 4.0, FIT_PYTHON),
        (4.0, 5.0, FIT),
        (5.0, 5.5, FIT_PYTHON),
        (5.5, 7.0, validation),
        (7.0, 8.0, FIT),
        (8.0, 9.0, DATA),
    ]
    assert parts(make_run(seen, steps=table)) == {
        "imports": 3.0,
        "data": 1.0,
        "building": 1.0,
        "training": 2.0,
        "between": 0.5,
        "validation": 1.5,
        "ending": 1.0,
    }


LOOPS = """\
import tensorflow as tf
for epoch in range(9):
    for batch in data:
        step(batch)
    log(epoch)
for row in rows:
    prepare(row)
"""


@pytest.mark.parametrize("loop", [Loop(FILE, 3), None])
def test_python_in_a_loop_that_trains_stands_between_steps(loop: Loop | None) -> None:
    steps = tuple(Step(n + 1, (4 + n) * S, (4 + n) * S + S // 2, 1, 0, "clean") for n in range(4))
    table = StepTable(steps=steps, source="custom", loop=loop)
    update = stack("graph", "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__", line=4)
    log, prepare = stack(line=5), stack(line=7)
    seen = [(3.0, 4.0, prepare)]
    for n in (4.0, 5.0, 6.0):
        seen += [(n, n + 0.5, update), (n + 0.5, n + 1.0, log if n < 6 else prepare)]
    found = parts(make_run([*seen, (7.0, 7.5, update), (7.5, 9.0, log)], steps=table, source=LOOPS))
    assert (found["training"], found["between"], found["data"]) == (2.0, 1.0, 3.0)


def test_our_pauses_are_ours() -> None:
    rows = [
        ["lines", "opening", 4 * S],
        ["lines", "open", 5 * S],
        ["lines", "closing", 6 * S],
        ["lines", "closed", 7 * S],
    ]
    ours = pauses([*rows, "damaged", ["lines"]], StepTable(pauses=((7 * S, 8 * S),)))
    assert list(ours) == [(4 * S, 5 * S), (6 * S, 8 * S)]
    assert parts(make_run([(3.0, 9.0, DATA)], ours=ours))["tfperf"] == 3.0


def test_without_samples_what_was_measured_is_reported() -> None:
    facts = make_run(steps=make_table(5.0, 6.0, 10), tracing=[(4 * S, 5 * S)], events=[])
    assert parts(facts) == {"imports": 3.0, "tracing": 1.0, "training": 1.0, "not sampled": 5.0}


def test_a_process_that_was_killed_has_lost_its_end() -> None:
    assert parts(make_run([(3.0, 9.0, DATA)], events=[]))["not sampled"] == 1.0


def test_what_follows_the_last_step_that_was_wanted_is_not_sampled() -> None:
    events = [{"kind": "stopped", "step": 9}, {"kind": "end", "ns": 6 * S}]
    found = parts(make_run([(3.0, 6.0, DATA)], events=events))
    assert found["not sampled"] == 4.0
    assert "ending" not in found


def test_exit_handlers_belong_to_the_end() -> None:
    found = parts(make_run([(3.0, 6.0, DATA), (6.0, 8.0, Stack((), "python", "python"))]))
    assert (found["data"], found["ending"]) == (3.0, 4.0)


def test_what_frees_objects_belongs_to_what_made_them() -> None:
    loop = stack("input", "tensorflow.python.data.ops.iterator_ops:__next__", line=3)
    freed = loop._replace(library="", activity="waiting")
    assert parts(make_run([(3.0, 6.0, loop), (6.0, 9.0, freed)]))["input"] == 6.0


def test_what_frees_iterators_is_a_part_with_the_seconds_of_its_finding() -> None:
    loop = stack("input", "tensorflow.python.data.ops.iterator_ops:__next__", line=3)
    waits = loop._replace(library="", activity="waiting")
    log = make_log(
        [(3.0, 4.0, loop), (4.0, 8.0, waits), (8.0, 8.05, waits._replace(frames=DATA.frames)), (8.05, 9.0, DATA)]
    )
    (wait,) = freed(log)
    account = account_of(make_run(log=log, freed=Spans([wait[:2]])))
    assert account is not None
    assert account.parts_s["freeing"] == pytest.approx(wait.ns / S)
    assert [line.where.line for line in account.lines["freeing"]] == [3]


def test_what_is_freed_between_two_steps_is_not_between_them() -> None:
    first, second = make_table(4.0, 5.0, 10), make_table(7.0, 8.0, 10)
    table = StepTable(steps=(*first.steps, *second.steps), source="keras")
    waits = FIT_PYTHON._replace(activity="waiting")
    log = make_log([(4.0, 5.0, FIT), (5.0, 5.5, FIT_PYTHON), (5.5, 7.0, waits), (7.0, 8.0, FIT)])
    (wait,) = freed(log)
    found = parts(make_run(log=log, steps=table, freed=Spans([wait[:2]])))
    assert found["freeing"] == pytest.approx(1.5, abs=0.05) and found["between"] == pytest.approx(0.5, abs=0.05)


def test_a_line_that_many_others_are_called_from_comes_first() -> None:
    seen = [(3.0 + n, 4.0 + n, stack(line=20 + n, name="clean", above=5)) for n in range(6)]
    account = account_of(make_run(seen))
    assert account is not None
    lines = account.lines["data"]
    assert (lines[0].where.line, round(lines[0].seconds, 2), len(lines)) == (5, 6.0, 3)


def test_there_is_none_where_tensorflow_was_not_imported() -> None:
    assert account_of(make_run([(3.0, 9.0, DATA)], agent={})) is None


@pytest.mark.parametrize(("waited", "told"), [(0.9, False), (1.0, True)])
def test_children_are_told_of_from_a_tenth_of_the_run_on(waited: float, told: bool) -> None:
    lines = (LineTime(SourceSpan("/a/train.py", 12, "main"), waited),)
    account = RunAccount(total_s=10.0, parts_s={"children": waited}, lines={"children": lines})
    waits = "/a/train.py:12 waits for child processes, 1.0 s in all (10 % of the run)."
    offer = " They are not recorded: tfperf run --children does that."
    assert children_note(account, {}) == (waits + offer if told else "")


@pytest.mark.parametrize(("cpu", "told"), [(0.9, False), (2.0, True), ("x", False)])
def test_so_are_those_that_nobody_is_seen_to_wait_for(cpu: object, told: bool) -> None:
    account = RunAccount(total_s=10.0, parts_s={"training": 10.0})
    words = (
        "Processes that the script started took 2.0 s of processor time (20 % of the run's length). "
        "They are not recorded: tfperf run --children does that."
    )
    assert children_note(account, {"children_cpu_s": cpu}) == (words if told else "")


def test_the_training_share_leaves_out_what_it_takes_to_import_tensorflow() -> None:
    account = RunAccount(
        total_s=20.0,
        parts_s={"imports": 11.0, "training": 9.0},
        imports_s={"before TensorFlow": 4.0, "tensorflow": 6.0, "pandas": 1.0},
    )
    assert account.training_share == pytest.approx(0.9)
    assert account.seconds_of("imports", "training") == 20.0


times = st.integers(-5, 60).map(lambda tenth: tenth * S // 4)
spans = st.lists(st.tuples(times, times), max_size=5)
activities = st.sampled_from(["tracing", "saving", "input", "graph", "dispatch", "python", "waiting", "?"])
stacks = st.one_of(
    st.sampled_from([DATA, PREDICT, FIT, FIT_PYTHON, Stack((), "", ""), Stack((), "python", "python")]),
    st.builds(lambda doing, line: stack(doing, line=line), activities, st.integers(1, 9)),
)
sampled = st.lists(st.tuples(times, stacks), max_size=20)
steps = st.lists(st.tuples(times, times, st.sampled_from(["warmup", "clean"])), max_size=6)
agents = st.fixed_dictionaries({"armed_ns": times}, optional={name: times for name in AGENT if name != "armed_ns"})
kinds = st.sampled_from(["end", "stopped", "lost"])


@settings(max_examples=300, deadline=None)
@given(sampled, steps, spans, spans, agents, st.lists(st.tuples(kinds, times), max_size=3), times, times)
def test_the_parts_of_any_record_add_up(
    seen: Any, cut: Any, tracing: Any, ours: Any, agent: Any, noted: Any, started: int, ended: int
) -> None:
    table = StepTable(
        steps=tuple(Step(n + 1, *map(int, span[:2]), 1, 0, span[2]) for n, span in enumerate(cut)), source="custom"
    )
    log = SampleLog(dict(enumerate(what for _, what in seen)), sorted((when, n) for n, (when, _) in enumerate(seen)))
    facts = make_run(
        log=log,
        steps=table,
        tracing=tracing,
        ours=ours,
        agent=agent,
        events=[{"kind": kind, "ns": when, "file": "session/samples.jsonl"} for kind, when in noted],
        ended=ended / S,
        warm_up=WarmUp(total_s=1.0, parts_s={"compile and first runs": 1.0}),
    )
    account = account_of(facts)
    assert account is not None
    assert account.total_s >= 0
    assert sum(account.parts_s.values()) == pytest.approx(account.total_s, abs=1e-9)
    assert all(seconds > 0 for seconds in account.parts_s.values())
    assert list(account.parts_s) == [part for part in RUN_PARTS if part in account.parts_s]
    assert sum(account.imports_s.values()) == pytest.approx(account.seconds_of("imports"), abs=1e-9)
    for part, lines in account.lines.items():
        assert len(lines) <= 3
        assert all(0 < line.seconds <= account.parts_s[part] + 1e-6 for line in lines)


def test_the_builder_samples_what_it_says() -> None:
    assert [when for when, _ in make_log([(0.0, 0.03, DATA)]).inside([(0, S)])] == [
        S // 100,
        2 * S // 100,
        3 * S // 100,
    ]
    assert list(Spans([(1, 2)])) == [(1, 2)]


class _Records:
    """The part of a run directory that is asked for."""

    def __init__(self, **streams: list[Any]) -> None:
        self._streams = streams

    def records(self, name: str) -> list[Any]:
        return self._streams.get(Path(name).stem, [])


def test_the_script_waits_while_a_trace_is_described() -> None:
    rows = [[S, 2 * S, 3 * S], [4 * S, 5 * S], "damaged", [6 * S, 7 * S, None], [8 * S, 9 * S, 9 * S]]
    run: Any = _Records(tracing=rows, phases=[["lines", "opening", 10 * S], ["lines", "open", 11 * S]])
    assert list(waits_for_us(run, StepTable())) == [(2 * S, 3 * S), (10 * S, 11 * S)]
