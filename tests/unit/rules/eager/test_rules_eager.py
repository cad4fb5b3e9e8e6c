"""The rules of family eager on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

import msgspec
import pytest
from eager_builder import BIG, IN_A_LOOP, SCRIPT, TINY, eager_evidence, op, site, sites
from evidence_builder import FILE, make_samples, one
from tfperfkit_rules.eager import step

from tfperfkit.model import SourceSpan
from tfperfkit.offers import HostRead, HostReads
from tfperfkit.pricing.bounds import Bounds, add_independent
from tfperfkit.records.samples import Frame


def test_the_function_that_makes_the_step_is_named_before_the_loop() -> None:
    finding = one(step.eager_step(eager_evidence()))
    assert finding.where == (SourceSpan(FILE, 3, "train_step"), SourceSpan(FILE, 10))
    assert "@tf.function on train_step" in finding.advice
    assert finding.evidence[0].value == 700


@pytest.mark.parametrize(
    ("imported", "call", "told"),
    [
        ("import numpy as np", "np.random.choice(100, 32)", True),
        ("from numpy.random import default_rng", "default_rng().integers(9)", True),
        ("import random", "random.random()", True),
        ("import tensorflow as tf", "tf.random.uniform([])", False),
        ("import numpy as np", "np.arange(9)", False),
    ],
)
def test_what_python_draws_in_the_step_it_would_draw_once(imported: str, call: str, told: bool) -> None:
    source = f"{imported}; " + SCRIPT.replace("model(x,", f"model(x + {call},")
    finding = one(step.eager_step(eager_evidence(source=source)))
    assert ("Draw its random numbers (train.py:" in finding.advice) == told


@pytest.mark.parametrize(("count", "told"), [(40, True), (2, False)])
def test_what_else_of_the_step_runs_operation_by_operation_is_named(count: int, told: bool) -> None:
    """Update an agent and, in the same iteration of the loop, choose its actions with its model."""
    loop, other = Frame(FILE, 1, "<module>", 11), Frame("agent.py", 5, "choose", 7)
    stacks = [(60, "eager_ops", (loop, Frame(FILE, 3, "train_step", 5))), (count, "dispatch", (loop, other))]
    finding = one(step.eager_step(eager_evidence(samples=make_samples(stacks))))
    share = round(100 * count / (60 + count))
    assert (f"Compile choose too, which also runs eagerly ({share} % of the step)" in finding.advice) == told


def test_many_tiny_operations_promise_much_and_long_products_little() -> None:
    tiny = one(step.eager_step(eager_evidence(TINY)))
    big = one(step.eager_step(eager_evidence(BIG, dispatch_ms=12.0)))
    assert tiny.gain.bounds and tiny.gain.bounds[0] > 5
    assert big.gain.bounds and 1.0 < big.gain.bounds[0] < big.gain.bounds[1] < 1.5


def test_the_gan_of_the_examples_is_within_the_range() -> None:
    """Stage ``cached``: 202 ms, as a graph 39 ms. Of two networks' gradients each tape uses one network's."""
    ops = (
        op("Conv2DBackpropInput", 10, 30.0),
        op("Conv2D", 12, 20.0),
        op("Conv2DBackpropFilter", 10, 22.0),
        op("MatMul", 14, 3.0),
        op("Mul", 187, 14.0),
        op("AddV2", 81, 4.0),
        op("ReadVariableOp", 900, 12.0),
    )
    two = (site(1, "apply", 7, 11, loops=(10,), target=1), site(2, "apply", 7, 11, loops=(10,), target=2))
    finding = one(step.eager_step(eager_evidence(ops, dispatch_ms=97.0, at=two)))
    assert finding.gain.bounds and finding.gain.bounds[0] < 202 / 39 < finding.gain.bounds[1]


def test_a_body_in_the_loop_itself_is_reported_by_the_loop_and_the_tape() -> None:
    placed = (site(1, "apply", 5, loops=(2,)),)
    finding = one(step.eager_step(eager_evidence(source=IN_A_LOOP, at=placed, loop=2)))
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 3))
    assert "Move the body of the loop" in finding.advice


def test_a_body_whose_tape_is_in_a_function_begins_at_its_call() -> None:
    source = (
        "import tensorflow as tf\n\ndef grad(x):\n    with tf.GradientTape() as tape:\n        loss = f(x)\n"
        "    return tape.gradient(loss, weights)\n\nfor x in data:\n    grads = grad(x)\n    optimizer.apply(grads)\n"
    )
    placed = (site(1, "apply", 10, loops=(8,)),)
    finding = one(step.eager_step(eager_evidence(source=source, at=placed, loop=8)))
    assert finding.where == (SourceSpan(FILE, 8), SourceSpan(FILE, 10))
    assert "from the call that leads to the tape to the update" in finding.advice
    whole = one(step.eager_step(eager_evidence(source=IN_A_LOOP, at=(site(1, "apply", 5, loops=(2,)),), loop=2)))
    assert "from the tape to the update" in whole.advice


def test_an_update_that_was_made_once_before_the_loop_is_not_the_step() -> None:
    """The step is compiled; the optimizer was tried once before it."""
    evidence = eager_evidence(
        at=(site(1, "apply", 2, function="<module>"), site(2, "call", 11, loops=(10,))),
        records={"markers": [[1, 0, 10, 1], *([2, n * 1000, n * 1000 + 10, 1] for n in range(1, 60))]},
    )
    assert step.own_eager_step(evidence) is None
    assert not list(step.eager_step(evidence))


def test_the_function_with_the_tape_is_compiled_not_the_one_that_only_updates() -> None:
    source = (
        "def update(g):\n    opt.apply(g)\n\ndef work(x):\n    with tf.GradientTape() as t:\n        l = f(x)\n"
        "    update(t.gradient(l, w))\n\ndef epoch():\n    for x in data:\n        work(x)\n\nepoch()\n"
    )
    placed = (site(1, "apply", 2, 7, 11, 13, loops=(10,)),)
    finding = one(step.eager_step(eager_evidence(source=source, at=placed)))
    assert finding.where == (SourceSpan(FILE, 4, "work"), SourceSpan(FILE, 10, "epoch"))


def test_a_step_that_is_handed_to_replicas_names_strategy_run_and_the_function_around_it() -> None:
    source = (
        "import tensorflow as tf\n\ndef replica(x):\n    with tf.GradientTape() as t:\n        l = f(x)\n"
        "    opt.apply(t.gradient(l, w))\n\ndef step(x):\n    return strategy.run(replica, args=(x,))\n\n"
        "for x in data:\n    step(x)\n"
    )
    finding = one(step.eager_step(eager_evidence(source=source, at=(site(1, "apply", 6, function="replica"),))))
    assert finding.title.startswith("strategy.run outside tf.function makes the step run as ")
    assert [place.line for place in finding.where][:2] == [8, 9]
    assert "Put @tf.function on step, around strategy.run (line 9)" in finding.advice


def test_a_compiled_step_is_left_in_peace() -> None:
    compiled = eager_evidence((op("Mul", 2, 0.05),), dispatch_ms=0.3, parts={"graph": 5.0})
    assert not list(step.eager_step(compiled))


def test_few_operations_are_left_in_peace() -> None:
    assert not list(step.eager_step(eager_evidence((op("Mul", 20, 4.0),), dispatch_ms=1.0)))


def test_what_reads_values_below_the_step_is_said_in_the_advice() -> None:
    source = SCRIPT.replace("return loss\n", "return check(loss)\n\ndef check(loss):\n    return loss.numpy()\n")
    reads = HostReads(
        rows=(
            HostRead(file=FILE, line=11, per_step=1.0),
            HostRead(file=FILE, line=14, per_step=1.0),  # in the training loop itself: no matter
        )
    )
    at = (site(1, "apply", 7, 14, loops=(13,), function="train_step"),)
    finding = one(step.eager_step(eager_evidence(source=source, at=at, loop=13, offers={"devices": [reads]})))
    assert "(train.py:11)" in finding.advice


@pytest.mark.parametrize(("call", "told"), [("np.asarray(x)", True), ("np.float32(2)", False)])
def test_numpy_in_the_step_is_to_be_replaced_before_it_is_compiled(call: str, told: bool) -> None:
    source = "import numpy as np; " + SCRIPT.replace("model(x,", f"model({call},")
    given = eager_evidence(source=source, offers={"devices": [HostReads(rows=())]})
    assert ("First replace the lines that read tensor values (train.py:" in one(step.eager_step(given)).advice) == told


def test_the_step_that_a_person_named_runs_eagerly() -> None:
    """SciPy's minimize updates the weights: no update that is observed tells where the step is."""
    source = """\
class Net:
    def loss(self, weights):
        with tf.GradientTape() as tape:
            value = self.error(weights)
        return tape.gradient(value, weights)

minimize(net.loss, x0)
"""
    given = eager_evidence(source=source, records=sites(site(1, "named", 2)))
    assert one(step.eager_step(given)).where == (SourceSpan(FILE, 2, "loss"),)
    other = eager_evidence(source=source, records=sites(site(1, "named", 7)))
    assert not list(step.eager_step(other))


def test_what_waited_for_a_processor_is_no_work_that_a_graph_must_do() -> None:
    waited = tuple(msgspec.structs.replace(row, self_ms=5 * row.self_ms, kernel_ms=0.3 * row.self_ms) for row in TINY)
    calm = tuple(msgspec.structs.replace(row, kernel_ms=0.3 * row.self_ms) for row in TINY)
    first, second = one(step.eager_step(eager_evidence(waited))), one(step.eager_step(eager_evidence(calm)))
    assert first.gain.likely and second.gain.likely
    assert first.gain.likely > second.gain.likely > 5


def test_terms_that_are_wrong_by_themselves_do_not_all_go_wrong_at_once() -> None:
    sums = add_independent([Bounds(1.0, 4.0), Bounds(1.0, 4.0)])
    assert sums.lower > 2.0 and sums.upper < 8.0
    assert sums.lower < 4.0 < sums.upper
    assert add_independent([Bounds(3.0, 3.0)]) == Bounds(3.0, 3.0)
    assert Bounds(2.0, 4.0).within(2.0) == Bounds(1.0, 8.0)


def test_on_a_busy_machine_the_compiled_step_waits_too() -> None:
    alone = one(step.eager_step(eager_evidence()))
    beside = eager_evidence()
    beside.waited_share = 0.75
    busy = one(step.eager_step(beside))
    assert alone.gain.likely and busy.gain.likely
    assert busy.gain.likely < alone.gain.likely
