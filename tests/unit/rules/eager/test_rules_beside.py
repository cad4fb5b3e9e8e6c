"""EAG008 in training steps: operations one by one beside a compiled function that makes the update."""

from __future__ import annotations

import msgspec
import pytest
from eager_builder import site, sites
from evidence_builder import FILE, make_evidence, make_samples, make_steps
from tfperfkit_rules.eager.step import eager_step
from tfperfkit_rules.eager.work import eager_work

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

MATH = ("tensorflow.python.ops.math_ops:multiply",)
SOURCE = """\
import tensorflow as tf

@tf.function
def learn(batch):
    optimizer.apply(tape.gradient(loss(batch), weights), weights)

def follow(targets, sources):
    for target, source in zip(targets, sources):
        target.assign(0.01 * source + 0.99 * target)

for batch in data:
    learn(batch)
    follow(slow.variables, fast.variables)
"""


def steps_of(eager: int, **fields: object) -> Evidence:
    """A step of 10 ms; ``eager`` of 100 samples in the function that follows slowly, the others in the compiled one."""
    loop = Frame(FILE, 1, "<module>", 13)
    follow = Frame(FILE, 7, "follow", 9, None, MATH)
    samples = make_samples(
        [
            (eager // 2, "eager_ops", [loop, follow]),
            (eager - eager // 2, "dispatch", [loop, follow]),
            (100 - eager, "graph", [Frame(FILE, 1, "<module>", 12)]),
        ]
    )
    parts = {"eager_ops": eager / 20, "dispatch": eager / 20, "graph": 10 - eager / 10}
    table = msgspec.structs.replace(make_steps(each_ms=10.0), source="custom")
    return make_evidence(parts_ms=parts, samples=samples, source=SOURCE, steps=table, **fields)


def test_operations_beside_the_compiled_step_are_told_with_their_function() -> None:
    (found,) = eager_work(steps_of(60))
    assert (found.code, found.work, found.share_of_step) == ("EAG008", "", 0.6)
    assert found.title == "A step has operations beside its compiled function, called one by one from Python"
    assert found.where[:2] == (SourceSpan(FILE, 7, "follow"), SourceSpan(FILE, 9, "follow"))
    assert "Put @tf.function on follow" in found.advice
    assert found.predicted_range and 1 < found.predicted_range[0] < found.predicted_range[1]


@pytest.mark.parametrize("eager", [0, 8])
def test_a_few_of_them_are_nothing(eager: int) -> None:
    assert list(eager_work(steps_of(eager))) == []


def test_a_step_that_python_updates_is_another_finding_s() -> None:
    assert list(eager_work(steps_of(60, records=sites(site(1, "apply", 5, loops=[11]))))) == []
    assert list(eager_step(steps_of(60))) == []  # nothing counted its operations
