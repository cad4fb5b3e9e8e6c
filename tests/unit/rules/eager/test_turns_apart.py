"""Whether the turns of a Python loop need each other, by what the source says."""

from __future__ import annotations

import msgspec
import pytest
from defined_names import with_definitions
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_rules.measures.independent_iterations import are_iterations_independent
from tfperfkit_rules.measures.source_text import find_loop
from work_builder import frame, sampled, work_evidence

from tfperfkit.records.steps import Loop

HEAD = "import tensorflow as tf\nrows, total, state = [], 0, tf.zeros(3)\n"
APART = {
    "collected in a list": "for x in xs:\n    y = tf.exp(x)\n    rows.append(y * 2)\n",
    "summed up": "for x in xs:\n    total += tf.reduce_sum(x)\n",
    "counted by key": "for x in xs:\n    counts[tf.strings.lower(x).numpy()] += 1\n",
    "written to an array": "for i in range(9):\n    out[i] = f(xs[i])\n",
    "a tape in each turn": (
        "for a in alphas:\n    with tf.GradientTape() as tape:\n        tape.watch(a)\n        y = f(a)\n"
        "    rows.append(tape.gradient(y, a))\n"
    ),
    "an inner loop over an own state": (
        "for x in xs:\n    h = tf.zeros(3)\n    for k in range(4):\n        h = tf.tanh(h + x)\n    rows.append(h)\n"
    ),
    "bound on both ways": (
        "for x in xs:\n    if x > 0:\n        y = x\n    else:\n        y = -x\n    rows.append(f(y))\n"
    ),
}
NEEDED = {
    "a state": "for x in xs:\n    state = tf.tanh(state + x)\n",
    "a sum that is read": "for x in xs:\n    total += f(x)\n    rows.append(f(total))\n",
    "a list that is read": "for x in xs:\n    rows.append(f(x, len(rows)))\n",
    "bound in some turns only": "for x in xs:\n    if x > 0:\n        y = f(x)\n    rows.append(y)\n",
    "ended": "for x in xs:\n    y = f(x)\n    if y < 1:\n        break\n",
    "a variable assigned to": "for x in xs:\n    v.assign_add(tf.exp(x))\n",
    "a metric": "for x in xs:\n    metric.update_state(f(x))\n",
    "other weights": "for p in paths:\n    model.load_weights(p)\n    rows.append(model(xs))\n",
    "weights that are set": "for w in weights:\n    model.set_weights(w)\n    rows.append(model(xs))\n",
    "called for its effect": "for x in xs:\n    robot.move(x)\n    rows.append(robot(x))\n",
    "an attribute": "for x in xs:\n    model.seen = f(x)\n",
    "an environment": "for x in xs:\n    reward = env.step(f(x))\n",
    "layers": "for layer in [tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)]:\n    rows.append(layer(xs))\n",
    "while": "while True:\n    rows.append(tf.exp(xs))\n",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in APART.items()])
def test_turns_that_only_collect_are_apart(body: str) -> None:
    assert apart(HEAD + body)


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in NEEDED.items()])
def test_turns_that_need_another_are_not(body: str) -> None:
    assert not apart(HEAD + body)


def test_a_compiled_step_that_a_turn_calls_has_no_frames() -> None:
    source = (
        "import tensorflow as tf\n@tf.function\ndef learn(x):\n    return inner(x)\n"
        "def inner(x):\n    {}\n    return x\n"
        "for x in xs:\n    y = tf.stack([x, x])\n    rows.append(learn(y))\n"
    )
    given = [
        work_evidence(with_definitions(source.format(line)), [sampled(9, "eager_ops", frame(9))], loop=8)
        for line in LINES
    ]
    told = [are_iterations_independent(each, FILE, loop) for each in given if (loop := find_loop(each, FILE, 8))]
    assert told == [True, False, False]


def test_a_function_that_a_turn_calls_may_change_what_another_reads() -> None:
    source = "import tensorflow as tf\ndef f(x):\n    {}\n    return tf.exp(x)\nfor x in xs:\n    rows.append(f(x))\n"
    evidence = [
        work_evidence(with_definitions(source.format(line)), [sampled(9, "eager_ops", frame(6))], loop=5)
        for line in LINES
    ]
    told = [are_iterations_independent(each, FILE, loop) for each in evidence if (loop := find_loop(each, FILE, 5))]
    assert told == [True, False, False]


LINES = ("y = x", "v.assign(x)", "global seen; seen = x")


def apart(source: str) -> bool:
    evidence = work_evidence(with_definitions(source), [sampled(9, "eager_ops", frame(4))], loop=3)
    loop = find_loop(evidence, FILE, 3)
    assert loop is not None
    return are_iterations_independent(evidence, FILE, loop)


COMPILED = """\
import tensorflow as tf
@tf.function
def f(x):
    {}
    return tf.exp(x)
for x in xs:
    rows.append(f(x))
"""
METHOD = """\
import tensorflow as tf
class Step:
    @tf.function
    def f(self, x):
        {}
        return tf.exp(x)
step = Step()
for x in xs:
    rows.append(step.f(x))
"""


@pytest.mark.parametrize(("source", "line"), [(COMPILED, 6), (METHOD, 8)])
def test_a_compiled_function_has_no_frames_and_may_change_what_another_turn_reads(source: str, line: int) -> None:
    texts = [source.format(body) for body in ("y = x", "v.assign(x)", "optimizer.apply_gradients(x)")]
    stacks = [sampled(9, "eager_ops", frame(line + 1))]
    evidence = [work_evidence(with_definitions(text), stacks, loop=line) for text in texts]
    told = [are_iterations_independent(each, FILE, loop) for each in evidence if (loop := find_loop(each, FILE, line))]
    assert told == [True, False, False]


@pytest.mark.parametrize(("steps", "told"), [(4, False), (9, True)])
def test_the_loop_of_the_training_steps_and_one_around_it_need_each_turn(steps: int, told: bool) -> None:
    source = HEAD + "for epoch in range(3):\n    for x in xs:\n        rows.append(f(x))\n"
    evidence = make_evidence(
        source=with_definitions(source), steps=msgspec.structs.replace(make_steps(9), loop=Loop(FILE, steps))
    )
    assert [
        are_iterations_independent(evidence, FILE, loop) for line in (3, 4) if (loop := find_loop(evidence, FILE, line))
    ] == [told] * 2
