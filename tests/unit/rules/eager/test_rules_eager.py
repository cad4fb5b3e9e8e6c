"""The rules of family eager on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import BIG, IN_A_LOOP, SCRIPT, TINY, eager_evidence, leaf, op, seen, site, sites, traced
from evidence_builder import FILE, make_evidence, make_samples, make_steps
from tfperfkit_probes.tfprof.model import CallRow
from tfperfkit_rules.eager import many_fits, model_calls, numpy_in_step, python_loops, step, switch
from tfperfkit_rules.eager.gain import Bounds, together
from tfperfkit_rules.retrace import unexplained

from tfperfkit.diagnosis.merging import merge
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import HostRead, HostReads, LineCount, LineCounts
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Loop


def one(found: Any) -> Finding:
    (finding,) = found
    assert isinstance(finding, Finding)
    return finding


def test_the_function_that_makes_the_step_is_named_before_the_loop() -> None:
    finding = one(step.eager_step(eager_evidence()))
    assert finding.where == (SourceSpan(FILE, 3, "train_step"), SourceSpan(FILE, 10))
    assert "@tf.function on train_step" in finding.advice
    assert finding.evidence[0].value == 700


@pytest.mark.parametrize(("count", "told"), [(40, True), (2, False)])
def test_what_else_of_the_step_runs_operation_by_operation_is_named(count: int, told: bool) -> None:
    """An agent that updates and, in the same turn of the loop, chooses its actions with its model."""
    loop, other = Frame(FILE, 1, "<module>", 11), Frame("agent.py", 5, "choose", 7)
    stacks = [(60, "eager_ops", (loop, Frame(FILE, 3, "train_step", 5))), (count, "dispatch", (loop, other))]
    finding = one(step.eager_step(eager_evidence(samples=make_samples(stacks))))
    share = round(100 * count / (60 + count))
    assert (f"Beside that choose runs operation by operation, {share} % of the step" in finding.advice) == told


def test_many_tiny_operations_promise_much_and_long_products_little() -> None:
    tiny = one(step.eager_step(eager_evidence(TINY)))
    big = one(step.eager_step(eager_evidence(BIG, dispatch_ms=12.0)))
    assert tiny.predicted_range and tiny.predicted_range[0] > 5
    assert big.predicted_range and 1.0 < big.predicted_range[0] < big.predicted_range[1] < 1.5


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
    assert finding.predicted_range and finding.predicted_range[0] < 202 / 39 < finding.predicted_range[1]


def test_a_body_in_the_loop_itself_is_reported_by_the_loop_and_the_tape() -> None:
    placed = (site(1, "apply", 5, loops=(2,)),)
    finding = one(step.eager_step(eager_evidence(source=IN_A_LOOP, at=placed, loop=2)))
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 3))
    assert "Move the body of the loop" in finding.advice


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
    assert finding.title.startswith("strategy.run is called outside of a tf.function")
    assert [place.line for place in finding.where][:2] == [8, 9]
    assert "Put @tf.function on step, around strategy.run (line 9)" in finding.advice


def test_a_compiled_step_is_left_in_peace() -> None:
    compiled = eager_evidence((op("Mul", 2, 0.05),), dispatch_ms=0.3, parts={"graph": 5.0})
    assert not list(step.eager_step(compiled))


def test_few_operations_are_left_in_peace() -> None:
    assert not list(step.eager_step(eager_evidence((op("Mul", 20, 4.0),), dispatch_ms=1.0)))


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
    assert finding.predicted_range and compiled.predicted_range
    assert finding.predicted_range[1] > compiled.predicted_range[1]
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


def test_a_loop_of_few_turns_is_left_in_peace() -> None:
    assert not list(python_loops.python_loop(looped(LOOP, 9)))
    assert not list(python_loops.python_loop(looped(LOOP, 45, entries=15)))  # three turns, entered five times a step


def test_turns_that_need_values_in_python_are_compiled_one_by_one() -> None:
    acting = LOOP.replace("loss += box_loss(y[i], out[i])", "loss += play(np.argmax(out[i]))")
    finding = one(python_loops.python_loop(looped(acting, 96)))
    assert finding.where[0] == SourceSpan(FILE, 5, "train")
    assert "Line 6 needs values in Python" in finding.advice and "RNN" not in finding.advice
    assert "RNN" in one(python_loops.python_loop(looped(LOOP, 96))).advice


PREDICT = """\
for episode in range(5):
    while not done:
        action = np.argmax(q_net.predict(state[None], verbose=0)[0])
        state, reward, done = env.step(action)
        loss = learn(state)
"""


def test_predict_in_the_loop_is_reported_at_its_line() -> None:
    table = make_steps(60)
    spied = seen(table, [(90, "dispatch", leaf(3)), (10, "graph", leaf(5))], "evaluate")
    given = make_evidence(parts_ms={"dispatch": 9.0, "graph": 1.0}, steps=table, source=PREDICT, **spied._asdict())
    finding = one(model_calls.predict_in_loop(given))
    assert finding.where == (SourceSpan(FILE, 3), SourceSpan(FILE, 2))
    assert "tf.function(q_net)" in finding.advice
    assert finding.predicted_range and 2 < finding.predicted_range[0] < 10 < finding.predicted_range[1]


def test_what_predict_traces_is_the_same_finding() -> None:
    table = make_steps(60)
    spied = seen(table, [(90, "tracing", leaf(3)), (10, "graph", leaf(5))], "evaluate")
    traced = [(step.begin_ns, step.end_ns) for step in table.steps]
    given = make_evidence(
        parts_ms={"tracing": 9.0, "graph": 1.0}, steps=table, source=PREDICT, tracing=traced, **spied._asdict()
    )
    both = [*model_calls.predict_in_loop(given), *unexplained.traced_again(given)]
    assert [finding.code for finding in both] == ["EAG004", "RET014"]
    assert [finding.code for finding in merge(both)] == ["EAG004"]


def test_operations_of_predict_are_not_the_steps_own() -> None:
    samples = make_samples([(25, "eager_ops", leaf(5))])
    for _ in range(75):
        samples.add(Stack(leaf(11), "keras", "eager_ops", "evaluate"))
    finding = one(step.eager_step(eager_evidence(samples=samples, parts={"evaluate": 300.0})))
    assert finding.evidence[0].value == 175
    assert finding.predicted_range and finding.predicted_range[1] < 1.2


def test_predict_now_and_then_is_left_in_peace() -> None:
    table = make_steps(60)
    spied = seen(table, [(3, "dispatch", leaf(3)), (97, "graph", leaf(5))], "evaluate")
    given = make_evidence(parts_ms={"dispatch": 0.3, "graph": 9.7}, steps=table, source=PREDICT, **spied._asdict())
    assert not list(model_calls.predict_in_loop(given))


def test_predict_at_the_end_of_an_epoch_is_left_in_peace() -> None:
    table = make_steps(60)
    spied = seen(table, [(40, "dispatch", leaf(3)), (60, "graph", leaf(5))], "evaluate")
    last = table.clean[-1]  # all of it behind the last step
    rows = [(last.begin_ns + n, 1) for n in range(40)] + [(table.clean[0].begin_ns + n, 2) for n in range(60)]
    stacks = {1: Stack(leaf(3), "keras", "dispatch", "evaluate"), 2: Stack(leaf(5), "tensorflow", "graph")}
    log = SampleLog(stacks, sorted(rows))
    parts = {"dispatch": 4.0, "graph": 6.0}
    given = make_evidence(parts_ms=parts, steps=table, source=PREDICT, samples=spied.samples, log=log)
    assert not list(model_calls.predict_in_loop(given))


TEXTS = """\
for epoch in range(20):
    model.fit(x, y)
    for n in range(400):
        probabilities = model.predict(state)[0]
    model.predict(all_of_them)
"""


@pytest.mark.parametrize(
    ("line", "doing", "told"), [(4, "dispatch", True), (4, "graph", False), (5, "dispatch", False)]
)
def test_predict_in_a_loop_of_its_own_between_the_steps(line: int, doing: str, told: bool) -> None:
    """A text that is made after each epoch; not where the network itself takes the time, nor one call an epoch."""
    table = make_steps(60)
    spied = seen(table, [(40, doing, leaf(line)), (60, "graph", leaf(2))], "evaluate")
    last = table.clean[-1]
    rows = [(last.begin_ns + n, 1) for n in range(40)] + [(table.clean[0].begin_ns + n, 2) for n in range(60)]
    stacks = {1: Stack(leaf(line), "keras", doing, "evaluate"), 2: Stack(leaf(2), "tensorflow", "graph")}
    given = make_evidence(
        parts_ms={"dispatch": 4.0, "graph": 6.0},
        steps=table,
        source=TEXTS,
        samples=spied.samples,
        log=SampleLog(stacks, sorted(rows)),
        records=sites(site(1, "batch", 2, loops=(1,)), site(2, "next", line)),
    )
    findings = list(model_calls.predict_in_loop(given))
    assert [(finding.code, finding.where) for finding in findings] == (
        [("EAG004", (SourceSpan(FILE, 4), SourceSpan(FILE, 3)))] if told else []
    )


LAYER = ("keras.src.layers.layer:__call__", "keras.src.ops.operation:__call__")


def called(line: int, *names: str) -> tuple[Frame, ...]:
    return (Frame(FILE, 1, "<module>", line, None, names),)


@pytest.mark.parametrize(
    ("line", "names", "told"),
    [
        ("action = policy(state)", LAYER, "policy is called"),
        ("fake = self.generator(state)", LAYER, "self.generator is called"),
        ("share = factor(state)", LAYER, "factor is called"),
        ("keep = planet_mask(state)", (), ""),
        ("keep = model(state)", ("tensorflow.python.ops.math_ops:reduce_sum",), ""),
        ("net.fit(state)", ("keras.src.backend.tensorflow.trainer:fit",), ""),
    ],
)
def test_a_model_is_what_keras_calls_as_one(line: str, names: tuple[str, ...], told: str) -> None:
    samples = make_samples([(40, "eager_ops", called(2, *names)), (60, "graph", called(3))])
    given = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=f"for t in range(9):\n    {line}\n    learn(state)\n",
        samples=samples,
        records=sites(site(1, "call", 3, loops=(1,))),
    )
    found = list(model_calls.model_called(given))
    assert [finding.title[: len(told)] for finding in found] == [told] * bool(told)
    assert [finding.where[0] for finding in found] == [SourceSpan(FILE, 2)] * bool(told)


def test_a_model_of_the_persons_own_class_is_reported_where_it_is_called() -> None:
    source = (
        "for t in range(9):\n    a = net(s)\n    learn(s)\n"
        "class Net(keras.Model):\n    def call(self, x):\n        return self.d(x)"
    )
    inside = (*called(2, *LAYER), Frame(FILE, 5, "call", 6, None, LAYER))
    given = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=source,
        samples=make_samples([(40, "eager_ops", inside), (60, "graph", called(3))]),
        records=sites(site(1, "call", 3, loops=(1,))),
    )
    finding = one(model_calls.model_called(given))
    assert finding.where[0] == SourceSpan(FILE, 2) and finding.title.startswith("net is")


def test_a_model_called_in_an_eager_step_is_the_steps() -> None:
    source = "for t in range(9):\n    action = policy(state)\n    learn(state)\n"
    samples = make_samples([(40, "eager_ops", called(2, *LAYER)), (60, "graph", leaf(3))])
    eager = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=source,
        samples=samples,
        records=sites(site(1, "apply", 3, loops=(1,))),
    )
    assert not list(model_calls.model_called(eager))


def fitted(batches: int) -> Any:
    table = make_steps(60)
    stacks = [(70, "eager_ops", leaf(2)), (30, "graph", leaf(2))]
    source = "for chunk in chunks:\n    model.fit(chunk.x, chunk.y)\n"
    streams = sites(site(1, "batch", 2, loops=(1,)), count=60)
    marks = []
    for number, row in enumerate(streams["markers"], 1):
        marks += [row, [1, row[2], row[2], 0]] if number % batches == 0 else [row]
    return make_evidence(
        parts_ms={"eager_ops": 7.0, "graph": 3.0},
        steps=table,
        source=source,
        **seen(table, stacks)._asdict(),
        records={**streams, "markers": marks},
    )


def test_fit_for_each_chunk_is_reported_and_long_fits_are_not() -> None:
    finding = one(many_fits.fit_in_loop(fitted(1)))
    assert [place.line for place in finding.where] == [2, 1]
    assert "model.train_on_batch" in finding.advice
    assert not list(many_fits.fit_in_loop(fitted(12)))


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
    assert first.predicted_speedup and second.predicted_speedup
    assert first.predicted_speedup > second.predicted_speedup > 5


def test_terms_that_are_wrong_by_themselves_do_not_all_go_wrong_at_once() -> None:
    sums = together([Bounds(1.0, 4.0), Bounds(1.0, 4.0)])
    assert sums.least > 2.0 and sums.most < 8.0
    assert sums.least < 4.0 < sums.most
    assert together([Bounds(3.0, 3.0)]) == Bounds(3.0, 3.0)
    assert Bounds(2.0, 4.0).within(2.0) == Bounds(1.0, 8.0)


def test_on_a_busy_machine_the_compiled_step_waits_too() -> None:
    alone = one(step.eager_step(eager_evidence()))
    beside = eager_evidence()
    beside.waited_share = 0.75
    busy = one(step.eager_step(beside))
    assert alone.predicted_speedup and busy.predicted_speedup
    assert busy.predicted_speedup < alone.predicted_speedup
