"""Work made of many small calls, or of one thing made again and again, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import op, site
from evidence_builder import FILE, MS, make_evidence, make_steps, one
from finding_builder import unexplained
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.eager import model_calls, remade, small_batches, small_calls
from tfperfkit_rules.memory.session_graph import session_graph
from tfprof_builder import brief
from work_builder import CALL, LOAD, PREDICT, SESSION, SETTING_UP, everything, frame, sampled, work_evidence

from tfperfkit.diagnosis.merging import merge
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import FunctionCosts
from tfperfkit.rule import Evidence

SERVED = """\
import keras
def answer(request):
    model = keras.models.load_model(path)
    return model.predict(request)
for request in requests:
    answer(request)
"""


def served(load: int, trace: int, around: int, **fields: Any) -> Evidence:
    stacks = [
        sampled(load, "saving", frame(6), frame(3, LOAD, name="answer", span=(12, 41))),
        sampled(trace, "tracing", frame(6), frame(4, PREDICT, CALL, name="answer"), context="evaluate"),
        sampled(around, "eager_ops", frame(6), frame(4, PREDICT, SETTING_UP, name="answer"), context="evaluate"),
    ]
    return work_evidence(SERVED, stacks, loop=5, **fields)


def test_a_model_that_is_loaded_again_has_what_it_drags_along() -> None:
    evidence = served(40, 50, 10)
    found = one(remade.models_made_again(evidence))
    assert (found.code, found.where[0]) == ("EAG009", SourceSpan(FILE, 3, "answer"))
    assert found.evidence[0].value + found.evidence[1].value == pytest.approx(0.9)
    assert found.title == "Model is loaded again and again in the loop at train.py:5"
    rest = one(model_calls.predict_in_loop(evidence))
    assert rest.share_of_step == 0.1  # the tracing is the new model's


@pytest.mark.parametrize(("calls", "once"), [(20, True), (60, False)])
def test_each_call_of_a_model_that_is_called_once_is_a_first_one(calls: int, once: bool) -> None:
    """The time of its operations stays; and one model has to be made."""
    stacks = [
        sampled(50, "saving", frame(6), frame(3, LOAD, name="answer", span=(12, 41))),
        sampled(50, "graph", frame(6), frame(4, CALL, name="answer")),
    ]
    ran = (op("MatMul", 20, 40.0, "graph"),)  # a tenth of the traced two seconds
    found = one(remade.models_made_again(work_evidence(SERVED, stacks, loop=5, ops=ran, hits={3: 20, 4: calls})))
    assert found.gain.bounds and (found.gain.bounds[0] > 3) == once
    assert found.gain.bounds[1] <= 80  # twenty in two seconds are eighty in all


def test_a_model_that_is_made_for_each_call_is_one_cause_with_the_call() -> None:
    """Compiling the call, EAG004's remedy, needs a model that is kept."""
    both = merge([*model_calls.predict_in_loop(served(10, 25, 65)), *remade.models_made_again(served(10, 25, 65))])
    found = one(both)
    assert (found.code, found.share_of_step) == ("EAG009", 1.0)
    assert [place.line for place in found.where] == [3, 4, 5]
    assert found.gain.likely and found.gain.likely > 5
    assert "tf.function(model)" in found.advice and "Also explains: EAG004 (" in found.detail


KEPT = """\
import keras
answerer = keras.Sequential([])
def answer(request):
    other = keras.models.load_model(path); return answerer.predict(request)
for request in requests:
    answer(request)
"""


def test_a_model_that_is_kept_is_called_for_little_whatever_else_is_made() -> None:
    stacks = [
        sampled(30, "saving", frame(6), frame(4, LOAD, name="answer", span=(12, 41))),
        sampled(70, "eager_ops", frame(6), frame(4, PREDICT, SETTING_UP, name="answer"), context="evaluate"),
    ]
    evidence = work_evidence(KEPT, stacks, loop=5)
    both = merge([*model_calls.predict_in_loop(evidence), *remade.models_made_again(evidence)])
    assert [item.code for item in both] == ["EAG004", "EAG009"]


def test_few_models_are_what_a_validation_needs() -> None:
    log = served(40, 50, 10)
    first = [stack for stack in log.samples.stacks if stack.activity == "saving"]
    # All of the loading in one piece, then everything else.
    taken = sorted(log.log.inside(log.log.whole), key=lambda item: item[1] not in first)
    numbers = {id(stack): n for n, stack in enumerate(log.samples.stacks)}
    made = type(log.log)(
        dict(enumerate(log.samples.stacks)),
        [(iteration * 80 * MS, numbers[id(stack)]) for iteration, (_, stack) in enumerate(taken, 1)],
    )
    assert log.work is not None
    once = log.narrowed(work=log.work, steps=log.steps, account=log.account, samples=log.samples, log=made)
    assert list(remade.models_made_again(once)) == []


def test_a_model_that_makes_its_layers_at_its_first_call_is_made_once() -> None:
    source = "import keras\nfor _ in range(99):\n    x = m(x)\n"
    first = sampled(30, "dispatch", frame(3, "keras.src.layers.layer:__call__"), context="build")
    later = sampled(70, "eager_ops", frame(3, "keras.src.layers.layer:__call__"))
    evidence = work_evidence(source, [first, later], loop=2, hits={3: 40})
    assert list(remade.models_made_again(evidence)) == []
    # Its first call makes layers, too: for as long as it lasts.
    inner = sampled(9, "dispatch", frame(3, "keras.src.layers.core.dense:__init__"), context="build")
    evidence = work_evidence(source, [inner, first, later], loop=2, hits={3: 40})
    assert [found.code for found in remade.models_made_again(evidence)] == ["EAG009"]
    kinds = dict(enumerate(evidence.samples.stacks))
    rows = [kind for kind, stack in kinds.items() for _ in range(evidence.samples.stacks[stack])]
    ordered = type(evidence.log)(kinds, [(n * 70 * MS, kind) for n, kind in enumerate(rows, 1)])
    assert evidence.work is not None
    once = evidence.narrowed(
        work=evidence.work, steps=evidence.steps, account=evidence.account, samples=evidence.samples, log=ordered
    )
    assert list(remade.models_made_again(once)) == []


def predicted(computing: int, setting_up: int, rest: int = 0, **fields: Any) -> Evidence:
    source = "import keras\nm = keras.Sequential([])\nfor x in xs:\n    m.predict(x)\n"
    stacks = [
        sampled(computing, "graph", frame(4, PREDICT, CALL), context="evaluate"),
        sampled(setting_up, "tracing", frame(4, PREDICT, SETTING_UP), context="evaluate"),
        sampled(rest, "dispatch", frame(4, PREDICT, "a:b"), context="evaluate"),
    ]
    return work_evidence(source, [item for item in stacks if item[1]], **{"loop": 3, "iterations": 50, **fields})


def test_predict_for_little_is_reported_by_the_loop_and_priced_by_what_does_not_compute() -> None:
    found = one(everything(predicted(30, 70)))
    assert found.title == "m.predict called on tiny inputs in the loop at train.py:3"
    assert found.gain.bounds and 2 < found.gain.bounds[0] < 3.4 < found.gain.bounds[1]
    assert not any("step" in item.name or "training" in item.name for item in found.evidence)


@pytest.mark.parametrize(("each_ms", "low", "high"), [(100, 25, 50), (10, 5, 25)])
def test_what_predict_took_says_what_a_compiled_call_leaves_of_it(each_ms: int, low: float, high: float) -> None:
    marks = [[1, n * 150 * MS, (n * 150 + each_ms) * MS, 1] for n in range(50)]
    records = {"sites": [msgspec.to_builtins(site(1, "predict", 4))], "markers": marks}
    found = one(everything(predicted(1, 400, records=records)))
    assert found.gain.likely and low < found.gain.likely < high


def much_predicted(each_ms: int) -> Finding:
    """Calls of 22 batches each."""
    rows = [[1 + (n % 23 > 0), n * 1000, n * 1000 + (each_ms * MS if n % 23 == 0 else 10), 1] for n in range(50 * 23)]
    made = [msgspec.to_builtins(site(1, "predict", 4)), msgspec.to_builtins(site(2, "next", 4))]
    return one(everything(predicted(30, 70, records={"sites": made, "markers": rows})))


def test_predict_again_and_again_for_much_is_no_matter_of_little_data() -> None:
    """Nobody says "call the model itself", which would gain nothing."""
    found = much_predicted(500)
    assert found.title == "m.predict called repeatedly in the loop at train.py:3"
    assert found.advice.startswith("Collect the inputs of all calls and predict them in one call.")
    assert [item.value for item in found.evidence if item.name == "batches per call of predict"] == [22.0]


def test_predict_again_and_again_in_small_batches() -> None:
    found = much_predicted(60)
    assert found.title == "m.predict called on 22 small batches in the loop at train.py:3"
    assert "batch_size=1024" in found.advice


@pytest.mark.parametrize("fields", [{}, {"iterations": None}, {"loop": 0, "call": 4, "iterations": None}])
def test_predict_of_much_data_is_left_in_peace(fields: dict[str, Any]) -> None:
    evidence = predicted(85, 5, 10, **fields)
    assert everything(evidence) == []
    assert list(unexplained(evidence, [])) == []


def batches(each_ms: float) -> dict[str, Any]:
    rows = [[1, int(n * each_ms * MS), int(n * each_ms * MS) + 1000, 1] for n in range(200)]
    return {"sites": [msgspec.to_builtins(site(1, "next", 4))], "markers": rows}


def test_one_predict_in_tiny_batches_is_reported_and_one_in_large_ones_is_not() -> None:
    once = {"loop": 0, "call": 4, "iterations": None}
    found = one(small_batches.batches_too_small(predicted(40, 2, 58, **once, records=batches(1.0))))
    assert found.where[0] == SourceSpan(FILE, 4) and "batch_size=1024" in found.advice
    assert list(small_batches.batches_too_small(predicted(40, 2, 58, **once, records=batches(30.0)))) == []


def calls_of(kind: str, line: int, each_ms: float, iteration: float = 1.1) -> dict[str, Any]:
    """Call a function in each iteration, which takes ``iteration`` times as long."""
    rows = [[1, int(iteration * each_ms * n * MS), int((iteration * n + 1) * each_ms * MS), 1] for n in range(100)]
    return {"sites": [msgspec.to_builtins(site(1, kind, line, loops=(line - 1,)))], "markers": rows}


SESSION_LOOP = """\
import tensorflow.compat.v1 as tf
session = tf.Session()
for row in rows:
    session.run(best, {x: row})
"""


def test_session_run_for_little_is_reported_and_for_much_is_not() -> None:
    stacks = [sampled(100, "dispatch", frame(4, SESSION))]
    little = work_evidence(SESSION_LOOP, stacks, loop=3, records=calls_of("session", 4, 0.25))
    found = one(small_calls.called_for_little(little))
    assert (found.code, found.where[0], found.parts) == ("EAG012", SourceSpan(FILE, 4), ("dispatch", "graph"))
    much = work_evidence(SESSION_LOOP, stacks, loop=3, records=calls_of("session", 4, 5.0))
    assert list(small_calls.called_for_little(much)) == []


def test_operations_added_in_a_session_loop_own_its_time() -> None:
    source = SESSION_LOOP.replace("best,", "tf.reduce_max(y),")
    stacks = [sampled(100, "dispatch", frame(4, SESSION))]
    evidence = work_evidence(source, stacks, loop=3, records=calls_of("session", 4, 0.25))
    assert list(small_calls.called_for_little(evidence)) == []
    found = one(session_graph(evidence))
    assert (found.code, found.basis) == ("MEM002", "step")
    assert list(unexplained(evidence, [msgspec.structs.replace(found, work="train.py:3")])) == []


@pytest.mark.parametrize("called", ["tensorflow.python.framework.ops:run", "tensorflow.python.framework.tensor:eval"])
def test_an_operation_that_runs_itself_runs_the_session_and_makes_nothing(called: str) -> None:
    source = SESSION_LOOP.replace("session.run(best, {x: row})", "best.run({x: row}, session=session)")
    stacks = [sampled(100, "dispatch", frame(4, called))]
    evidence = work_evidence(source, stacks, loop=3, records=calls_of("session", 4, 0.25))
    assert list(session_graph(evidence)) == []
    assert one(small_calls.called_for_little(evidence)).code == "EAG012"
    made = [sampled(100, "dispatch", frame(4, "tensorflow.python.ops.math_ops:reduce_max"))]
    assert one(session_graph(work_evidence(source, made, loop=3))).code == "MEM002"


@pytest.mark.parametrize(("each_ms", "told"), [(0.3, True), (0.9, False), (40.0, False)])
def test_a_compiled_function_for_little_is_reported_while_a_long_call_computes(each_ms: float, told: bool) -> None:
    source = "import tensorflow as tf\n@tf.function\ndef f(p):\n    return p\nfor p in ps:\n    f(p)\n"
    stacks = [sampled(100, "graph", frame(6, CALL))]
    evidence = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, each_ms))
    assert [item.code for item in small_calls.called_for_little(evidence)] == (["EAG013"] if told else [])


def test_calls_own_no_more_time_than_was_timed_of_them() -> None:
    source = "import tensorflow as tf\n@tf.function\ndef f(p):\n    return p\nfor p in ps:\n    f(p)\n"
    stacks = [sampled(100, "graph", frame(6, CALL))]
    half = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, 0.3, iteration=2.0))
    assert one(small_calls.called_for_little(half)).evidence[0].value == pytest.approx(0.5 / 0.9, abs=0.01)
    little = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, 0.3, iteration=30.0))
    assert list(small_calls.called_for_little(little)) == []


@pytest.mark.parametrize(
    ("method", "each_ms", "told"),
    [("predict_on_batch", 0.3, True), ("predict_on_batch", 40.0, False), ("predict", 0.3, False)],
)
def test_predict_on_batch_for_a_row_is_a_compiled_function_for_little(method: str, each_ms: float, told: bool) -> None:
    source = f"import keras\nnet = keras.Sequential([])\nfor row in rows:\n    net.{method}(row[None])\n"
    stacks = [sampled(100, "graph", frame(4, f"keras.src.backend.tensorflow.trainer:{method}", CALL))]
    evidence = work_evidence(source, stacks, loop=3, records=calls_of("function", 4, each_ms))
    found = list(small_calls.called_for_little(evidence))
    assert [(item.code, item.where[0].line) for item in found] == ([("EAG004", 4)] if told else [])


@pytest.mark.parametrize(("steps", "told"), [(20, True), (90, False)])
def test_predict_on_batch_for_a_row_at_a_time_within_a_step_is_called_several_times_in_it(
    steps: int, told: bool
) -> None:
    source = "import keras\nnet = keras.Sequential([])\ndef replay(rows):\n    for row in rows:\n"
    source += "        net.predict_on_batch(row[None])\n    net.train_on_batch(rows)\n"
    stacks = [sampled(100, "graph", frame(5, "keras.src.backend.tensorflow.trainer:predict_on_batch", CALL))]
    # The function that ``train_on_batch`` calls has the same name, and needs longer than such a call takes.
    called = [SourceSpan(FILE, 5)], [SourceSpan(FILE, 6)]
    small, large = (
        brief(
            function="one_step_on_data", graph=f"g{at[0].line}", callers=at, flops=flops, moved_bytes=1e3, operations=9
        )
        for at, flops in zip(called, (1e4, 1e9), strict=True)
    )
    offers = {"made": [FunctionCosts(functions=(small, large)), OpsData(functions=[], all=(small, large))]}
    work = work_evidence(source, stacks, loop=4, records=calls_of("function", 5, 0.5), offers=offers)
    made = make_evidence(
        parts_ms={"graph": 5.0},
        steps=make_steps(steps, 5.0),
        source=source,
        samples=work.samples,
        records=calls_of("function", 5, 0.5),
        offers=offers,
    )
    found = list(small_calls.called_for_little(made))
    assert [(item.code, item.where[0].line) for item in found] == ([("EAG004", 5)] if told else [])


@pytest.mark.parametrize(("iteration", "told"), [(0.25, True), (1.1, False)])
def test_calls_by_several_threads_take_longer_and_compute_no_more(iteration: float, told: bool) -> None:
    """Four at a time, of 2 ms each; one after the other so long a call does compute."""
    source = "import tensorflow as tf\n@tf.function\ndef f(p):\n    return p\ndef work(p):\n    f(p)\n"
    source += "pool.map(work, ps)\n"
    costs = FunctionCosts(functions=(brief(function="f", flops=1e4, moved_bytes=1e3, operations=3),))
    evidence = work_evidence(
        source,
        [sampled(100, "graph", frame(6, CALL, name="work"))],
        call=6,
        records=calls_of("function", 6, 2.0, iteration=iteration),
        offers={"made": [costs]},
    )
    assert [item.code for item in small_calls.called_for_little(evidence)] == (["EAG013"] if told else [])


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("for x in xs:\n    found.append(m.predict(x))\n", "Collect the inputs and predict them in one batch. Or, for"),
        (
            "for x in xs:\n    state = m.predict(x + state)\n",
            "Compile m once, after line 3: m_compiled = tf.function(m",
        ),
    ],
)
def test_one_batch_comes_first_if_no_call_needs_the_one_before(body: str, first: str) -> None:
    head = "import keras, numpy as np\nfound, xs, state = [], np.zeros([50, 1, 4]), 0.0\nm = keras.Sequential([])\n"
    shares = ((30, "graph", CALL), (70, "tracing", SETTING_UP))
    stacks = [sampled(share, kind, frame(5, PREDICT, call), context="evaluate") for share, kind, call in shares]
    found = one(everything(work_evidence(head + body, stacks, loop=4, iterations=50)))
    assert found.advice.startswith(first)
