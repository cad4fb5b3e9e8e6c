"""EAG017 of models that are called directly, on made-up evidence."""

from __future__ import annotations

import pytest
from defined_names import with_definitions
from evidence_builder import FILE, one
from tfperfkit_rules.eager.passes_again import same_pass
from work_builder import CALL, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """\
import tensorflow as tf
@tf.function
def forward(x):
    return model(x, training=False)
for level in levels:
    hits = 0
    for x, y in data:
        p = forward(x)
        hits += tf.reduce_sum((p > level) == y)
    rows.append(hits)
"""


def swept(source: str = SOURCE, *, of_the_call: int = 180, iterations: int = 9) -> Evidence:
    return work_evidence(
        with_definitions(source),
        [sampled(of_the_call, "graph", frame(8, CALL)), sampled(200 - of_the_call, "python", frame(9))],
        loop=5,
        iterations=40,
        hits={6: iterations, 8: 20 * iterations, 10: iterations},
    )


def test_a_sweep_that_goes_through_the_same_batches() -> None:
    found = one(same_pass(swept()))
    assert found.title == "forward repeated on the same data and weights, in each iteration of line 5"
    assert (found.code, found.where) == ("EAG017", (SourceSpan(FILE, 8), SourceSpan(FILE, 5)))
    low, high = found.gain.bounds or (0, 0)
    assert 3.5 < low < 1 / (1 - 0.9 * 8 / 9) < high and "before line 5" in found.advice


@pytest.mark.parametrize(
    "evidence",
    [
        swept(SOURCE.replace("= forward(x)", "= forward(x * level)")),
        swept(SOURCE.replace("training=False", "training=True")),
        swept(of_the_call=6),
        swept(iterations=2),
    ],
    ids=["what it gets differs", "drawn at random", "little", "twice"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(same_pass(evidence))
