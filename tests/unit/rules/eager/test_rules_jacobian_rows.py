"""EAG008 of a function that takes one gradient for each number of a tensor: its jacobian, on made-up evidence."""

from __future__ import annotations

import pytest
from eager_builder import op
from evidence_builder import FILE, one
from tfperfkit_rules.eager import work
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import SourceSpan

MATH = "tensorflow.python.ops.math_ops:reduce_sum"
TINY = (op("Mul", 2000, 40.0), op("Sub", 2000, 40.0), op("MatMul", 400, 8.0))

ROWS = """\
import tensorflow as tf
def rows(p):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(p)
        r = f(p)
        parts = [r[i] for i in range(80)]
    return tf.stack([tape.gradient(part, p) for part in parts])
while True:
    p = p - rows(p)
"""
GRADIENT = "tensorflow.python.eager.backprop:gradient"


@pytest.mark.parametrize(
    ("changed", "by", "told"),
    [
        ("r[i] for i in range(80)", "r[i] for i in range(80)", True),
        ("tape.gradient(part, p) for part in parts", "tape.gradient(r[i], p) for i in range(80)", True),
        ("r[i] for i in range(80)", "loss(p) for loss in losses", False),  # a few losses, each of its own
        ("tape.gradient(part, p)", "tape.gradient(part, part)", False),
    ],
)
def test_a_gradient_for_each_number_is_a_jacobian(changed: str, by: str, told: bool) -> None:
    source = ROWS.replace(changed, by)
    stacks = [
        sampled(70, "eager_ops", frame(9), frame(7, GRADIENT, name="rows")),
        sampled(25, "dispatch", frame(9), frame(6, MATH, name="rows")),
        sampled(5, "python", frame(9), frame(7, name="rows")),
    ]
    found = one(work.eager_work(work_evidence(source, stacks, loop=8, ops=TINY, hits={7: 99, 6: 99, 9: 99})))
    assert ("tape.jacobian(r, p)" in found.advice) is told
    assert not told or found.where[0] == SourceSpan(FILE, 7, found.where[0].function)
