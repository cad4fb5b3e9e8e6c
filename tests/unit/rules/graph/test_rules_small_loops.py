"""GRF005, loops with trivially small iterations, on made evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE
from tfperfkit_probes.ops.model import Brief, GraphLoop, Marks
from tfperfkit_rules.graph.small_loops import small_loops
from tfprof_builder import brief, graphs, op
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan

SOURCE = """import tensorflow as tf
@tf.function
def prepare(rows):
    return tf.map_fn(scale, rows)
for _ in range(30):
    out = prepare(rows)
"""


def a_loop(**fields: Any) -> GraphLoop:
    """2,000 iterations of ten operations on 64 numbers."""
    given: dict[str, Any] = {
        "name": "map/while",
        "where": SourceSpan(FILE, 4, "prepare"),
        "turns": 2000,
        "goes": 1.0,
        "operations": 10.0,
        "flops": 300.0,
        "elements": 400.0,
        "measured": True,
        "whole_flops": 6e5,
        "types": {"Mean": 2, "Sub": 1},
    }
    return GraphLoop(**{**given, **fields})


def a_function(*loops: GraphLoop, outside_measured: bool = True, **fields: Any) -> Brief:
    """It does little besides."""
    given = {"function": "prepare", "line": 2, "flops": 7e5, "callers": [SourceSpan(FILE, 6)], "operations": 20}
    marks = Marks(loops=list(loops), outside_measured=outside_measured)
    return msgspec.structs.replace(brief(), **{**given, "marks": marks, **fields})


def found(*functions: Brief, source: str = SOURCE, at: int = 6, ops: Any = (), **fields: Any) -> list[Finding]:
    """Return the rule's findings on thirty iterations, nine tenths of them in a compiled function called at a line."""
    stacks = [sampled(360, "graph", frame(at)), sampled(40, "python", frame(5))]
    given = work_evidence(source, stacks, loop=5, iterations=30, ops=ops, functions=graphs(*functions), **fields)
    return list(small_loops(given))


def test_a_map_over_rows() -> None:
    (finding,) = found(a_function(a_loop()))
    assert finding.code == "GRF005" and [span.line for span in finding.where] == [4, 2, 6]
    assert finding.title == "tf.map_fn in prepare runs 2,000 tiny iterations"
    assert 0.8 < finding.share_of_step <= 0.9 and finding.gain.bounds[0] > 2
    assert "axis=-1" in finding.advice


@pytest.mark.parametrize(
    "fields",
    [
        {"flops": 3.3e7},  # a product of 256 x 256
        {"elements": 150_000.0},  # an image
        {"trains": True},
        {"turns": 8},
        {"backward": True},
        {"where": None},
        {"where": SourceSpan(FILE, 6)},  # a library's loop below a call
        {"measured": False},
    ],
)
def test_silent_on_work_in_the_turns(fields: dict[str, Any]) -> None:
    assert found(a_function(a_loop(**fields))) == []


def test_whole_tensors_with_gradients_leave_more_and_a_recurrence_most() -> None:
    """Memory traffic of 6 million numbers; of a scan eleven times that, for its iterations need one another."""
    work, back = {"elements": 3000.0}, a_loop(name="map/while_grad", backward=True)
    (plain,) = found(a_function(a_loop(**work)))
    (trained,) = found(a_function(a_loop(**work), back))
    (carried,) = found(
        a_function(a_loop(**work), back), source=SOURCE.replace("tf.map_fn(scale, rows)", "tf.scan(scale, rows)")
    )
    bounds = [item.gain.bounds or (0.0, 0.0) for item in (plain, trained, carried)]
    assert bounds[0][0] > bounds[1][0] > bounds[2][0] >= 1.0
    assert bounds[0][1] > bounds[1][1] > bounds[2][1]
    assert "jit_compile=True helps if an iteration has few numbers" in carried.advice
    assert "without the runtime in between" not in carried.advice


def test_silent_where_xla_compiles() -> None:
    assert found(a_function(a_loop(), jit_compile=True)) == []


def test_a_machine_that_was_too_busy_to_be_measured_has_the_usual_rate() -> None:
    assert found(a_function(a_loop()), machine_gflops=None) != []
    assert found(a_function(a_loop(flops=3.3e9)), machine_gflops=None) == []


def test_what_else_the_function_does_counts() -> None:
    (finding,) = found(a_function(a_loop(), flops=1e9))  # 14 ms at least besides
    assert finding.share_of_step < 0.75
    assert found(a_function(a_loop(), flops=1e12)) == []


def test_turns_that_depend_on_data() -> None:
    """Time that the rest can't explain is the loop's, unless it is called an unknown number of times."""
    loop = a_loop(turns=None)
    (finding,) = found(a_function(loop))
    assert finding.title == "tf.map_fn in prepare runs many tiny iterations"
    assert found(a_function(loop, outside_measured=False)) == []
    inner = SOURCE.replace("    out = prepare(rows)", "    [prepare(rows) for rows in parts]")
    assert found(a_function(loop), source=inner) == []


def test_a_trace_tells_where_sizes_are_open() -> None:
    loop = a_loop(measured=False, turns=None)
    rows = [op("Mean", 40.0, count=50_000, name="map/while/body/_1/map/while/Mean"), op("MatMul", 20.0)]
    (finding,) = found(a_function(loop, flops=None), ops=rows)
    assert finding.share_of_step > 0.8
    busy = [op("Mean", 1500.0, count=50_000, name="map/while/body/_1/map/while/Mean")]
    assert found(a_function(loop, flops=None), ops=busy) == []
    slow = [op("Mean", 1500.0, count=3_000, name="map/while/body/_1/map/while/Mean")]
    assert found(a_function(a_loop()), ops=slow) == [], "what ran counts for more than what sizes say"


@pytest.mark.parametrize("put_in", ["", "StatefulPartitionedCall/"])  # as in a step of ``fit``
def test_turns_of_which_the_trace_has_nothing_are_cheap_where_whole_calls_are_in_it(put_in: str) -> None:
    loop = a_loop(measured=False, turns=None)
    around = [
        op("TensorListFromTensor", 4.0, count=8, name=f"{put_in}map/TensorArrayUnstack/TensorListFromTensor"),
        op("TensorListStack", 4.0, count=8, name=f"{put_in}map/TensorArrayV2Stack/TensorListStack"),
    ]
    (finding,) = found(a_function(loop, flops=None), ops=around)
    assert finding.code == "GRF005" and finding.share_of_step > 0.8
    assert found(a_function(loop, flops=None), ops=around[:1]) == [], "the trace ended within the call"
    assert found(a_function(loop, flops=None), ops=[*around, op("MatMul", 1500.0)]) == [], "others take the time"


def test_a_kernel_that_takes_long_to_start_is_no_work() -> None:
    """30 us for 400 numbers, as oneDNN's softmax takes: a whole batch of them takes no longer."""
    starts = [op("Softmax", 1500.0, count=50_000, name="map/while/body/_1/map/while/Softmax")]
    (finding,) = found(a_function(a_loop()), ops=starts)
    assert finding.code == "GRF005"
    assert found(a_function(a_loop(flops=3.3e7)), ops=starts) == [], "a product of 256 x 256"


def test_a_trace_tells_where_the_runtime_may_be_slow_or_quick() -> None:
    """Small products: at the slowest rate they take 8 us of an iteration, over which the runtime takes 7 to 50."""
    loop = a_loop(flops=8000.0, whole_flops=1.6e7)
    assert found(a_function(loop)) == []
    rows = [op("MatMul", 40.0, count=50_000, name="map/while/body/_1/map/while/MatMul"), op("MatMul", 20.0)]
    (finding,) = found(a_function(loop), ops=rows)
    assert finding.code == "GRF005" and finding.where[0].line == 4
    assert found(a_function(a_loop(flops=3.3e7)), ops=rows) == []
    assert found(a_function(loop), ops=[rows[1]]) == [], "hardly seen in the trace"


def test_the_inner_of_two_loops_and_a_function_called_again_elsewhere() -> None:
    outer = a_loop(name="while", operations=20_000.0, elements=8e5, flops=6e5)
    inner = a_loop(around="while", goes=100.0)
    source = SOURCE.replace("return tf.map_fn(scale, rows)", "for i in tf.range(9): tf.foldl(f, i)")
    (finding,) = found(a_function(outer, inner, callers=[SourceSpan(FILE, 1)]), source=source)
    assert finding.title.startswith("tf.foldl") and "cumsum" in finding.advice
    assert found(a_function(inner, function="other", callers=[SourceSpan(FILE, 1)]), source=source) == []


def test_a_for_loop_of_autograph() -> None:
    source = SOURCE.replace("return tf.map_fn(scale, rows)", "for i in tf.range(9): rows = scale(rows)")
    (finding,) = found(a_function(a_loop()), source=source)
    assert finding.title.startswith("the for loop in prepare") and "jit_compile=True" in finding.advice


EVALUATED = """import tensorflow as tf
@tf.function
def prepare(rows):
    return tf.map_fn(scale, rows)
model.compile(loss=prepare)
model.evaluate(rows, labels)
"""


@pytest.mark.parametrize("in_python", [40, 900])
def test_a_loop_in_the_compiled_function_of_evaluate(in_python: int) -> None:
    """The account has the call as one part; samples show how much of it compiled functions take."""
    stacks = [
        sampled(360, "graph", frame(6), context="evaluate"),
        sampled(in_python, "python", frame(6), context="evaluate"),
        sampled(300, "waiting", frame(6)),
    ]
    function = a_function(a_loop(turns=2000 * 100))
    given = work_evidence(EVALUATED, stacks, call=6, functions=graphs(function))
    findings = list(small_loops(given))
    assert len(findings) == 1
    assert findings[0].share_of_step == pytest.approx(0.95 * 360 / (660 + in_python), rel=0.08)


def test_a_validation_between_other_work_is_not_the_work() -> None:
    stacks = [sampled(100, "graph", frame(6), context="evaluate"), sampled(300, "graph", frame(5))]
    given = work_evidence(EVALUATED, stacks, call=5, functions=graphs(a_function(a_loop())))
    assert list(small_loops(given)) == []
