"""EAG017 of values that a method computes again, on made-up evidence."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, one
from tfperfkit_rules.eager.values_again import same_value
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """\
import numpy as np
import tensorflow as tf
class Model:
    def __init__(self, rows):
        self.rows = tf.constant(rows)
    def factorise(self):
        return tf.linalg.cholesky(tf.matmul(self.rows, self.rows, transpose_b=True))
    def predict(self, new):
        root = self.factorise()
        return tf.matmul(root, new)
model = Model(np.eye(9))
for step in range(40):
    out = model.predict(tf.constant([[float(step)]] * 9))
    total = out.numpy().sum()
"""


def repeated(source: str = SOURCE, *, factorising: int = 150, turns: int = 40, activity: str = "eager_ops") -> Evidence:
    way = (frame(13), frame(9, name="predict"), frame(7, name="factorise", span=(15, 84)))
    other = (frame(13), frame(10, name="predict"))
    return work_evidence(
        source,
        [sampled(factorising, activity, *way), sampled(200 - factorising, "eager_ops", *other)],
        loop=12,
        iterations=40,
        hits={12: turns + 1, 13: turns, 14: turns, 9: turns, 7: turns},
    )


@pytest.mark.parametrize("activity", ["eager_ops", "python"])
def test_a_method_that_factorises_the_same_matrix_in_each_call(activity: str) -> None:
    found = one(same_value(repeated(activity=activity)))
    assert found.title == "self.factorise computes the same in each iteration of line 12"
    assert (found.code, found.where) == ("EAG017", (SourceSpan(FILE, 9, "predict"), SourceSpan(FILE, 12)))
    low, high = found.gain.bounds or (0, 0)
    assert 3 < low < 1 / (1 - 0.75 * 39 / 40) < high
    assert found.advice.startswith("Call self.factorise() once, before line 12 or where its inputs change")


def test_a_loop_that_begins_again_computes_it_once_each_time() -> None:
    again = work_evidence(
        SOURCE,
        [sampled(200, "eager_ops", frame(13), frame(9, name="predict"))],
        loop=12,
        iterations=40,
        hits={12: 50, 13: 40, 14: 40},
    )
    assert one(same_value(again)).gain.bounds == pytest.approx((4, 8), rel=0.1)  # four iterations each time


@pytest.mark.parametrize(
    "evidence",
    [
        repeated(SOURCE.replace("root = self.factorise()", "root = self.factorise(); self.rows = self.rows + 1.0")),
        repeated(SOURCE.replace("    total = out", "    model.rows = tf.constant(np.eye(9) * step); total = out")),
        repeated(SOURCE.replace("tf.matmul(self.rows, self.rows, transpose_b=True)", "tf.random.normal([9, 9])")),
        repeated(SOURCE.replace("self.factorise()", "self.other()")),
        repeated(factorising=5),
        repeated(turns=2),
    ],
    ids=["changed by the call", "changed by the loop", "drawn at random", "unknown", "little", "twice"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(same_value(evidence))
