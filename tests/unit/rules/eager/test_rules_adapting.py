"""The rule about Keras' adapt, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE
from input_builder import mapped, pipeline, stage
from tfperfkit_probes.input.model import InputData
from tfperfkit_rules.eager import RULES
from tfperfkit_rules.eager.adapting import adapted
from work_builder import frame, sampled, work_evidence

from tfperfkit.rule import Offer, Offers

SOURCE = "import tensorflow as tf\nlayer = tf.keras.layers.Normalization()\nlayer.adapt(data)\n"
ADAPT = "keras.src.layers.preprocessing.normalization:adapt"
ROWS = stage("TensorSlice", 2)


def batch(size: int) -> Any:
    return stage("Batch", 3, parameters={"batch_size": size})


def given(*stages: Any, share: int = 90, passes: int = 1) -> Any:
    inside = frame(3, ADAPT)
    stacks = [
        sampled(share // 2, "eager_ops", inside),
        sampled(share - share // 2, "dispatch", inside),
        sampled(100 - share, "python", frame(2)),
    ]
    found = work_evidence(SOURCE, stacks, call=3)
    fields = {"line": 3, "way": "", "in_training": None, "role": "unknown", "iterators": passes}
    made = InputData(pipelines=(pipeline(*stages, **fields),))
    found._offers = Offers([Offer("input", InputData, msgspec.to_builtins(made))])
    return found


@pytest.mark.parametrize(("stages", "batches"), [((batch(1), ROWS), 1), ((ROWS,), 1), ((batch(32), ROWS), 32)])
def test_small_batches_are_told_at_the_line_of_adapt(stages: Any, batches: int) -> None:
    (finding,) = adapted(given(*stages))
    assert finding.code == "EAG015" and finding.where[0].file == FILE and finding.where[0].line == 3
    assert f"batches of {batches}" in finding.title and "layer.adapt" in finding.advice
    low, high = finding.gain.bounds or (0, 0)
    assert 2.5 < low < high <= 100


def test_many_passes_over_the_data_are_told() -> None:
    (finding,) = adapted(given(batch(512), mapped(), ROWS, passes=12))
    assert "12 passes" in finding.title
    low, high = finding.gain.bounds or (0, 0)
    assert 1.5 < low < high < 12


@pytest.mark.parametrize(
    ("stages", "fields"),
    [
        ((batch(512), ROWS), {}),
        ((batch(1), ROWS), {"share": 4}),
        ((batch(512), ROWS), {"passes": 2}),
        ((stage("Generator", 2, is_python=True),), {}),  # it may yield batches
    ],
)
def test_large_batches_little_time_and_what_is_not_known_are_left_in_peace(stages: Any, fields: Any) -> None:
    assert not list(adapted(given(*stages, **fields)))


def test_the_operations_of_adapt_are_none_to_compile() -> None:
    found = {finding.code for rule in RULES for finding in rule(given(batch(512), ROWS))}
    assert "EAG008" not in found
