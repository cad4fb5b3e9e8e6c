"""A shuffle buffer that is filled with mapped elements before each epoch (INP008): on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import make_account, make_steps
from input_builder import BATCH, PREFETCH, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import Stage
from tfperfkit_rules.input import stage_order, waiting
from tfperfkit_rules.input.shuffled_late import shuffled_late

from tfperfkit.diagnosis.merging import merge
from tfperfkit.model import Outlier
from tfperfkit.rule import Evidence

SHUFFLE = stage("Shuffle", 6, parameters={"buffer_size": 1000}, buffered_mean=72.0, self_ms_per_output=88.0)
EACH = stage("Batch", 6, parameters={"batch_size": 16})
DECODE = mapped("ParallelMap", own_ms=None, stateful_or_random=True)
SOURCE = stage("TensorSlice", 3)


def filled(*stages: Stage, **fields: Any) -> Evidence:
    """60 steps in epochs of 15: each step but an epoch's first takes 1 ms, the first one waits for 150 ms more."""
    late = tuple(Outlier(step=n, ms=155.0, excess_ms=150.0, cause="input") for n in (16, 31, 46))
    account = make_account({"input": 8.0, "graph": 1.0}, steps=57, outliers=late)
    made = pipeline(*stages, iterators=4, way="", **fields)
    return evidence(made, account=account, steps=make_steps())


def test_a_buffer_of_batches_of_which_an_epoch_uses_a_few() -> None:
    given = filled(PREFETCH, SHUFFLE, EACH, DECODE, SOURCE)
    found = one(shuffled_late(given))
    assert (found.code, found.where[0].line, found.where[1].line) == ("INP008", 6, 7)
    assert ".shuffle(n).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(16)" in found.advice
    per_batch = 450 / 57 * 15 / 72  # what fills the buffer, for the 15 of its 72 batches that an epoch uses
    low, high = ranged(found)
    assert high == pytest.approx(9 / max(0.6 * per_batch, 1.0)) and 9 / (1.0 + per_batch) < low < 9 / (1.2 * per_batch)
    assert "uses 15" in found.detail


def test_it_takes_in_the_wait_and_the_remark_about_the_order() -> None:
    given = filled(PREFETCH, SHUFFLE, EACH, DECODE, SOURCE)
    rules = (shuffled_late, stage_order.order, waiting.waits)
    (left,) = merge([item for rule in rules for item in rule(given)])
    assert left.code == "INP008" and left.severity != "info" and "INP001" in left.detail


def test_a_buffer_that_an_epoch_uses_up_is_filled_next_to_the_steps() -> None:
    whole = stage("Shuffle", 6, parameters={"buffer_size": 480}, buffered_mean=480.0, self_ms_per_output=6.0)
    found = one(shuffled_late(filled(PREFETCH, BATCH, whole, DECODE, SOURCE)))
    assert ranged(found)[1] < 9.0 / (0.5 * 450 / 57) and "uses" not in found.detail


def test_silent_if_the_shuffle_stands_first_or_something_else_is_slow() -> None:
    def codes(*stages: Stage) -> list[str]:
        return [item.code for item in shuffled_late(filled(*stages))]

    first = stage("Shuffle", 6, parameters={"buffer_size": 1000}, buffered_mean=72.0, self_ms_per_output=0.1)
    assert not codes(PREFETCH, BATCH, DECODE, first, SOURCE)
    records = stage("TFRecord", 3)  # reading it may be what takes the time
    assert not codes(PREFETCH, BATCH, SHUFFLE, DECODE, records)
    assert codes(PREFETCH, BATCH, first, mapped("ParallelMap", own_ms=7.0), records)
    assert not codes(PREFETCH, BATCH, SHUFFLE, SOURCE)


def test_silent_if_the_wait_is_not_at_the_beginning_of_epochs() -> None:
    steady = pipeline(PREFETCH, BATCH, SHUFFLE, DECODE, SOURCE)
    assert not list(shuffled_late(evidence(steady)))
