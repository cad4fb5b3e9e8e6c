"""Causes that make a step run eagerly, or keep it so: NumPy within it, the global switch, Python loops over the
examples.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import SCRIPT, TINY, eager_evidence, leaf, site, traced
from evidence_builder import FILE, make_samples, make_steps, one
from tfperfkit_probes.tfprof.model import CallRow
from tfperfkit_rules.eager import numpy_in_step, python_loops, step, switch

from tfperfkit.model import SourceSpan
from tfperfkit.offers import HostRead, HostReads, LineCount, LineCounts
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.records.steps import Loop

NUMPY = """\
def train_step(x, labels):
    with tf.GradientTape() as tape:
        z = encoder(x, training=True)
        vectors = z.numpy()
        hard = [np.argmin(np.sum((vectors - v) ** 2, axis=1)) for v in vectors]
        loss = tf.reduce_mean(tf.gather(z, hard))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

for x, y in dataset:
    train_step(x, y)
"""

AT = (site(1, "apply", 7, 10, loops=(9,), function="train_step"),)


def test_numpy_between_forward_and_update_is_reported_at_the_line_that_reads() -> None:
    stacks = [(30, "python", leaf(5, "train_step")), (70, "eager_ops", leaf(7, "train_step"))]
    given = eager_evidence(source=NUMPY, at=AT, loop=9, parts={"python": 15.0}, samples=make_samples(stacks))
    finding = one(numpy_in_step.numpy_inside(given))
    assert finding.where[:3] == (
        SourceSpan(FILE, 4, "train_step"),
        SourceSpan(FILE, 5, "train_step"),
        SourceSpan(FILE, 1, "train_step"),
    )
    compiled = one(step.eager_step(given))
    assert finding.gain.bounds and compiled.gain.bounds
    assert finding.gain.bounds[1] > compiled.gain.bounds[1]
    assert "EAG001" in finding.absorbs


def test_reading_a_value_without_working_on_it_is_not_reported() -> None:
    stacks = [(1, "python", leaf(5, "train_step")), (99, "eager_ops", leaf(7, "train_step"))]
    assert not list(
        numpy_in_step.numpy_inside(eager_evidence(source=NUMPY, at=AT, loop=9, samples=make_samples(stacks)))
    )


def test_the_global_switch_is_named_before_the_step() -> None:
    source = "tf.config.run_functions_eagerly(True)  # debugging\n" + SCRIPT.partition("\n")[2]
    finding = one(switch.left_eager(eager_evidence(source=source, settings={"functions_run_eagerly": True})))
    assert finding.where[:2] == (SourceSpan(FILE, 1), SourceSpan(FILE, 3, "train_step"))
    assert "Delete tf.config.run_functions_eagerly(True)" in finding.advice
    assert not list(switch.left_eager(eager_evidence(source=source)))  # it was switched off again


FIT = 'model.compile("adam", run_eagerly=True)\nmodel.fit(x, y)\n'


def test_run_eagerly_of_a_model_is_named_before_fit() -> None:
    at = (site(1, "batch", 2),)
    finding = one(switch.left_eager(eager_evidence(source=FIT, at=at)))
    assert [place.line for place in finding.where] == [1, 2]
    assert not list(step.eager_step(eager_evidence(source=FIT, at=at)))


METRIC = """\
def dice(t, p):
    return np.sum(p.numpy())
model.compile("adam", metrics=[dice], run_eagerly=True)
model.fit(x, y)
"""


@pytest.mark.parametrize(("method", "told"), [("dice", True), ("Log.on_train_batch_end", False)])
def test_what_reads_values_in_the_step_is_to_be_rewritten_before_the_switch_goes(method: str, told: bool) -> None:
    """Without it the compiled step would fail; a callback goes on reading outside of the step."""
    fit = Frame(FILE, 1, "<module>", 4, None, ("keras.src.backend.tensorflow.trainer:fit",))
    read = HostRead(file=FILE, line=2, per_step=2.0)
    samples = make_samples([(50, "eager_ops", [fit]), (50, "python", [fit, Frame(FILE, 1, method, 2)])])
    at = (site(1, "batch", 4),)
    given = eager_evidence(source=METRIC, at=at, samples=samples, offers={"devices": [HostReads(rows=(read,))]})
    advice = one(switch.left_eager(given)).advice
    assert ("train.py:2" in advice) == told and "emove run_eagerly=True" in advice


def test_eager_work_around_a_compiled_fit_is_no_switch() -> None:
    calls = (CallRow(name="__inference_multi_step_on_iterator_9", per_step=1.0, ms=2.0),)
    given = eager_evidence(source="model.fit(x, y)\n", at=(site(1, "batch", 1),))
    data = {"tfprof": traced({"eager_ops": 10.0, "python": 30.0}, TINY, calls)}
    called = eager_evidence(source="model.fit(x, y)\n", at=(site(1, "batch", 1),), data=data)
    assert list(switch.left_eager(given)) and not list(switch.left_eager(called))


LOOP = """\
def train(x, y):
    with tf.GradientTape() as tape:
        out = net(x)
        loss = 0.0
        for i in range(x.shape[0]):
            loss += box_loss(y[i], out[i])
    sgd.apply_gradients(zip(tape.gradient(loss, weights), weights))

for x, y in data:
    train(x, y)
"""


def looped(source: str, hits: int, entries: int = 3) -> Any:
    steps = make_steps(60)
    steps = msgspec.structs.replace(
        steps,
        loop=Loop(FILE, 9),
        steps=tuple(msgspec.structs.replace(s, window="lines") if 6 <= s.number < 9 else s for s in steps.steps),
    )
    rows = (LineCount(file=FILE, line=5, hits=hits + entries), LineCount(file=FILE, line=6, hits=hits))
    samples = make_samples([(30, "eager_ops", leaf(6, "train")), (70, "eager_ops", leaf(7, "train"))])
    at = (site(1, "apply", 7, 10, loops=(9,), function="train"),)
    given = eager_evidence(source=source, at=at, loop=9, samples=samples, offers={"lines": [LineCounts(rows=rows)]})
    given.steps = steps
    return given


def test_a_loop_on_one_line_is_reached_once_more_than_it_turns() -> None:
    source = LOOP.replace("shape[0]):\n            loss", "shape[0]): loss") + "\n"
    given = looped(source, 0, entries=99)  # in three steps
    given.samples = make_samples([(30, "eager_ops", leaf(5, "train")), (70, "eager_ops", leaf(6, "train"))])
    given.steps = msgspec.structs.replace(given.steps, loop=Loop(FILE, 8))
    finding = one(python_loops.python_loop(given))
    assert finding.where[0] == SourceSpan(FILE, 5, "train")
    assert finding.evidence[0].value == 32


def test_a_loop_over_the_examples_is_named_before_the_step() -> None:
    finding = one(python_loops.python_loop(looped(LOOP, 96)))
    assert finding.where[0] == SourceSpan(FILE, 5, "train")
    assert finding.evidence[0].value == 32
    assert "EAG001" in finding.absorbs


@pytest.mark.parametrize(
    ("over", "body", "told"),
    [
        ("self.layers", "loss += box_loss(y[i], i)", True),  # whatever its name: its elements are not called
        ("header_rows", "loss += box_loss(y, i)", True),
        ("range(9)", "loss = self.blocks[i](loss)", False),  # another layer in each turn
        ("things", "loss = i(loss)", False),
        ("enumerate(things)", "loss = i[1](loss)", True),
        ("model.trainable_variables", "loss += tf.nn.l2_loss(i)", False),
        ("[keras.layers.Dense(3) for _ in range(9)]", "loss += tf.nn.l2_loss(i.kernel)", False),
    ],
)
def test_a_loop_is_over_data_or_over_layers_by_what_its_variable_is(over: str, body: str, told: bool) -> None:
    source = LOOP.replace("range(x.shape[0])", over).replace("loss += box_loss(y[i], out[i])", body)
    assert [finding.code for finding in python_loops.python_loop(looped(source, 96))] == ["EAG005"] * told


@pytest.mark.parametrize(
    ("called", "told"),
    [
        ("tensorflow.python.ops.resource_variable_ops:assign_sub", False),
        ("keras.src.optimizers.base_optimizer:apply", False),
        ("tensorflow.python.framework.ops:numpy", True),
    ],
)
def test_a_loop_is_over_variables_by_the_frames_of_their_methods(called: str, told: bool) -> None:
    source = LOOP.replace("loss += box_loss(y[i], out[i])", "i.change(loss)").replace("range(x.shape[0])", "things")
    given = looped(source, 96)
    given.samples.add(Stack((Frame(FILE, 1, "train", 6, (6, 6, 12, 26), (called,)),), "tensorflow", "eager_ops"))
    assert [finding.code for finding in python_loops.python_loop(given)] == ["EAG005"] * told


GIVEN = """
def learn(x):
    with tf.GradientTape() as tape:
        loss = net(x)
    grads = tape.gradient(loss, weights)
    return loss, {}
loss, parts = learn(x)
"""


@pytest.mark.parametrize(
    ("returned", "told"), [("grads", False), ("tape.gradient(loss, weights)", False), ("net(x)", True), ("x", True)]
)
def test_a_loop_over_gradients_that_a_function_returns_is_over_variables(returned: str, told: bool) -> None:
    source = LOOP.replace("range(x.shape[0])", "parts").replace(
        "loss += box_loss(y[i], out[i])", "tf.clip_by_norm(i, 1)"
    )
    found = python_loops.python_loop(looped(source + GIVEN.format(returned), 96))
    assert [finding.code for finding in found] == ["EAG005"] * told


def test_a_loop_of_few_turns_is_left_in_peace() -> None:
    assert not list(python_loops.python_loop(looped(LOOP, 9)))
    assert not list(python_loops.python_loop(looped(LOOP, 45, entries=15)))  # three turns, entered five times a step


def test_turns_of_a_comprehension_within_the_loop_are_not_its_own() -> None:
    inner = LOOP.replace(
        "loss += box_loss(y[i], out[i])", "parts = one(y[i])\n            loss = [a + b for a, b in parts]"
    )
    given = looped(inner, 96)
    rows = (*given.offer(LineCounts).rows, LineCount(file=FILE, line=7, hits=480))
    given = eager_evidence(
        source=inner,
        at=(site(1, "apply", 8, 11, loops=(10,), function="train"),),
        loop=10,
        samples=given.samples,
        offers={"lines": [LineCounts(rows=rows)]},
    )
    given.steps = msgspec.structs.replace(looped(inner, 96).steps, loop=Loop(FILE, 10))
    finding = one(python_loops.python_loop(given))
    assert finding.where[0] == SourceSpan(FILE, 5, "train")
    assert finding.evidence[0].value == 32


def test_turns_with_gradients_of_their_own_are_joined_by_vectorized_map() -> None:
    given = looped(LOOP, 96)
    below = (
        *leaf(6, "train"),
        Frame(FILE, 20, "one", 20, (20, 20, 0, 9), ("tensorflow.python.eager.backprop:gradient",)),
    )
    given.samples.add(Stack(below, "tensorflow", "eager_ops"))
    assert "tf.vectorized_map" in one(python_loops.python_loop(given)).advice
    assert "tf.vectorized_map" not in one(python_loops.python_loop(looped(LOOP, 96))).advice


def test_turns_that_need_values_in_python_are_compiled_one_by_one() -> None:
    acting = LOOP.replace("loss += box_loss(y[i], out[i])", "loss += play(np.argmax(out[i]))")
    finding = one(python_loops.python_loop(looped(acting, 96)))
    assert finding.where[0] == SourceSpan(FILE, 5, "train")
    assert "line 6 needs values in Python" in finding.advice and "RNN" not in finding.advice
    assert "RNN" in one(python_loops.python_loop(looped(LOOP, 96))).advice
