"""GRF009: layers that never change, on data that come again."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence
from input_builder import PREFETCH, pipeline, stage
from tfperfkit_probes.input.model import InputData, Pipeline
from tfperfkit_rules.graph.fixed_work import fixed_work

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep, FixedOperations, FixedWork, RanOperation, RanOperations
from tfperfkit.rule import Evidence

SOURCE = """\
import keras
base = keras.applications.ResNet50()
base.trainable = False
model.fit(data, epochs=5)
"""
SHUFFLE = stage("Shuffle", 6, stateful_or_random=True)
SLICES = stage("TensorSlice", 3, element="float32[8,8,3], int64[]")
BATCH = stage("Batch", 8, parameters={"batch_size": 32}, element="float32[?,8,8,3], int64[?]")
TYPES = ("float32[32,8,8,3]", "int64[32]")


def ran(name: str, ms: float, stage: Any = "forward", layer: str = "") -> ComputedOperation:
    return ComputedOperation(
        name=name, type="Conv2D", stage=stage, runs=1, ms=ms, busy_ms=ms, layer=layer, file=FILE, line=4
    )


def given(
    feeds: Pipeline | None = None,
    *,
    frozen_ms: float = 6.0,
    owner: str = "keras",
    arguments: tuple[str, ...] = TYPES,
    trained: str = "model/dense",
    writers: int = 0,
    assigns: int = 0,
) -> Evidence:
    """Return a step of 10 ms, 8 of them compiled."""
    rows = (
        ran("Call/model/resnet/conv1/Conv2D", frozen_ms / 2, layer="model/resnet/conv1"),
        ran("Call/model/resnet/conv2/Conv2D", frozen_ms / 2, layer="model/resnet/conv2"),
        ran(f"Call/{trained}/MatMul", 7 - frozen_ms, layer=trained),
        ran(f"Call/gradient_tape/{trained}/MatMul", 1.0, "backward", layer=trained),
        ran("Call/model/resnet/conv1/Conv2D/ReadVariableOp", 0.0, layer="model/resnet/conv1"),
    )
    names = ("model/resnet/conv1/Conv2D", "model/resnet/conv2/Conv2D")
    fixed = FixedOperations(
        graph="step", owner=owner, file=FILE, line=4, operations=names, kept_bytes=6400, arguments=arguments
    )
    step = ComputedStep(ms=8.0, idle_ms=0, waits_ms=0, unknown_ms=0, operations=rows, batch=32)
    assigned = RanOperation(name="a", type="AssignVariableOp", count=assigns, self_ms=0.1, where="eager")
    ran_eagerly = RanOperations(steps=5, rows=(assigned,))
    feeds = feeds or pipeline(PREFETCH, BATCH, SHUFFLE, SLICES, iterators=10)
    return make_evidence(
        parts_ms={"graph": 8.0, "dispatch": 2.0},
        source=SOURCE,
        data={"input": InputData(pipelines=(feeds,), steps=60)},
        offers={"ops": (FixedWork(functions=(fixed,), writers=writers),), "lines": (step, ran_eagerly)},
    )


def one(evidence: Evidence) -> Finding:
    (finding,) = fixed_work(evidence)
    return finding


def test_a_frozen_model_s_results_are_to_be_kept() -> None:
    found = one(given())
    assert (found.code, rank([found])[0].severity) == ("GRF009", "high")
    assert found.title == "Frozen layers (resnet) recompute the same features every epoch"
    assert found.share_of_step == pytest.approx(0.6)
    assert found.gain.bounds == pytest.approx((1 / 0.46, 1 / 0.4))
    assert found.where == (SourceSpan(FILE, 3), SourceSpan(FILE, 4))
    kept = {item.name: item.value for item in found.evidence}["size of the features of all examples"]
    assert kept == 6400 * 60 / 5  # ten iterators of fit are five epochs


def test_a_model_that_is_trained_in_part_is_not_named_whole() -> None:
    found = one(given(trained="model/resnet/head"))
    assert found.title == "Frozen layers (conv1 and 1 other layer of resnet) recompute the same features every epoch"


@pytest.mark.parametrize(
    "feeds",
    [
        pipeline(PREFETCH, BATCH, stage("Map", 7, stateful_or_random=True), SLICES, iterators=10),
        pipeline(PREFETCH, BATCH, stage("Generator", 7, is_python=True), iterators=10),
        pipeline(PREFETCH, BATCH, SHUFFLE, SLICES, iterators=1),
        pipeline(PREFETCH, BATCH, SLICES, iterators=10, in_training=False),
    ],
    ids=["random map", "Python", "one pass", "not the training's"],
)
def test_data_that_may_come_differently_or_once_keep_it_silent(feeds: Pipeline) -> None:
    assert not list(fixed_work(given(feeds)))


def test_order_of_keras_own_is_no_other_data() -> None:
    order = stage("Map", 7, stateful_or_random=True, by="keras")
    assert one(given(pipeline(PREFETCH, BATCH, order, SLICES, iterators=10))).code == "GRF009"


def test_a_small_share_is_not_worth_it() -> None:
    assert not list(fixed_work(given(frozen_ms=0.8)))


def test_a_function_of_the_person_s_is_judged_where_it_takes_the_batch() -> None:
    assert one(given(owner="user"))
    assert not list(fixed_work(given(owner="user", arguments=(*TYPES, "float32[32,100]"))))


def test_a_teacher_that_follows_slowly_is_not_frozen() -> None:
    """Its weights change outside of the step: in another function, or from Python."""
    assert not list(fixed_work(given(writers=1)))
    assert not list(fixed_work(given(assigns=20)))
    assert one(given(assigns=1))  # once in five steps: a metric that is set back
