"""Models that are called or fitted for a little data each time, on made-up evidence."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from defined_names import with_definitions
from eager_builder import eager_evidence, leaf, seen, site, sites
from evidence_builder import FILE, make_evidence, make_samples, make_steps, one
from tfperfkit_probes.input.model import InputData, KerasInput
from tfperfkit_rules.eager import direct_calls, many_fits, model_calls, step
from tfperfkit_rules.measures.loop_of_batch import loop_of_batch
from tfperfkit_rules.retrace import unexplained
from work_builder import PREDICT as PREDICT_CALL
from work_builder import frame, sampled, work_evidence

from tfperfkit.diagnosis.merging import merge
from tfperfkit.model import SourceSpan
from tfperfkit.offers import LineCount, LineCounts
from tfperfkit.records.samples import Frame, SampleLog, Stack

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
    assert "tf.function(q_net, reduce_retracing=True)" in finding.advice
    assert finding.gain.bounds and 2 < finding.gain.bounds[0] < 10 < finding.gain.bounds[1]


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


AGENT = """\
def replay(batch):
    target = net.predict(batch, verbose=0)
    net.fit(batch, target, verbose=0)

while True:
    replay(memory.sample())
"""


def test_a_fit_beside_it_in_one_function_is_the_same_finding_and_so_is_what_both_trace() -> None:
    table = make_steps(60)
    predicts, fits = (Frame(FILE, 1, "replay", 2),), (Frame(FILE, 1, "replay", 3),)
    given = make_evidence(
        parts_ms={"tracing": 9.0, "graph": 1.0},
        steps=table,
        source=AGENT,
        tracing=[(step.begin_ns, step.end_ns) for step in table.steps],
        records=sites(site(1, "batch", 3, loops=(5,))),
        **seen(table, [(40, "tracing", predicts), (50, "tracing", fits), (10, "graph", fits)], "evaluate")._asdict(),
    )
    fitted = one(model_calls.predict_in_loop(given))
    assert {span.line for span in fitted.where} >= {2, 3} and "train_on_batch" in fitted.advice
    both = [fitted, *unexplained.traced_again(given)]
    assert [item.code for item in both] == ["EAG004", "RET014"] and both[1].title.startswith(
        "Unknown cause of retracing"
    )
    assert [item.code for item in merge(both)] == ["EAG004"]


def test_operations_of_predict_are_not_the_steps_own() -> None:
    samples = make_samples([(25, "eager_ops", leaf(5))])
    for _ in range(75):
        samples.add(Stack(leaf(11), "keras", "eager_ops", "evaluate"))
    finding = one(step.eager_step(eager_evidence(samples=samples, parts={"evaluate": 300.0})))
    assert finding.evidence[0].value == 175
    assert finding.gain.bounds and finding.gain.bounds[1] < 1.2


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
    """Generate a text after each epoch; not if the network itself takes the time, nor with one call an epoch."""
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


def make_frames(line: int, *names: str) -> tuple[Frame, ...]:
    return (Frame(FILE, 1, "<module>", line, None, names),)


@pytest.mark.parametrize(
    ("line", "names", "told"),
    [
        ("action = policy(state)", LAYER, "policy called"),
        ("fake = self.generator(state)", LAYER, "self.generator called"),
        ("share = factor(state)", LAYER, "factor called"),
        ("keep = planet_mask(state)", (), ""),
        ("keep = model(state)", ("tensorflow.python.ops.math_ops:reduce_sum",), ""),
        ("net.fit(state)", ("keras.src.backend.tensorflow.trainer:fit",), ""),
    ],
)
def test_a_model_is_what_keras_calls_as_one(line: str, names: tuple[str, ...], told: str) -> None:
    samples = make_samples([(40, "eager_ops", make_frames(2, *names)), (60, "graph", make_frames(3))])
    given = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=f"for t in range(9):\n    {line}\n    learn(state)\n",
        samples=samples,
        records=sites(site(1, "call", 3, loops=(1,))),
    )
    found = list(direct_calls.model_called(given))
    assert [finding.title[: len(told)] for finding in found] == [told] * bool(told)
    assert [finding.where[0] for finding in found] == [SourceSpan(FILE, 2)] * bool(told)


REPLAY = """\
def replay():
    for state, after in batch:
        ahead = target(after)
        now = online(state)
        rows.append(now)
    learn(rows)
while True:
    replay()
"""


@pytest.mark.parametrize(("source", "apart"), [(REPLAY, True), (REPLAY.replace("(state)", "(state, now)"), False)])
def test_models_that_one_loop_calls_are_one_finding_and_its_turns_one_batch(source: str, apart: bool) -> None:
    """Not where an iteration needs what the one before it made."""
    rows = [
        (50, "dispatch", make_frames(4, *LAYER)),
        (40, "eager_ops", make_frames(3, *LAYER)),
        (10, "graph", make_frames(6)),
    ]
    lines = LineCounts(rows=tuple(LineCount(file=FILE, line=line, hits=40) for line in (3, 4, 5)))
    given = make_evidence(
        parts_ms={"eager_ops": 4.0, "dispatch": 5.0, "graph": 1.0},
        source=with_definitions(source),
        samples=make_samples(rows),
        records=sites(site(1, "call", 6, 8, loops=(7,))),
        offers={"lines": [lines]},
    )
    found = one(direct_calls.model_called(given))
    assert found.title.startswith("online and target called")
    assert [place.line for place in found.where] == [4, 3, 2]
    assert found.share_of_step == pytest.approx(0.9)
    assert ("in each iteration of line" in found.title) == apart == ("SYN001" in found.absorbs_here)
    if apart:
        assert "call online and target once before the loop, each" in found.advice
        assert [item.value for item in found.evidence if item.name == "iterations of the loop"] == [40.0]


def test_the_loop_of_the_title_is_a_place_where_a_function_calls_the_model() -> None:
    source = """\
def ask(state):
    return online(state)
while True:
    for state in batch:
        rows.append(ask(state))
    learn(rows)
"""
    inside = (*make_frames(5), Frame(FILE, 2, "ask", 1, None, LAYER))
    given = make_evidence(
        parts_ms={"eager_ops": 9.0, "graph": 1.0},
        source=with_definitions(source),
        samples=make_samples([(90, "eager_ops", inside), (10, "graph", make_frames(6))]),
        records=sites(site(1, "call", 6, loops=(3,))),
        offers={"lines": [LineCounts(rows=tuple(LineCount(file=FILE, line=line, hits=40) for line in (2, 5)))]},
    )
    found = one(direct_calls.model_called(given))
    assert "called in each iteration of line 4" in found.title
    assert 4 in [place.line for place in found.where]


def test_a_model_of_the_persons_own_class_is_reported_where_it_is_called() -> None:
    source = (
        "for t in range(9):\n    a = net(s)\n    learn(s)\n"
        "class Net(keras.Model):\n    def call(self, x):\n        return self.d(x)"
    )
    inside = (*make_frames(2, *LAYER), Frame(FILE, 5, "call", 6, None, LAYER))
    given = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=source,
        samples=make_samples([(40, "eager_ops", inside), (60, "graph", make_frames(3))]),
        records=sites(site(1, "call", 3, loops=(1,))),
    )
    finding = one(direct_calls.model_called(given))
    assert finding.where[0] == SourceSpan(FILE, 2) and finding.title.startswith("net called")


def test_a_model_called_in_an_eager_step_is_the_steps() -> None:
    source = "for t in range(9):\n    action = policy(state)\n    learn(state)\n"
    samples = make_samples([(40, "eager_ops", make_frames(2, *LAYER)), (60, "graph", leaf(3))])
    eager = make_evidence(
        parts_ms={"eager_ops": 4.0, "graph": 6.0},
        source=source,
        samples=samples,
        records=sites(site(1, "apply", 3, loops=(1,))),
    )
    assert not list(direct_calls.model_called(eager))


def fitted(batches: int, more: str = "", **about: Any) -> Any:
    table = make_steps(60)
    stacks = [(70, "eager_ops", leaf(2)), (30, "graph", leaf(2))]
    source = f"for chunk in chunks:\n    model.fit(chunk.x, chunk.y{more})\n"
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
        **about,
    )


def test_fit_for_each_chunk_is_reported_and_long_fits_are_not() -> None:
    finding = one(many_fits.fit_in_loop(fitted(1)))
    assert [place.line for place in finding.where] == [2, 1]
    assert "model.train_on_batch" in finding.advice
    assert not list(many_fits.fit_in_loop(fitted(12)))


def test_the_ends_of_epochs_are_no_fits() -> None:
    """Fifteen fits of four epochs are fifteen; three of twenty are phases."""

    def counted(times: int) -> Any:
        row = KerasInput(kind="arrays", way="fit", validation=False, file=FILE, line=2, function="", times=times)
        checked = msgspec.structs.replace(row, validation=True, times=60)
        return fitted(1, data={"input": InputData(keras=(row, checked))})

    finding = one(many_fits.fit_in_loop(counted(15)))
    assert finding.title == "model.fit called 15 times for 4.0 epochs of 1.0 batches each"
    assert not list(many_fits.fit_in_loop(counted(3)))


@pytest.mark.parametrize(
    ("more", "one_epoch"),
    [("", True), (", epochs=1", True), (", 32, 1", True), (", 32, 20", False), (", epochs=n", False)],
)
def test_where_each_fit_is_one_epoch_short_epochs_are_the_same_finding(more: str, one_epoch: bool) -> None:
    """Of ``fit`` with many epochs another remedy is cheaper: longer ones."""
    assert ("STP010" in one(many_fits.fit_in_loop(fitted(1, more))).absorbs_here) == one_epoch


@pytest.mark.parametrize(("iterations", "found"), [(260, True), (6, False)])
def test_a_window_with_few_iterations_of_the_work_does_not_make_its_loop_short(iterations: int, found: bool) -> None:
    """On a slow machine a window of two seconds has some of many iterations."""
    source = "for row in np.zeros((260, 1, 8)):\n    score = net.predict(row)\n    rows.append(score)\n"
    asked = sampled(90, "dispatch", frame(2, PREDICT_CALL), context="evaluate")
    hits = {1: 7, 2: 6, 3: 6}
    given = work_evidence(with_definitions(source), [asked], loop=1, iterations=iterations, hits=hits)
    assert (loop_of_batch(given, Counter(dict([asked]))) is not None) == found
