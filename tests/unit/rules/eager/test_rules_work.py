"""The rules of family eager on work outside of training steps: a planted cause each, and what must stay silent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from eager_builder import op, site
from evidence_builder import FILE, MS
from tfperfkit_rules.eager import RULES, elements, model_calls, remade, small_batches, small_calls, work
from tfperfkit_rules.memory.growth import session_graph
from work_builder import frame, sampled, work_evidence

from tfperfkit.diagnosis.residual import residual
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.rule import Evidence

MATH = "tensorflow.python.ops.math_ops:reduce_sum"
SLICE = "tensorflow.python.ops.tensor_getitem_override:_slice_helper"
MAP = "tensorflow.python.ops.map_fn:map_fn_v2"
PREDICT = "keras.src.backend.tensorflow.trainer:predict"
SETTING_UP = "keras.src.backend.tensorflow.trainer:__init__"
CALL = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
LOAD = "keras.src.saving.saving_api:load_model"
LAYER = "keras.src.layers.layer:__call__"
SESSION = "tensorflow.python.client.session:run"

IN_FUNCTION = """\
import tensorflow as tf
def refine(v):
    v = tf.matmul(m, v)
    return v / tf.norm(v)
while True:
    v = refine(v)
"""
IN_LOOP = """\
import tensorflow as tf
for i in range(100):
    v = tf.matmul(m, v)
    v = v / tf.norm(v)
"""
#: Operations of two seconds, ten thousand in each; each takes what handing it over takes.
TINY = (op("Mul", 2000, 40.0), op("Sub", 2000, 40.0), op("MatMul", 400, 8.0))
HEAVY = (op("MatMul", 400, 380.0), op("Mul", 400, 2.0))


def one(found: Iterable[Finding]) -> Finding:
    (finding,) = found
    return finding


def handed(*frames: Frame) -> tuple[Stack, int]:
    """Some Python that hands operations out, without which they are long ones."""
    return sampled(10, "dispatch", *frames)


def everything(evidence: Evidence) -> list[Finding]:
    return [finding for rule in RULES for finding in rule(evidence)]


def eager(source: str = IN_FUNCTION, **fields: Any) -> Evidence:
    outer = (frame(6),) if source is IN_FUNCTION else ()
    name = "refine" if source is IN_FUNCTION else "<module>"
    stacks = [
        sampled(60, "eager_ops", *outer, frame(3, MATH, name=name)),
        sampled(35, "dispatch", *outer, frame(4, MATH, name=name)),
        sampled(5, "python", *outer, frame(4, name=name)),
    ]
    return work_evidence(source, stacks, **{"loop": 5 if source is IN_FUNCTION else 2, **fields})


def test_the_function_with_most_operations_is_named_and_what_takes_most_in_it() -> None:
    found = one(everything(eager(ops=TINY, hits={3: 50, 4: 50})))
    assert found.code == "EAG008" and found.share_of_step == 0.95
    assert found.where[:2] == (SourceSpan(FILE, 2, "refine"), SourceSpan(FILE, 3, "refine"))
    assert "@tf.function on refine" in found.advice and "train.py:5 runs as 88,000 separate operations" in found.title
    assert found.predicted_range and 3 < found.predicted_range[0] < found.predicted_range[1] < 30
    assert list(residual(eager(), [msgspec.structs.replace(found, work="train.py:5")])) == []


def test_operations_in_the_loop_itself_are_told_by_their_lines() -> None:
    found = one(everything(eager(IN_LOOP, iterations=40)))
    assert found.where == (SourceSpan(FILE, 3), SourceSpan(FILE, 4), SourceSpan(FILE, 2))
    assert found.title == "An iteration runs eagerly, its operations called one by one from Python"
    assert found.predicted_range and found.predicted_range[0] > 1.2  # no trace counted them


IN_CALL = """\
import tensorflow as tf
import chains
def log_prob(x):
    return tf.reduce_sum(x)
def draw():
    return chains.sample(log_prob)
draw()
"""


def test_a_librarys_long_call_is_compiled_with_the_function_that_makes_it() -> None:
    """A sampler of chains: the library's own operations, and the person's density among them."""
    stacks = [
        sampled(60, "eager_ops", frame(7), frame(6, "chains:sample", name="draw")),
        sampled(30, "dispatch", frame(7), frame(6, "chains:sample", name="draw"), frame(4, MATH, name="log_prob")),
    ]
    found = one(work.eager_work(work_evidence(IN_CALL, stacks, call=6)))
    assert found.where[0] == SourceSpan(FILE, 5, "draw") and "@tf.function on draw" in found.advice


def test_large_products_promise_little_and_many_calls_less_than_few() -> None:
    heavy, tiny = one(work.eager_work(eager(ops=HEAVY))), one(work.eager_work(eager(ops=TINY, hits={3: 99, 4: 99})))
    often = one(work.eager_work(eager(ops=TINY, hits={3: 900, 4: 900})))
    assert heavy.predicted_range and tiny.predicted_range and often.predicted_range
    assert heavy.predicted_range[0] < 1.3 < often.predicted_range[0] < tiny.predicted_range[0]


def test_tracing_counts_where_the_function_is_called_a_few_times_and_is_told() -> None:
    often, seldom = (one(work.eager_work(eager(ops=TINY, hits={3: n, 4: n}))) for n in (400, 10))
    assert often.predicted_speedup and seldom.predicted_speedup
    assert seldom.predicted_speedup < 0.5 * often.predicted_speedup
    assert "Tracing it once" in seldom.detail and "Tracing it once" not in often.detail


def test_a_function_that_is_called_hardly_ever_has_its_loop_in_the_graph() -> None:
    loops = one(work.eager_work(eager(ops=TINY, hits={3: 2, 4: 2})))
    assert "tf.range" in loops.advice and loops.predicted_speedup and loops.predicted_speedup > 5
    assert "tf.range" not in one(work.eager_work(eager(ops=TINY, hits={3: 99, 4: 99}))).advice


def test_what_is_called_beside_the_function_goes_on_as_it_does_unless_it_is_moved_into_it() -> None:
    def found(beside: int) -> Finding:
        stacks = [
            sampled(90 - beside, "eager_ops", frame(6), frame(3, MATH, name="refine")),
            sampled(beside, "eager_ops", frame(7, MATH)),
            sampled(10, "dispatch", frame(6), frame(4, MATH, name="refine")),
        ]
        source = IN_FUNCTION + "    s = tf.norm(v)\n"
        return one(work.eager_work(work_evidence(source, stacks, loop=5, ops=TINY, hits={3: 99, 4: 99})))

    alone, beside = found(0), found(20)
    assert alone.predicted_range and beside.predicted_range
    assert beside.predicted_range[0] < 5.5 < alone.predicted_range[0]
    assert beside.predicted_range[1] == pytest.approx(alone.predicted_range[1], rel=0.1)
    assert "beside it, too (line 7)" in beside.advice and "beside it" not in alone.advice


def test_turns_that_need_no_other_are_one_batch_and_gain_more() -> None:
    def found(body: str) -> Finding:
        source = f"import tensorflow as tf\ndef refine(v):\n    return tf.exp(v)\nfor v in vs:\n    {body}\n"
        inner = frame(5), frame(3, MATH, name="refine")
        stacks = [
            sampled(70, "eager_ops", *inner),
            sampled(20, "dispatch", *inner),
            sampled(8, "host_sync", frame(5)),
            sampled(2, "python", frame(5)),
        ]
        return one(work.eager_work(work_evidence(source, stacks, loop=4, ops=TINY, hits={5: 900, 3: 900})))

    apart, needed = found("rows.append(refine(v).numpy())"), found("s = refine(s + v).numpy()")
    assert "No turn of the loop in line 4" in apart.advice and apart.where[0] == SourceSpan(FILE, 4)
    assert "@tf.function on refine" in needed.advice and needed.where[0] == SourceSpan(FILE, 2, "refine")
    assert apart.share_of_step == 0.98 and needed.share_of_step == 0.9  # of a batch values are read once
    assert apart.predicted_range and needed.predicted_range and needed.predicted_range[1] < apart.predicted_range[0]


def test_few_turns_are_no_batch() -> None:
    source = (
        "import tensorflow as tf\ndef f(s):\n    total = s\n    for v in vs:\n        rows.append(tf.exp(v))\n"
        "    return total\nwhile True:\n    s = f(s)\n"
    )
    stacks = [sampled(90, how, frame(8), frame(5, MATH, name="f")) for how in ("eager_ops", "dispatch")]
    few, many = (
        one(work.eager_work(work_evidence(source, stacks, loop=7, ops=TINY, hits={3: 10, 5: 10 * turns})))
        for turns in (2, 200)
    )
    assert "No turn" not in few.advice and "No turn of the loop in line 4" in many.advice


def test_a_trace_after_the_steps_counts_what_ran_in_a_later_phase() -> None:
    late, alone = (one(work.eager_work(eager(ops=TINY, hits={3: 99, 4: 99}, **how))) for how in ({"later": True}, {}))
    assert late.predicted_range == alone.predicted_range


def test_the_function_around_the_loop_gives_way_to_the_one_that_the_loop_calls() -> None:
    source = (
        "import tensorflow as tf\ndef refine(v):\n    v = tf.matmul(m, v)\n    return v / tf.norm(v)\n"
        "def whole(vs, s):\n    for v in vs:\n        s = refine(s + v)\n    return s\n"
        "for vs in many:\n    s = whole(vs, s)\n"
    )
    inner = frame(10), frame(7, name="whole"), frame(3, MATH, name="refine")
    found = one(work.eager_work(work_evidence(source, [sampled(90, "eager_ops", *inner), handed(*inner)], loop=6)))
    assert found.where[0] == SourceSpan(FILE, 2, "refine")


def test_a_function_that_reads_values_gives_way_to_one_within_it() -> None:
    source = IN_FUNCTION.replace("    v = refine(v)\n", "    outer()\n").replace(
        "while", "def outer():\n    s = refine(v).numpy()\nwhile"
    )
    inner = [frame(8), frame(6, name="outer"), frame(3, MATH, name="refine")]
    found = one(work.eager_work(work_evidence(source, [sampled(90, "eager_ops", *inner), handed(*inner)], loop=7)))
    assert found.where[0] == SourceSpan(FILE, 2, "refine")


def test_a_model_that_is_called_directly_is_named() -> None:
    source = "import keras\nm = keras.Sequential([])\nfor x in xs:\n    y = m(x)\n"
    called = frame(4, LAYER, span=(8, 12))
    stacks = [sampled(90, "eager_ops", called), handed(called)]
    found = one(everything(work_evidence(source, stacks, loop=3)))
    assert (found.code, found.where[0]) == ("EAG004", SourceSpan(FILE, 4))
    assert found.title == "m is called operation by operation inside the loop at train.py:3"
    assert "tf.function(m" in found.advice


def test_long_operations_compute() -> None:
    stacks = [sampled(299, "eager_ops", frame(3, MATH)), sampled(1, "dispatch", frame(3, MATH))]
    assert everything(work_evidence(IN_LOOP, stacks, loop=2)) == []


def test_training_steps_and_compiled_loops_are_no_work_of_these_rules() -> None:
    busy = eager()
    steps = busy.narrowed(
        work=None,  # type: ignore[arg-type]
        steps=busy.steps,
        account=busy.account,
        samples=busy.samples,
        log=busy.log,
    )
    assert not [item for item in everything(steps) if item.code == "EAG008"]
    compiled = [sampled(90, "graph", frame(6, CALL)), sampled(10, "dispatch", frame(6, CALL))]
    assert everything(work_evidence(IN_FUNCTION, compiled, loop=5)) == []


def test_a_map_that_runs_eagerly_has_the_line_that_calls_it() -> None:
    source = "import tensorflow as tf\nfor b in bs:\n    s += f(tf.map_fn(norm, b))\n"
    stacks = [sampled(70, "eager_ops", frame(3, MAP)), sampled(30, "dispatch", frame(3, MAP, "a:b"))]
    found = one(everything(work_evidence(source, stacks, loop=2)))
    assert (found.code, found.where) == ("EAG010", (SourceSpan(FILE, 3), SourceSpan(FILE, 2)))
    assert found.title.startswith("tf.map_fn is called eagerly") and "vectorized_map" in found.advice
    traced = [sampled(100, "graph", frame(3, CALL, MAP))]
    assert everything(work_evidence(source, traced, loop=2)) == []


ELEMENTS = "import tensorflow as tf\nfor i in range(t.shape[0]):\n    total += float(t[i, 0])\n"


def test_elements_that_are_read_one_by_one_are_no_operations_to_compile() -> None:
    taken = [
        sampled(70, "eager_ops", frame(3, SLICE, span=(19, 26))),
        sampled(30, "host_sync", frame(3, "tensorflow.python.framework.ops:__float__", span=(13, 27))),
    ]
    found = one(everything(work_evidence(ELEMENTS, taken, loop=2)))
    assert (found.code, found.where) == ("EAG011", (SourceSpan(FILE, 3), SourceSpan(FILE, 2)))
    assert found.title == "A Python loop takes t[i, 0] out of a tensor, one at a time" and "t.numpy()" in found.advice


def test_a_value_that_is_waited_for_is_no_element() -> None:
    source = "for batch in batches:\n    loss = step(batch)\n    loss.numpy()\n"
    stacks = [sampled(100, "host_sync", frame(3, "tensorflow.python.framework.ops:numpy", span=(4, 16)))]
    assert list(elements.elements_one_by_one(work_evidence(source, stacks, loop=1))) == []


def test_slices_and_elements_that_stay_tensors_are_operations() -> None:
    sliced = ELEMENTS.replace("float(t[i, 0])", "tf.sum(t[i:i+9])")
    taken = frame(3, SLICE, span=(20, 28))
    stacks = [sampled(90, "eager_ops", taken), handed(taken)]
    assert one(everything(work_evidence(sliced, stacks, loop=2))).code == "EAG008"
    kept = ELEMENTS.replace("float(t[i, 0])", "tf.sum(t[i, 0])")
    assert one(everything(work_evidence(kept, stacks, loop=2))).code == "EAG008"


def test_a_loop_over_a_tensor_is_told_by_what_it_goes_over() -> None:
    source = "import tensorflow as tf\nfor row in t:\n    total += tf.reduce_sum(row)\n"
    stacks = [
        sampled(40, "eager_ops", frame(2, "tensorflow.python.framework.tensor:__next__", span=(11, 12))),
        sampled(60, "eager_ops", frame(3, MATH, span=(13, 31))),
    ]
    found = one(elements.elements_one_by_one(work_evidence(source, stacks, loop=2)))
    assert found.title == "A Python loop takes the rows of t out of a tensor, one at a time"


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
    assert found.share_of_step == 0.9 and found.title == "A model is loaded again and again in the loop at train.py:5"
    rest = one(model_calls.predict_in_loop(evidence))
    assert rest.share_of_step == 0.1  # the tracing is the new model's


def test_few_models_are_what_a_validation_needs() -> None:
    log = served(40, 50, 10)
    first = [stack for stack in log.samples.stacks if stack.activity == "saving"]
    # All of the loading in one piece, then everything else.
    taken = sorted(log.log.inside(log.log.whole), key=lambda item: item[1] not in first)
    numbers = {id(stack): n for n, stack in enumerate(log.samples.stacks)}
    made = type(log.log)(
        dict(enumerate(log.samples.stacks)),
        [(turn * 80 * MS, numbers[id(stack)]) for turn, (_, stack) in enumerate(taken, 1)],
    )
    assert log.work is not None
    once = log.narrowed(work=log.work, steps=log.steps, account=log.account, samples=log.samples, log=made)
    assert list(remade.models_made_again(once)) == []


def predicted(computing: int, setting_up: int, rest: int = 0, **fields: Any) -> Evidence:
    source = "import keras\nm = keras.Sequential([])\nfor x in xs:\n    m.predict(x)\n"
    stacks = [
        sampled(computing, "graph", frame(4, PREDICT, CALL), context="evaluate"),
        sampled(setting_up, "tracing", frame(4, PREDICT, SETTING_UP), context="evaluate"),
        sampled(rest, "dispatch", frame(4, PREDICT, "a:b"), context="evaluate"),
    ]
    return work_evidence(source, [item for item in stacks if item[1]], **{"loop": 3, "iterations": 50, **fields})


def test_predict_for_little_is_told_by_the_loop_and_priced_by_what_does_not_compute() -> None:
    found = one(everything(predicted(30, 70)))
    assert found.title == "m.predict is called for little data inside the loop at train.py:3"
    assert found.predicted_range and 2 < found.predicted_range[0] < 3.4 < found.predicted_range[1]
    assert not any("step" in item.name or "training" in item.name for item in found.evidence)


@pytest.mark.parametrize(("each_ms", "low", "high"), [(100, 30, 60), (10, 5, 20)])
def test_what_predict_took_says_what_a_compiled_call_leaves_of_it(each_ms: int, low: float, high: float) -> None:
    marks = [[1, n * 150 * MS, (n * 150 + each_ms) * MS, 1] for n in range(50)]
    records = {"sites": [msgspec.to_builtins(site(1, "predict", 4))], "markers": marks}
    found = one(everything(predicted(1, 400, records=records)))
    assert found.predicted_speedup and low < found.predicted_speedup < high


def much_predicted(each_ms: int) -> Finding:
    """Calls of 22 batches each."""
    rows = [[1 + (n % 23 > 0), n * 1000, n * 1000 + (each_ms * MS if n % 23 == 0 else 10), 1] for n in range(50 * 23)]
    made = [msgspec.to_builtins(site(1, "predict", 4)), msgspec.to_builtins(site(2, "next", 4))]
    return one(everything(predicted(30, 70, records={"sites": made, "markers": rows})))


def test_predict_again_and_again_for_much_is_no_matter_of_little_data() -> None:
    """Nobody says "call the model itself", which would gain nothing."""
    found = much_predicted(500)
    assert found.title == "m.predict is called again and again inside the loop at train.py:3"
    assert found.advice.startswith("Where several calls get the same data and the weights are the same, predict once")
    assert [item.value for item in found.evidence if item.name == "batches in a call"] == [22.0]


def test_predict_again_and_again_in_small_batches() -> None:
    found = much_predicted(60)
    assert found.title == "m.predict goes through its data in 22 small batches inside the loop at train.py:3"
    assert "batch_size=1024" in found.advice


@pytest.mark.parametrize("fields", [{}, {"iterations": None}, {"loop": 0, "call": 4, "iterations": None}])
def test_predict_of_much_data_is_left_in_peace(fields: dict[str, Any]) -> None:
    evidence = predicted(85, 5, 10, **fields)
    assert everything(evidence) == []
    assert list(residual(evidence, [])) == []


def batches(each_ms: float) -> dict[str, Any]:
    rows = [[1, int(n * each_ms * MS), int(n * each_ms * MS) + 1000, 1] for n in range(200)]
    return {"sites": [msgspec.to_builtins(site(1, "next", 4))], "markers": rows}


def test_one_predict_in_tiny_batches_is_told_and_one_in_large_ones_is_not() -> None:
    once = {"loop": 0, "call": 4, "iterations": None}
    found = one(small_batches.batches_too_small(predicted(40, 2, 58, **once, records=batches(1.0))))
    assert found.where[0] == SourceSpan(FILE, 4) and "batch_size=1024" in found.advice
    assert list(small_batches.batches_too_small(predicted(40, 2, 58, **once, records=batches(30.0)))) == []


def calls_of(kind: str, line: int, each_ms: float, turn: float = 1.1) -> dict[str, Any]:
    """A call in each turn, which takes ``turn`` times as long."""
    rows = [[1, int(turn * each_ms * n * MS), int((turn * n + 1) * each_ms * MS), 1] for n in range(100)]
    return {"sites": [msgspec.to_builtins(site(1, kind, line, loops=(line - 1,)))], "markers": rows}


SESSION_LOOP = """\
import tensorflow.compat.v1 as tf
session = tf.Session()
for row in rows:
    session.run(best, {x: row})
"""


def test_session_run_for_little_is_told_and_for_much_is_not() -> None:
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
    assert list(residual(evidence, [msgspec.structs.replace(found, work="train.py:3")])) == []


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
def test_a_compiled_function_for_little_is_told_while_a_long_call_computes(each_ms: float, told: bool) -> None:
    source = "import tensorflow as tf\n@tf.function\ndef f(p):\n    return p\nfor p in ps:\n    f(p)\n"
    stacks = [sampled(100, "graph", frame(6, CALL))]
    evidence = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, each_ms))
    assert [item.code for item in small_calls.called_for_little(evidence)] == (["EAG013"] if told else [])


def test_calls_own_no_more_time_than_was_timed_of_them() -> None:
    source = "import tensorflow as tf\n@tf.function\ndef f(p):\n    return p\nfor p in ps:\n    f(p)\n"
    stacks = [sampled(100, "graph", frame(6, CALL))]
    half = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, 0.3, turn=2.0))
    assert one(small_calls.called_for_little(half)).evidence[0].value == pytest.approx(0.5 / 0.9, abs=0.01)
    little = work_evidence(source, stacks, loop=5, records=calls_of("function", 6, 0.3, turn=30.0))
    assert list(small_calls.called_for_little(little)) == []


def test_copies_of_weights_are_no_operations_to_compile() -> None:
    source = "def follow(target, model):\n    return model.get_weights()\nfor s in steps:\n    follow(a, b)\n"
    copied = "keras.src.layers.layer:get_weights"
    inner = frame(2, copied, name="follow")
    stacks = [sampled(60, "eager_ops", frame(4), inner), sampled(40, "dispatch", frame(4), inner)]
    assert "EAG008" not in {item.code for item in everything(work_evidence(source, stacks, loop=3))}
    other = "keras.src.layers.layer:count_params"
    stacks = [sampled(60, "eager_ops", frame(4), frame(2, other)), sampled(40, "dispatch", frame(4), frame(2, other))]
    assert "EAG008" in {item.code for item in everything(work_evidence(source, stacks, loop=3))}
