"""STP012: the seed set at each step or iteration; silent where it is set for an epoch, or where nothing pays for it."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import compiled, ran
from eager_builder import site, sites
from evidence_builder import FILE
from msgspec.structs import replace
from tfperfkit_rules.step.seeds import seeded_each_step
from tfprof_builder import op
from work_builder import CALL, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.offers import Instantiations, LineCount, LineCounts, StepBreakdown
from tfperfkit.records.steps import Loop
from tfperfkit.rule import Evidence

EACH_STEP = "for i in range(9):\n    {call}\n    train(x)\n"
EACH_EPOCH = "for epoch in range(9):\n    {call}\n    for x in data:\n        train(x)\n"


def seeded(
    source: str, call: str, *, loop: int, made_ms: float = 40.0, more: tuple[Any, ...] = (), **fields: Any
) -> Evidence:
    """Return steps of 42 ms. Calls of their function take ``made_ms`` to instantiate it again."""
    line = source.count("\n")
    again = Instantiations(count=4, ms=4 * made_ms, wall_ms=5 * 42.0)
    given = compiled(
        (ran("MatMul", 1.0, flops=90e6),),
        idle_ms=40.0,
        source=source.format(call=call),
        records=sites(site(1, "call", line, loops=(loop,))),
        loop=Loop(FILE, loop),
        more=(again, StepBreakdown(parts_ms={"graph": 41.0}, steps=5), *more),
        **fields,
    )
    return given


def seeded_work(source: str, *, made: int, hits: dict[int, int] | None = None) -> Evidence:
    """Return a loop at line 1 of 80 iterations of 100 ms, each with a call of a function at line 3. ``made``: the calls
    of twenty traced that instantiate it again, in 70 ms."""
    stacks = [sampled(95, "graph", frame(1), frame(3, CALL)), sampled(5, "python", frame(1))]
    return work_evidence(
        source,
        stacks,
        loop=1,
        iterations=80,
        hits=hits,
        ops=(op("Mul", 200.0, where="graph"),),
        offers={"tfprof": [Instantiations(count=made, ms=70.0 * made, wall_ms=2000.0)]} if made else {},
    )


@pytest.mark.parametrize("call", ["tf.random.set_seed(i)", "keras.utils.set_random_seed(i)"])
def test_a_seed_at_each_step_is_reported_at_its_line(call: str) -> None:
    (finding,) = seeded_each_step(seeded(EACH_STEP, call, loop=1))
    assert finding.code == "STP012"
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 3))
    assert finding.share_of_step == pytest.approx(0.76, abs=0.02)  # four of the five traced calls follow another
    assert (finding.gain.low or 0) > 3
    assert {"BAT002", "CMP006"} <= set(finding.absorbs)


def test_a_seed_for_each_epoch_is_not() -> None:
    assert not list(seeded_each_step(seeded(EACH_EPOCH, "tf.random.set_seed(epoch)", loop=3)))


def test_a_step_that_does_not_pay_for_it_is_left_in_peace() -> None:
    assert not list(seeded_each_step(seeded(EACH_STEP, "tf.random.set_seed(i)", loop=1, made_ms=0.2)))


@pytest.mark.parametrize("call", ["set_seed(i)", "np.random.seed(i)", "own.set_seed(i)"])
def test_other_seeds_are_not_tensorflows(call: str) -> None:
    assert not list(seeded_each_step(seeded(EACH_STEP, call, loop=1)))


def test_a_seed_now_and_then_is_left_in_peace() -> None:
    source = "for i in range(9):\n    if i % 100 == 0:\n        {call}\n    train(x)\n"
    assert not list(seeded_each_step(seeded(source, "tf.random.set_seed(i)", loop=1)))


@pytest.mark.parametrize("hits, told", [(6, 1), (0, 0)])
def test_what_was_counted_says_more_than_the_source(hits: int, told: int) -> None:
    source = "for i in range(9):\n    if x:\n        {call}\n    train(x)\n"
    counts = LineCounts(rows=(LineCount(file=FILE, line=3, hits=hits),))
    given = seeded(source, "tf.random.set_seed(i)", loop=1, more=(counts,))
    steps = tuple(replace(step, window="lines") if 10 < step.number < 17 else step for step in given.steps.steps)
    given.steps = replace(given.steps, steps=steps)
    assert len(list(seeded_each_step(given))) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [("{call}", 1), ("if seed:\n        {call}", 0), ("for s in seeds:\n        {call}", 0)],
)
def test_a_function_that_the_loop_calls(body: str, told: int) -> None:
    source = f"def same(seed):\n    {body}\ndef turn(x):\n    same(1)\n    return x\n"
    source += "for i in range(9):\n    turn(i)\n    train(x)\n"
    line = source[: source.index("for i in")].count("\n") + 1
    assert len(list(seeded_each_step(seeded(source, "tf.random.set_seed(seed)", loop=line)))) == told


def test_a_callback_that_keras_calls_at_each_batch() -> None:
    source = "class Same(Callback):\n    def on_train_batch_begin(self, batch, logs=None):\n        {call}\n"
    source += "    def on_epoch_end(self, epoch, logs=None):\n        pass\nmodel.fit(x)\n"
    (finding,) = seeded_each_step(seeded(source, "tf.random.set_seed(batch)", loop=6))
    assert finding.where[0] == SourceSpan(FILE, 3, "on_train_batch_begin")


LOOP = "for i in range(80):\n    {call}\n    totals.append(simulate(draw(i)))\n"


@pytest.mark.parametrize("hits", [None, {2: 20}])
def test_an_iteration_of_a_loop_that_trains_nothing(hits: dict[int, int] | None) -> None:
    (finding,) = seeded_each_step(seeded_work(LOOP.format(call="tf.random.set_seed(i)"), made=19, hits=hits))
    assert finding.where[0] == SourceSpan(FILE, 2)
    assert finding.share_of_step == pytest.approx(0.665)
    assert finding.gain.low and finding.gain.high and finding.gain.low > 2.5 and finding.gain.high < 20


def test_a_comprehension_whose_function_sets_the_seed() -> None:
    source = "totals = [turn(i) for i in range(80)]\ndef turn(i):\n    tf.random.set_seed(i)\n    return simulate(i)\n"
    (finding,) = seeded_each_step(seeded_work(source, made=19))
    assert finding.where[0].line == 3


def test_a_loop_that_keeps_its_kernels_or_sets_the_seed_once() -> None:
    call = "tf.random.set_seed(i)"
    assert not list(seeded_each_step(seeded_work(LOOP.format(call=call), made=0)))
    assert not list(seeded_each_step(seeded_work(LOOP.format(call=call), made=19, hits={2: 1})))
    assert not list(seeded_each_step(seeded_work(LOOP.format(call="np.random.seed(i)"), made=19)))
