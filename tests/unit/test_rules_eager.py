"""The rules of family eager on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from typing import Any

from eager_builder import BIG, IN_A_LOOP, TINY, eager_evidence, op, site
from evidence_builder import FILE
from tfperfkit_rules import eager_step

from tfperfkit.model import Finding, SourceSpan


def one(found: Any) -> Finding:
    (finding,) = found
    assert isinstance(finding, Finding)
    return finding


def test_the_function_that_makes_the_step_is_named_before_the_loop() -> None:
    finding = one(eager_step.eager_step(eager_evidence()))
    assert finding.where == (SourceSpan(FILE, 3, "train_step"), SourceSpan(FILE, 10))
    assert "@tf.function on train_step" in finding.advice
    assert finding.evidence[0].value == 700


def test_many_tiny_operations_promise_much_and_long_products_little() -> None:
    tiny = one(eager_step.eager_step(eager_evidence(TINY)))
    big = one(eager_step.eager_step(eager_evidence(BIG, dispatch_ms=12.0)))
    assert tiny.predicted_range and tiny.predicted_range[0] > 5
    assert big.predicted_range and 1.05 < big.predicted_range[0] < big.predicted_range[1] < 1.5


def test_the_gan_of_the_examples_is_within_the_range() -> None:
    """Stage ``cached``: 202 ms, as a graph 39 ms. Of two networks' gradients each tape uses one network's."""
    ops = (
        op("Conv2DBackpropInput", 10, 30.0), op("Conv2D", 12, 20.0), op("Conv2DBackpropFilter", 10, 22.0),
        op("MatMul", 14, 3.0), op("Mul", 187, 14.0), op("AddV2", 81, 4.0), op("ReadVariableOp", 900, 12.0),
    )
    two = (site(1, "apply", 7, 11, loops=(10,), target=1), site(2, "apply", 7, 11, loops=(10,), target=2))
    finding = one(eager_step.eager_step(eager_evidence(ops, dispatch_ms=97.0, at=two)))
    assert finding.predicted_range and finding.predicted_range[0] < 202 / 39 < finding.predicted_range[1]


def test_a_body_in_the_loop_itself_is_told_by_the_loop_and_the_tape() -> None:
    placed = (site(1, "apply", 5, loops=(2,)),)
    finding = one(eager_step.eager_step(eager_evidence(source=IN_A_LOOP, at=placed, loop=2)))
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 3))
    assert "Move the body of the loop" in finding.advice


def test_the_function_with_the_tape_is_compiled_not_the_one_that_only_updates() -> None:
    source = "def update(g):\n    opt.apply(g)\n\ndef work(x):\n    with tf.GradientTape() as t:\n        l = f(x)\n" \
        "    update(t.gradient(l, w))\n\ndef epoch():\n    for x in data:\n        work(x)\n\nepoch()\n"
    placed = (site(1, "apply", 2, 7, 11, 13, loops=(10,)),)
    finding = one(eager_step.eager_step(eager_evidence(source=source, at=placed)))
    assert finding.where == (SourceSpan(FILE, 4, "work"), SourceSpan(FILE, 10, "epoch"))


def test_a_compiled_step_is_left_in_peace() -> None:
    compiled = eager_evidence((op("Mul", 2, 0.05),), dispatch_ms=0.3, parts={"graph": 5.0})
    assert not list(eager_step.eager_step(compiled))


def test_few_operations_are_left_in_peace() -> None:
    assert not list(eager_step.eager_step(eager_evidence((op("Mul", 20, 4.0),), dispatch_ms=1.0)))
