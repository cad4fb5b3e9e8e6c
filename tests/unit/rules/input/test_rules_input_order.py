"""Rules about the order of a pipeline's stages, and what a buffer holds (INP008, INP009): on made-up evidence."""

from __future__ import annotations

import msgspec
from input_builder import BATCH, PREFETCH, evidence, mapped, one, pipeline, stage
from tfperfkit_rules.input import sequential_stages, stage_order

from tfperfkit.rule import Evidence

SLOW = pipeline(PREFETCH, BATCH, mapped(stateful_or_random=True), bound_by=2, bound_ms_per_output=9.5)


def test_a_wrong_order_is_a_remark() -> None:
    batch = stage("Batch", 4, parameters={"batch_size": 32})
    made = pipeline(stage("Shuffle", 6, parameters={"buffer_size": 10}), batch)
    finding = one(stage_order.order(evidence(made)))
    assert (finding.code, finding.severity, finding.where[0].line) == ("INP008", "info", 6)
    augmented = pipeline(stage("Cache", 8), mapped(stateful_or_random=True))
    assert "random" in one(stage_order.order(evidence(augmented))).title
    endless = pipeline(stage("Cache", 8), stage("Repeat", 5, parameters={"count": -1}))
    assert "endless" in one(stage_order.order(evidence(endless))).title


def test_the_usual_order_is_right() -> None:
    usual = pipeline(PREFETCH, BATCH, stage("Shuffle", 6), stage("Cache", 5), mapped())
    assert not list(stage_order.order(evidence(usual)))


def test_a_batch_that_makes_an_element_of_a_window_is_in_no_order() -> None:
    window = stage("Batch", 3, parameters={"batch_size": 101}, nested=3)
    windows = pipeline(PREFETCH, BATCH, stage("Shuffle", 6), stage("FlatMap", 3), window, stage("Window", 2))
    assert not list(stage_order.order(evidence(windows)))


def test_work_behind_prefetch() -> None:
    made = pipeline(mapped(stateful_or_random=True), PREFETCH, bound_by=0, bound_ms_per_output=6.0)
    finding = one(stage_order.late_prefetch(evidence(made)))
    assert finding.code == "INP008" and finding.where[0].line == 9
    assert not list(stage_order.late_prefetch(evidence(SLOW)))


def buffer(held: float, size: int, source_size: int | None) -> Evidence:
    shuffle = stage("Shuffle", 6, parameters={"buffer_size": 20_000}, buffered_mean=held, bytes_per_element=size)
    source = stage("TensorSlice", 3, bytes_per_element=source_size)
    return evidence(pipeline(PREFETCH, shuffle, mapped("ParallelMap", bytes_per_element=size), source))


def test_a_buffer_of_decoded_images_is_a_risk() -> None:
    finding = one(stage_order.large_buffer(buffer(480, 300_000, None)))
    assert (finding.code, finding.basis, finding.severity, finding.where[0].line) == ("INP009", "risk", "low", 6)
    assert not list(stage_order.large_buffer(buffer(480, 3_000, None)))
    assert not list(stage_order.large_buffer(buffer(480, 300_000, 300_000)))
    assert one(stage_order.large_buffer(buffer(10_000, 500_000, 500_000))).severity == "high"


def test_files_that_an_interleave_opens_are_read_one_after_the_other_if_it_is_not_parallel() -> None:
    read = stage("TFRecord", 4, self_ms_per_output=9.0, nested=2)
    plain = pipeline(PREFETCH, BATCH, stage("Interleave", 9), read, bound_by=3, bound_ms_per_output=9.5)
    finding = one(sequential_stages.sequential(evidence(plain)))
    assert finding.where[0].line == 9 and ".interleave(..., num_parallel_calls=tf.data.AUTOTUNE" in finding.advice
    parallel = msgspec.structs.replace(plain, stages=(PREFETCH, BATCH, stage("ParallelInterleave", 9), read))
    assert not list(sequential_stages.sequential(evidence(parallel)))
