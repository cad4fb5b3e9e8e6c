"""EAG014 on made-up evidence: train_on_batch, and what Keras does around its compiled step."""

from __future__ import annotations

import msgspec
import pytest
from eager_builder import seen, site, sites
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_rules.eager.by_batch import trained_by_batch

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

KERAS = ("keras.src.backend.tensorflow.trainer:train_on_batch",)
SOURCE = """\
import keras

for x, y in batches:
    x = augment(x)
    loss = critic.train_on_batch(x, y)
"""


def steps_of(around: int, kind: str = "train_on_batch") -> Evidence:
    """Return a step of 4 ms; ``around`` of 100 samples are in Keras' Python of the call, as many as are left in its
    graph."""
    leaf = Frame(FILE, 1, "<module>", 5, None, KERAS)
    parts = {"dispatch": around / 25, "graph": 4 - around / 25}
    table = msgspec.structs.replace(make_steps(each_ms=4.0), source="custom")
    samples, log = seen(table, [(around, "dispatch", [leaf]), (100 - around, "graph", [leaf])])
    records = sites(site(1, kind, 5, loops=[3]))
    return make_evidence(parts_ms=parts, samples=samples, log=log, source=SOURCE, steps=table, records=records)


def test_python_around_the_update_is_reported_with_the_model() -> None:
    (found,) = trained_by_batch(steps_of(60))
    assert (found.code, found.share_of_step) == ("EAG014", pytest.approx(0.6))
    assert found.where == (SourceSpan(FILE, 5), SourceSpan(FILE, 3))
    assert "critic(x, training=True)" in found.advice and "critic.fit" in found.advice
    assert found.gain.bounds and 1.3 < found.gain.bounds[0] < 2.3 < found.gain.bounds[1]


@pytest.mark.parametrize("evidence", [steps_of(5), steps_of(60, "call")], ids=["large network", "another step"])
def test_large_networks_and_other_steps_are_left_in_peace(evidence: Evidence) -> None:
    assert list(trained_by_batch(evidence)) == []
