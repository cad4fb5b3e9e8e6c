"""The rules of family eager on work outside of training steps: a planted cause each, and what must stay silent."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from defined_names import with_definitions
from eager_builder import op
from evidence_builder import FILE, one
from finding_builder import unexplained
from tfperfkit_rules.eager import work
from work_builder import CALL, everything, frame, handed, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import HostRead, HostReads
from tfperfkit.records.samples import Stack
from tfperfkit.rule import Evidence

MATH = "tensorflow.python.ops.math_ops:reduce_sum"
MAP = "tensorflow.python.ops.map_fn:map_fn_v2"
LAYER = "keras.src.layers.layer:__call__"

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


def eager(source: str = IN_FUNCTION, **fields: Any) -> Evidence:
    outer = (frame(6),) if source is IN_FUNCTION else ()
    name = "refine" if source is IN_FUNCTION else "<module>"
    stacks = [
        sampled(60, "eager_ops", *outer, frame(3, MATH, name=name)),
        sampled(35, "dispatch", *outer, frame(4, MATH, name=name)),
        sampled(5, "python", *outer, frame(4, name=name)),
    ]
    return work_evidence(source, stacks, **{"loop": 5 if source is IN_FUNCTION else 2, **fields})


def test_operations_of_a_stretch_are_counted_with_its_length() -> None:
    given = eager(ops=TINY, hits={3: 50, 4: 50})
    assert given.work is not None
    given.work = msgspec.structs.replace(given.work, seconds=20.0)
    assert "runs as eager operations, about 88,000 in 8.0 s, outside tf.function" in one(everything(given)).title


def test_the_function_with_most_operations_is_named_and_what_takes_most_in_it() -> None:
    found = one(everything(eager(ops=TINY, hits={3: 50, 4: 50})))
    assert found.code == "EAG008" and found.share_of_step == 1.0  # Python at the lines that call them goes, too
    assert found.where[:2] == (SourceSpan(FILE, 2, "refine"), SourceSpan(FILE, 3, "refine"))
    assert "@tf.function on refine" in found.advice and "train.py:5 runs as 88,000 eager operations" in found.title
    assert found.gain.bounds and 3 < found.gain.bounds[0] < found.gain.bounds[1] < 30
    assert list(unexplained(eager(), [msgspec.structs.replace(found, work="train.py:5")])) == []


def test_operations_in_the_loop_itself_are_told_by_their_lines() -> None:
    found = one(everything(eager(IN_LOOP, iterations=40)))
    assert found.where == (SourceSpan(FILE, 3), SourceSpan(FILE, 4), SourceSpan(FILE, 2))
    assert found.title == "An iteration runs as eager operations, outside tf.function"
    assert found.gain.bounds and found.gain.bounds[0] > 1.2  # no trace counted them


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
    """Sample chains: the library's own operations, and the user's density among them."""
    stacks = [
        sampled(60, "eager_ops", frame(7), frame(6, "chains:sample", name="draw")),
        sampled(30, "dispatch", frame(7), frame(6, "chains:sample", name="draw"), frame(4, MATH, name="log_prob")),
    ]
    found = one(work.eager_work(work_evidence(IN_CALL, stacks, call=6)))
    assert found.where[0] == SourceSpan(FILE, 5, "draw") and "@tf.function on draw" in found.advice


def test_large_products_promise_little_and_many_calls_less_than_few() -> None:
    heavy, tiny = one(work.eager_work(eager(ops=HEAVY))), one(work.eager_work(eager(ops=TINY, hits={3: 99, 4: 99})))
    often = one(work.eager_work(eager(ops=TINY, hits={3: 900, 4: 900})))
    assert heavy.gain.bounds and tiny.gain.bounds and often.gain.bounds
    assert heavy.gain.bounds[0] < 1.3 < often.gain.bounds[0] < tiny.gain.bounds[0]


def test_tracing_counts_where_the_function_is_called_a_few_times_and_is_reported() -> None:
    often, seldom = (one(work.eager_work(eager(ops=TINY, hits={3: n, 4: n}))) for n in (400, 10))
    assert often.gain.likely and seldom.gain.likely
    assert seldom.gain.likely < 0.5 * often.gain.likely
    assert "tracing once" in seldom.detail and "tracing once" not in often.detail


def test_a_function_that_is_called_hardly_ever_has_its_loop_in_the_graph() -> None:
    loops = one(work.eager_work(eager(ops=TINY, hits={3: 2, 4: 2})))
    assert "tf.range" in loops.advice and loops.gain.likely and loops.gain.likely > 5
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
    assert alone.gain.bounds and beside.gain.bounds
    assert beside.gain.bounds[0] < 5.5 < alone.gain.bounds[0]
    assert beside.gain.bounds[1] == pytest.approx(alone.gain.bounds[1], rel=0.1)
    assert (
        "Move the eager operations of line 7 into it" in beside.advice
        and "Move the eager operations" not in alone.advice
    )


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
        return one(
            work.eager_work(work_evidence(with_definitions(source), stacks, loop=4, ops=TINY, hits={5: 900, 3: 900}))
        )

    apart, needed = found("rows.append(refine(v).numpy())"), found("s = refine(s + v).numpy()")
    assert "Batch the loop in line 4," in apart.advice and apart.where[0] == SourceSpan(FILE, 4)
    assert "@tf.function on refine" in needed.advice and needed.where[0] == SourceSpan(FILE, 2, "refine")
    assert apart.share_of_step == 1.0 and needed.share_of_step == 0.9  # of a batch values are read once
    assert apart.gain.bounds and needed.gain.bounds and needed.gain.bounds[1] < apart.gain.bounds[0]


PATCHES = """\
import tensorflow as tf
def patches(image):
    rows = []
    for r in range(0, 99, 4):
        row = []
        for c in range(0, 99, 4):
            row.append(tf.reshape(image[r, c], [-1]))
        rows.append(tf.stack(row))
    return tf.stack(rows)
patches(scan)
"""


def test_loops_in_each_other_whose_turns_are_apart_are_better_still_one_batch() -> None:
    inner = frame(10), frame(7, MATH, name="patches")
    stacks = [sampled(60, "eager_ops", *inner), sampled(40, "dispatch", *inner)]
    hits = {3: 1, 4: 20, 5: 20, 7: 20 * 24, 8: 20}
    alone, both = (
        one(work.eager_work(work_evidence(with_definitions(source), stacks, loop=6, ops=TINY, hits=hits)))
        for source in (PATCHES.replace("row = []", "row, last = [], image[r] + last"), PATCHES)
    )
    assert "Batch the loop in line 6," in alone.advice and "around it" not in alone.advice
    assert "batch the loop in line 4 around it" in both.advice and both.where[0].line == 6
    assert alone.gain.bounds and both.gain.bounds and both.gain.bounds[0] == alone.gain.bounds[0]
    assert both.gain.bounds[1] > 2 * alone.gain.bounds[1]


def test_a_loop_that_did_not_end_while_lines_were_counted_may_have_more_turns() -> None:
    stacks = [sampled(60, "eager_ops", frame(4, MATH)), sampled(40, "dispatch", frame(4, MATH))]
    source = "import tensorflow as tf\n\nfor x in xs:\n    rows.append(tf.exp(x))\ntf.stack(rows)\n"
    going = one(work.eager_work(work_evidence(with_definitions(source), stacks, loop=3, ops=TINY, hits={4: 7})))
    assert "Batch the loop in line 3," in going.advice  # 28 iterations in its eight seconds, and nothing around it
    few = one(work.eager_work(work_evidence(with_definitions(source), stacks, loop=3, ops=TINY, hits={4: 1})))
    assert "Batch the loop" not in few.advice


@pytest.mark.parametrize(("line", "library", "share"), [(3, "", 1.0), (3, "numpy", 0.9), (4, "", 0.9)])
def test_python_at_the_lines_of_operations_goes_with_them(line: int, library: str, share: float) -> None:
    """Letting go of their tensors; not what a library does there, nor the user's Python at other lines."""
    source = IN_LOOP.replace("v / tf.norm(v)", "shift(v)")
    own = Stack((frame(line),), library, "python")
    stacks = [sampled(60, "eager_ops", frame(3, MATH)), sampled(30, "dispatch", frame(3, MATH)), (own, 10)]
    found = one(work.eager_work(work_evidence(source, stacks, loop=2, ops=TINY, hits={3: 99})))
    assert found.share_of_step == pytest.approx(share)


def test_few_turns_are_no_batch() -> None:
    source = (
        "import tensorflow as tf\ndef f(s):\n    total = s\n    for v in vs:\n        rows.append(tf.exp(v))\n"
        "    return total\nwhile True:\n    s = f(s)\n"
    )
    stacks = [sampled(90, how, frame(8), frame(5, MATH, name="f")) for how in ("eager_ops", "dispatch")]
    few, many = (
        one(
            work.eager_work(
                work_evidence(with_definitions(source), stacks, loop=7, ops=TINY, hits={3: 10, 5: 10 * iterations})
            )
        )
        for iterations in (2, 200)
    )
    assert "Batch the loop" not in few.advice and "Batch the loop in line 4," in many.advice


def test_a_trace_after_the_steps_counts_what_ran_in_a_later_phase() -> None:
    late, alone = (one(work.eager_work(eager(ops=TINY, hits={3: 99, 4: 99}, **how))) for how in ({"later": True}, {}))
    assert late.gain.bounds == alone.gain.bounds


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
    assert found.title == "m called eagerly in the loop at train.py:3"
    assert "tf.function(m" in found.advice


IN_CALLBACK = """\
import keras
class Wrong(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        for x in xs:
            y = self.model(x)
m.fit(a, b, callbacks=[Wrong()])
"""
FIT = "keras.src.backend.tensorflow.trainer:fit"


def test_what_a_callback_does_in_a_loop_of_its_own_is_none_of_fit() -> None:
    called = frame(6, FIT), frame(5, LAYER, name="on_epoch_end")
    stacks = [sampled(90, "eager_ops", *called), handed(*called)]
    found = one(everything(work_evidence(IN_CALLBACK, stacks, loop=4)))
    assert (found.code, found.where[0]) == ("EAG004", SourceSpan(FILE, 5, "on_epoch_end"))
    in_loop = "import keras\nclass M(keras.Model):\n    def call(self, x):\n        return self.d(x)\n"
    in_loop += "for x in xs:\n    M().fit(x)\n"
    called = frame(6, FIT), frame(4, LAYER, name="call")
    stacks = [sampled(90, "eager_ops", *called), handed(*called)]
    assert not any(each.code in ("EAG004", "EAG008") for each in everything(work_evidence(in_loop, stacks, loop=5)))


IN_ITERATIONS = """\
import keras
m = keras.Sequential([])
while True:
    rows = replay()
    for x in rows:
        y = m(x)
"""


def test_a_model_that_each_turn_of_an_inner_loop_calls_has_one_call_for_all_as_its_remedy() -> None:
    called = frame(6, LAYER, span=(12, 16))
    stacks = [sampled(90, "eager_ops", called), handed(called)]
    found = one(everything(work_evidence(with_definitions(IN_ITERATIONS), stacks, loop=3)))
    assert (found.code, found.where[0]) == ("EAG004", SourceSpan(FILE, 6))
    assert 5 in [place.line for place in found.where]
    assert found.title == "m called in each iteration of line 5"
    assert "call m once before the loop" in found.advice and "tf.function(m" in found.advice
    fed = [*stacks, sampled(1, "input", frame(5))]
    found = one(everything(work_evidence(with_definitions(IN_ITERATIONS), fed, loop=3)))
    assert found.title == "m called eagerly in the loop at train.py:3"  # its iterations have batches


def test_a_model_of_the_persons_own_layers_is_named_by_its_outermost_call() -> None:
    source = (
        "import keras\nfrom layers import Attention\nm = keras.Sequential([Attention()])\nfor x in xs:\n    y = m(x)\n"
    )
    stack = [frame(5, LAYER, span=(8, 12)), frame(2, MATH, name="split_heads")]
    found = one(everything(work_evidence(source, [sampled(90, "eager_ops", *stack), handed(*stack)], loop=4)))
    assert found.code == "EAG004" and found.title == "m called eagerly in the loop at train.py:4"
    assert found.where[0] == SourceSpan(FILE, 5)  # where it is to be compiled, not the operations below


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
    assert found.title.startswith("tf.map_fn called eagerly") and "vectorized_map" in found.advice
    traced = [sampled(100, "graph", frame(3, CALL, MAP))]
    assert everything(work_evidence(source, traced, loop=2)) == []


def test_copies_of_weights_are_no_operations_to_compile() -> None:
    source = "def follow(target, model):\n    return model.get_weights()\nfor s in steps:\n    follow(a, b)\n"
    copied = "keras.src.layers.layer:get_weights"
    inner = frame(2, copied, name="follow")
    stacks = [sampled(60, "eager_ops", frame(4), inner), sampled(40, "dispatch", frame(4), inner)]
    assert "EAG008" not in {item.code for item in everything(work_evidence(source, stacks, loop=3))}
    other = "keras.src.layers.layer:count_params"
    stacks = [sampled(60, "eager_ops", frame(4), frame(2, other)), sampled(40, "dispatch", frame(4), frame(2, other))]
    assert "EAG008" in {item.code for item in everything(work_evidence(source, stacks, loop=3))}


SHRINKS = """\
import tensorflow as tf
def shrink(v):
    while {head}:
        v = tf.matmul(m, v)
        v = v / 2.0
    return v
while True:
    v = shrink(v + v)
"""


def shrinking(head: str) -> Finding:
    """Ten calls of a function in the stretch, each of whose loops makes forty iterations."""
    outer = frame(8)
    stacks = [
        sampled(60, "eager_ops", outer, frame(4, MATH, name="shrink")),
        sampled(35, "dispatch", outer, frame(5, MATH, name="shrink")),
    ]
    reads = {"syncs": (HostReads(rows=(HostRead(file=FILE, line=3),)),)} if "tf." in head else {}
    given = work_evidence(
        SHRINKS.format(head=head), stacks, loop=7, ops=TINY, hits={3: 410, 4: 400, 5: 400, 6: 10, 8: 10}, offers=reads
    )
    return one(work.eager_work(given))


def test_a_loop_whose_head_reads_a_tensor_is_traced_once_whatever_its_turns() -> None:
    """As a loop of the graph; one of Python's would be unrolled while it is traced."""
    graph, unrolled = shrinking("tf.norm(v) > 1.0"), shrinking("count < 40")
    assert graph.gain.likely and unrolled.gain.likely
    assert graph.gain.likely > 2 * unrolled.gain.likely
    assert "line 3 becomes a graph loop" in graph.advice and "lines that read" not in graph.advice
    assert "graph loop" not in unrolled.advice


@pytest.mark.parametrize(
    ("call", "library", "told"),
    [
        ("driver.run(state)", "agents.drivers.driver:run", "driver.run = tf.function(driver.run)"),
        ("mcmc.sample_chain(100, state)", "mcmc.sample:sample_chain", "compiled_sample_chain = tf.function(mcmc."),
        ("tf.map_it(f, state)", "tensorflow.python.ops.map_it:map_it", ""),
    ],
)
def test_a_call_of_a_library_that_runs_operations_is_to_be_wrapped(call: str, library: str, told: str) -> None:
    source = f"import mcmc\nimport tensorflow as tf\nfor step in range(100):\n    state = {call}\n"
    leaf = frame(4, library, MATH, span=(12, 12 + len(call)))
    stacks = [sampled(55, "eager_ops", leaf), sampled(35, "dispatch", leaf), sampled(10, "python", frame(3))]
    found = one(work.eager_work(work_evidence(source, stacks, loop=3)))
    assert found.code == "EAG008" and (told in found.advice if told else "Compile the call" not in found.advice)
    assert ("before the loop" in found.advice) is bool(told)
