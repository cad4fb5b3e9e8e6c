"""Checkpoints and evaluations of a loop on made-up evidence: reported where there are more than the advice asks for."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import leaf, seen, site, sites
from evidence_builder import FILE, MS, make_evidence, make_samples, make_steps, one
from tfperfkit_rules.step import side_work

from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable

CHECKPOINT = """\
callback = keras.callbacks.ModelCheckpoint(
    "last.weights.h5", save_freq=1,
)
model.fit(x, y, callbacks=[callback])
"""


def saving(count: int, *, bunched: bool = False, source: str = CHECKPOINT) -> Any:
    table = make_steps(60)
    spied = seen(table, [(count, "saving", leaf(4)), (100 - count, "graph", leaf(4))], "callback")
    given = make_evidence(
        parts_ms={"saving": count / 10, "graph": 10 - count / 10},
        steps=table,
        source=source,
        **spied._asdict(),
        records=sites(site(1, "batch", 4)),
    )
    if bunched:  # all of it in the last clean step
        last = table.clean[-1]
        rows = sorted(given.log.inside([(0, last.end_ns)]), key=lambda row: row[1].activity == "saving")
        width = last.begin_ns // 100
        stacks = {1: rows[0][1], 2: rows[-1][1]}
        taken = [(n * width, 1) for n in range(1, 101 - count)] + [(last.begin_ns + n, 2) for n in range(1, count)]
        given.log = type(given.log)(stacks, taken)
    return given


def test_a_checkpoint_at_each_step_is_reported_at_the_callback() -> None:
    finding = one(side_work.hot_path(saving(60)))
    assert [place.line for place in finding.where] == [1, 4]
    assert 'save_freq="epoch"' in finding.advice
    assert "LIN001" in finding.absorbs_here


def test_compiled_calls_behind_side_work_are_faster_without_it() -> None:
    """As long as the user's Python takes for it, only the gain of the saving itself is known."""
    source = "for i in r:\n    train(x)\n    manager.save()\n"

    def found(rest: str) -> tuple[float, float]:
        table = make_steps(60)
        spied = seen(table, [(60, "saving", leaf(3)), (40, rest, leaf(2))])
        given = make_evidence(parts_ms={"saving": 6.0, "graph": 4.0}, steps=table, source=source, **spied._asdict())
        bounds = one(side_work.hot_path(given)).gain.bounds
        assert bounds is not None
        return bounds

    compiled, python = found("graph"), found("python")
    assert compiled[0] > python[0] and compiled[1] > 1.3 * python[1]


def test_a_checkpoint_that_nobody_asks_for_more_often_is_one_an_epoch() -> None:
    """That is what the advice would say; its price is STP006's."""
    for written, told in ((" save_freq=1,", True), (' save_freq="epoch",', False), ("", False)):
        source = CHECKPOINT.replace(" save_freq=1,", written)
        assert bool(list(side_work.hot_path(saving(60, source=source)))) == told


@pytest.mark.parametrize(("each_ms", "told"), [(330, False), (900, True)])
def test_an_evaluation_every_hundred_steps_is_what_the_advice_asks_for(each_ms: int, told: bool) -> None:
    """Three times in 400 steps of 10 ms; if it takes the largest part, it is reported all the same."""
    names = ("keras.src.backend.tensorflow.trainer:evaluate",)
    evaluating = Stack((Frame(FILE, 1, "<module>", 2, None, names),), "keras", "dispatch", "evaluate")
    computing = Stack((Frame(FILE, 1, "<module>", 3, None, ()),), "tensorflow", "graph")
    steps, taken, when = [], [], 0
    for number in range(1, 401):
        end = when + (10 + each_ms * (number in (100, 200, 300))) * MS
        taken += [(at, 2 if at < when + 10 * MS else 1) for at in range(when + MS, end, 10 * MS)]
        steps.append(Step(number, when, end, window="clean"))
        when = end
    given = make_evidence(
        parts_ms={"graph": 10.0},
        steps=StepTable(steps=tuple(steps), source="custom"),
        source="for i in r:\n    net.evaluate(x)\n    train(x)\n",
        log=SampleLog({1: evaluating, 2: computing}, taken),
        samples=make_samples([(100, "graph", computing.frames)]),
    )
    assert bool(list(side_work.hot_path(given))) == told


@pytest.mark.parametrize(("method", "told"), [("on_train_batch_end", True), ("on_epoch_end", False)])
def test_a_score_of_ones_own_within_fit(method: str, told: bool) -> None:
    """Predict all images every third batch in a callback; the place for that is the end of an epoch."""
    fit, predict = (f"keras.src.backend.tensorflow.trainer:{name}" for name in ("fit", "predict"))
    around = Frame(FILE, 1, "<module>", 9, None, (fit, f"keras.src.callbacks.callback_list:{method}"))
    scores = (around, Frame(FILE, 1, method, 5, None, ()), Frame(FILE, 1, "score", 2, None, (predict,)))
    scoring, computing = Stack(scores, "keras", "graph", "evaluate"), Stack((around,), "keras", "graph")
    steps, taken, when = [], [], 0
    for number in range(1, 61):
        end = when + (10 + 90 * (number % 3 == 0)) * MS
        taken += [(at, 2 if at < when + 10 * MS else 1) for at in range(when + MS, end, 5 * MS)]
        steps.append(Step(number, when, end, window="clean"))
        when = end
    given = make_evidence(
        parts_ms={"graph": 10.0, "evaluate": 30.0},
        steps=StepTable(steps=tuple(steps), source="keras"),
        source="def score(net):\n    return net.predict(x)\n",
        log=SampleLog({1: scoring, 2: computing}, taken),
        samples=make_samples([(100, "graph", computing.frames)]),
    )
    found = list(side_work.hot_path(given))
    assert bool(found) is told
    if told:
        assert found[0].title == "Evaluating takes 75 % of the training loop"
        assert [place.line for place in found[0].where] == [2, 5]


def test_a_checkpoint_now_and_then_is_left_in_peace() -> None:
    assert not list(side_work.hot_path(saving(3)))
    assert not list(side_work.hot_path(saving(20, bunched=True)))


@pytest.mark.parametrize(("others", "told"), [(2, True), (30, False)])
def test_metrics_are_the_cause_of_operations_beside_the_step_where_they_are_nearly_all(others: int, told: bool) -> None:
    table = make_steps(60)
    updated = Frame(FILE, 1, "<module>", 3, None, ("keras.src.metrics.metric:__call__",))
    multiplied = Frame(FILE, 1, "<module>", 4, None, ("tensorflow.python.ops.math_ops:matmul",))
    stacks = [(40, "eager_ops", (updated,)), (others, "eager_ops", (multiplied,)), (58 - others, "graph", leaf(2))]
    given = make_evidence(
        parts_ms={"eager_ops": 7.0, "graph": 3.0},
        steps=table,
        source="for x, y in data:\n    loss, z = train(x, y)\n    seen(y, z)\n    w = z @ z\n",
        **seen(table, stacks)._asdict(),
        records=sites(site(1, "call", 2)),
    )
    finding = one(side_work.hot_path(given))
    assert "metrics" in finding.title and ("EAG008" in finding.absorbs) == told
