"""STP012: the seed set at each step; silent where it is set for an epoch, or where the step does not pay for it."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import compiled, ran
from eager_builder import site, sites
from evidence_builder import FILE
from msgspec.structs import replace
from tfperfkit_rules.step.seeds import seeded_each_step

from tfperfkit.model import SourceSpan
from tfperfkit.offers import LineCount, LineCounts
from tfperfkit.records.steps import Loop
from tfperfkit.rule import Evidence

EACH_STEP = "for i in range(9):\n    {call}\n    train(x)\n"
EACH_EPOCH = "for epoch in range(9):\n    {call}\n    for x in data:\n        train(x)\n"


def seeded(source: str, call: str, *, loop: int, idle_ms: float = 40.0, **fields: Any) -> Evidence:
    line = source.count("\n")
    given = compiled(
        (ran("MatMul", 1.0, flops=90e6),),
        idle_ms=idle_ms,
        source=source.format(call=call),
        records=sites(site(1, "call", line, loops=(loop,))),
        loop=Loop(FILE, loop),
        **fields,
    )
    return given


@pytest.mark.parametrize("call", ["tf.random.set_seed(i)", "keras.utils.set_random_seed(i)"])
def test_a_seed_at_each_step_is_reported_at_its_line(call: str) -> None:
    (finding,) = seeded_each_step(seeded(EACH_STEP, call, loop=1))
    assert (finding.code, finding.severity) == ("STP012", "high")
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 3))
    assert finding.share_of_step == pytest.approx(0.94, abs=0.02)
    assert (finding.gain.low or finding.gain.likely or 0) > 5
    assert {"BAT002", "CMP006"} <= set(finding.absorbs)


def test_a_seed_for_each_epoch_is_not() -> None:
    assert not list(seeded_each_step(seeded(EACH_EPOCH, "tf.random.set_seed(epoch)", loop=3)))


def test_a_step_that_does_not_pay_for_it_is_left_in_peace() -> None:
    assert not list(seeded_each_step(seeded(EACH_STEP, "tf.random.set_seed(i)", loop=1, idle_ms=0.2)))


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
