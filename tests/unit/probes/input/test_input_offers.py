"""The offers of the probe input: the pace of the pipelines, and the examples of a batch from a strategy."""

from __future__ import annotations

from typing import Any

import pytest
from input_builder import pipeline, stage
from tfperfkit_probes.input.analysis import offers
from tfperfkit_probes.input.model import InputData

from tfperfkit.offers import InputBatch, InputPace


def examples(element: str, **fields: Any) -> int | None:
    taken = stage("Generator", 0, by="tensorflow", added=True)
    before = stage("Prefetch", element=element)
    made = pipeline(before, taken, stage("ReincarnatedPerDeviceGenerator"), bound_ms_per_output=9.0, **fields)
    found = offers(InputData(pipelines=(made,), steps=60))
    if made.in_training and made.outputs_per_step:
        assert InputPace(ms_per_step=9.0 * made.outputs_per_step) in found
    return next((each.examples for each in found if isinstance(each, InputBatch)), None)


def test_the_examples_of_a_batch_that_a_strategy_hands_on() -> None:
    assert examples("float32[64,128]") == examples("float32[64,28,28,1], int64[64]") == 64
    assert examples("float32[64,128]", outputs_per_step=0.97) == 64


@pytest.mark.parametrize(
    ("element", "fields"),
    [
        ("float32[64,128], float32[32]", {}),  # its parts differ
        ("float32[None,128]", {}),
        ("float32[]", {}),
        ("", {}),
        ("float32[64,128]", {"outputs_per_step": 5.0}),  # a step takes several
        ("float32[64,128]", {"iterators": 2}),  # several devices
        ("float32[64,128]", {"in_training": False}),
    ],
)
def test_where_the_number_is_not_plain(element: str, fields: dict[str, Any]) -> None:
    assert examples(element, **fields) is None


def test_of_other_pipelines_an_elements_first_dimension_may_be_no_batch() -> None:
    made = pipeline(stage("Prefetch", element="float32[28,28]"), stage("Map"))
    assert not any(isinstance(each, InputBatch) for each in offers(InputData(pipelines=(made,), steps=60)))
