"""Metrics that are brought up to date row by row once training is over."""

from __future__ import annotations

import msgspec
from eager_builder import site
from evidence_builder import FILE, one
from tfperfkit_rules.step.side_work import hot_path
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import SourceSpan

SOURCE = """\
import keras
m.fit(x, y)
accuracy = keras.metrics.Accuracy()
for true, told in zip(y, m.predict(x)):
    accuracy.update_state([true], [told])
"""


def test_many_rows_for_one_call_is_the_advice_not_the_training_step() -> None:
    stacks = [sampled(100, "eager_ops", frame(5, "keras.src.metrics.reduction_metrics:update_state"))]
    records = {"sites": [msgspec.to_builtins(site(1, "batch", 2))], "markers": [[1, 0, 10, 1]]}
    found = one(hot_path(work_evidence(SOURCE, stacks, loop=4, records=records)))
    assert (found.code, found.where[0]) == ("STP001", SourceSpan(FILE, 5))
    assert "metric.update_state(y_true, y_pred)" in found.advice
