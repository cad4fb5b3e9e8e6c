"""EAG008 in training steps: operations one by one next to a compiled function that makes the update."""

from __future__ import annotations

import msgspec
import pytest
from eager_builder import op, site, sites, traced
from evidence_builder import FILE, make_evidence, make_samples, make_steps
from tfperfkit_rules.eager.step import eager_step
from tfperfkit_rules.eager.work import eager_work

from tfperfkit.model import Finding, SourceSpan
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
    """Return a step of 10 ms; ``eager`` of 100 samples are in the function that follows slowly, the others in the
    compiled one."""
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
    assert found.title == "A step runs eager operations, outside its tf.function"
    assert found.where[:2] == (SourceSpan(FILE, 7, "follow"), SourceSpan(FILE, 9, "follow"))
    assert "Put @tf.function on follow" in found.advice
    assert found.gain.bounds and 1 < found.gain.bounds[0] < found.gain.bounds[1]


@pytest.mark.parametrize("eager", [0, 8])
def test_a_few_of_them_are_nothing(eager: int) -> None:
    assert list(eager_work(steps_of(eager))) == []


def test_a_step_that_python_updates_is_another_finding_s() -> None:
    assert list(eager_work(steps_of(60, records=sites(site(1, "apply", 5, loops=[11]))))) == []
    assert list(eager_step(steps_of(60))) == []  # nothing counted its operations


def followed(eager: int, method: str) -> list[Finding]:
    """Return the findings about a callback that ``fit`` calls, and whose operations take ``eager`` of 100 samples."""
    fit = Frame(FILE, 1, "<module>", 11, None, ("keras.src.backend.tensorflow.trainer:fit",))
    own = Frame(FILE, 7, method, 9, None, ("tensorflow.python.ops.resource_variable_ops:assign",))
    given = steps_of(eager)
    given.samples = make_samples(
        [(eager // 2, "eager_ops", [fit, own]), (eager // 2, "dispatch", [fit, own]), (100 - eager, "graph", [fit])]
    )
    given.steps = msgspec.structs.replace(given.steps, source="keras")
    return list(eager_work(given))


def test_what_a_callback_calls_for_every_batch_is_beside_the_step_of_fit() -> None:
    (found,) = followed(60, "Follow.on_train_batch_end")
    assert found.code == "EAG008" and SourceSpan(FILE, 9, "follow") in found.where
    assert "the tensor operations of on_train_batch_end" in found.advice and "use_ema=True" in found.advice
    assert followed(6, "Follow.on_train_batch_end") == []
    assert followed(60, "Net.train_step") == [], "that is the step itself, run eagerly"


APPLIED = SOURCE.replace("    follow(slow.variables, fast.variables)", "    optimizer.apply_gradients(grads)")


@pytest.mark.parametrize(("eager", "told"), [(40, True), (60, False), (8, False)])
def test_an_update_by_python_beside_compiled_gradients_is_told(eager: int, told: bool) -> None:
    """If they take the larger part; else the step runs eagerly, which EAG001 reports."""
    applied = Frame(FILE, 1, "<module>", 13, None, ("keras.src.optimizers.base_optimizer:apply_gradients",))
    half = eager // 2
    stacks = [(half, "eager_ops", [applied]), (half, "dispatch", [applied]), (100 - eager, "graph", [applied[:0]])]
    given = steps_of(eager, records=sites(site(1, "apply", 13, loops=[11])))
    given.samples = make_samples([(count, kind, [applied] if frames else []) for count, kind, frames in stacks])
    found = [item for item in eager_work(given) if item.code == "EAG008"]
    assert [item.where[0].line for item in found] == [13] * told
    assert all("def update(gradients)" in item.advice for item in found)


def test_what_a_trace_counted_is_said_and_prices_it() -> None:
    ops = (op("Mul", 40, 3.0), op("AssignVariableOp", 20, 1.0))
    (found,) = eager_work(steps_of(60, data={"tfprof": traced({"eager_ops": 4.0, "graph": 4.0}, ops)}))
    assert found.title.startswith("A step runs 60 eager operations, outside its tf.function")
    assert ("eager operations", 60.0) in [(item.name, item.value) for item in found.evidence]


def test_long_operations_that_were_counted_are_priced_by_their_kernels() -> None:
    ops = (op("MatMul", 40, 5.5), op("Identity", 5, 0.01))
    (found,) = eager_work(steps_of(60, data={"tfprof": traced({"eager_ops": 6.0, "graph": 4.0}, ops)}))
    assert found.gain.bounds and found.gain.bounds[0] < 1.1  # the products stay


GAME = """\
import tensorflow as tf

class Cart:
    def step(self, action):
        self.place = self.place + action
        return self.place

@tf.function
def learn(batch):
    optimizer.apply(tape.gradient(loss(batch), weights), weights)

def choose(state):
    return tf.argmax(tf.nn.softmax(state @ weights))

def play(cart, state):
    action = choose(state)
    return cart.step(action)

cart = Cart()
for batch in data:
    learn(batch)
    state = play(cart, state)
"""


def played(source: str, *frames: Frame) -> Evidence:
    loop = Frame(FILE, 1, "<module>", 22)
    samples = make_samples(
        [
            (30, "eager_ops", [loop, *frames]),
            (30, "dispatch", [loop, *frames]),
            (40, "graph", [Frame(FILE, 1, "<module>", 21)]),
        ]
    )
    table = msgspec.structs.replace(make_steps(each_ms=10.0), source="custom")
    parts = {"eager_ops": 3.0, "dispatch": 3.0, "graph": 4.0}
    return make_evidence(parts_ms=parts, samples=samples, source=source, steps=table)


def test_a_function_that_steps_an_environment_is_not_to_be_compiled() -> None:
    inner = Frame(FILE, 12, "choose", 13, None, MATH)
    (found,) = eager_work(played(GAME, Frame(FILE, 15, "play", 16), inner))
    assert "Put @tf.function on choose" in found.advice
    assert "Cart.step at train.py:17 changes state in Python" in found.detail


def test_operations_of_the_function_that_steps_it_have_no_function_to_compile() -> None:
    (found,) = eager_work(played(GAME, Frame(FILE, 15, "play", 16, None, MATH)))
    assert "Move the tensor operations of the loop into a function" in found.advice
    assert found.where[0] == SourceSpan(FILE, 16, "play")


def test_an_environment_of_a_library_is_called_one() -> None:
    source = GAME.replace("cart = Cart()", 'import gymnasium; cart = gymnasium.make("CartPole-v1")').replace(
        "def play(cart, state):", "def play(state):"
    )
    (found,) = eager_work(played(source, Frame(FILE, 15, "play", 16, None, MATH)))
    assert "cart.step at train.py:17 changes an environment in Python" in found.detail
