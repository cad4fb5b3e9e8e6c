"""GRF034 on graphs that TensorFlow traces: a loop that only appends, and loops that resemble it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from evidence_builder import FILE
from graph_causes import causes_in, offer_causes
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph.appended import AppendedInLoop, AppendedTensor
from tfprof_builder import brief

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished
from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls
from tfperfkit.rule import Evidence


def appended(body: Any, going: Any = lambda i, x, rows: i < 500, first: int = 1) -> list[AppendedTensor]:
    """Return the rule's causes in a loop over a number, a row of eight numbers and the rows so far."""

    def step(x: Any) -> Any:
        shapes = (tf.TensorShape([]), tf.TensorShape([8]), tf.TensorShape([None, 8]))
        return tf.while_loop(going, body, (0, x, tf.zeros([first, 8])), shape_invariants=shapes)

    traced = tf.function(step).get_concrete_function(tf.TensorSpec([8]))
    graphs: dict[str, Graph] = {}
    for record in read_finished(traced.graph, "step", lambda file: True):
        graphs[record.name] = Graph(record, graphs.get)
    return [cause for cause in causes_in(graphs["step"]) if isinstance(cause, AppendedTensor)]


def append(i: Any, x: Any, rows: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.concat([rows, x[None]], 0)


@needs_tensorflow
@pytest.mark.parametrize(
    ("going", "iterations"), [(lambda i, x, rows: i < 500, 500), (lambda i, x, rows: tf.shape(rows)[0] < 500, 0)]
)
def test_a_tensor_that_is_only_appended_to(going: Any, iterations: int) -> None:
    (cause,) = appended(append, going, first=0)
    assert cause.iterations == iterations and cause.left is not None and cause.left <= 0.1
    assert cause.where is not None and cause.where.file == __file__


def put_before(i: Any, x: Any, rows: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.concat([x[None], rows], 0)


def read_the_last(i: Any, x: Any, rows: Any) -> Any:
    x = tf.tanh(x + rows[-1])
    return i + 1, x, tf.concat([rows, x[None]], 0)


def read_the_result(i: Any, x: Any, rows: Any) -> Any:
    rows = tf.concat([rows, tf.tanh(x)[None]], 0)
    return i + 1, tf.reduce_mean(rows, 0), rows


def move_on(i: Any, x: Any, rows: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.concat([rows[1:], x[None]], 0)


def append_again(i: Any, x: Any, rows: Any) -> Any:
    return i + 1, x, tf.concat([rows, rows], 0)


@needs_tensorflow
def test_rows_that_are_put_before_the_others() -> None:
    (cause,) = appended(put_before)
    assert cause.before and cause.iterations == 500
    (finding,) = AppendedInLoop()(step(6.0, msgspec.structs.replace(CAUSE, before=True)))
    assert "rows.write(n - 1 - i, row)" in finding.advice and "[row[None], rows]" in finding.advice


@needs_tensorflow
@pytest.mark.parametrize("body", [read_the_last, read_the_result, move_on, append_again])
def test_a_loop_that_needs_the_tensor(body: Any) -> None:
    assert appended(body) == []


@needs_tensorflow
def test_a_loop_that_goes_on_by_the_values_of_the_tensor() -> None:
    assert appended(append, lambda i, x, rows: tf.reduce_sum(rows) < 500.0) == []


HERE = SourceSpan(FILE, 20, "rollout")
CAUSE = AppendedTensor(where=HERE, operations=["while/concat"], left=0.008, iterations=500)


def step(ms: float, cause: AppendedTensor = CAUSE) -> Evidence:
    """Make a step in which the concatenation takes so long, with 4 ms of other operations."""
    concat = msgspec.structs.replace(ran("ConcatV2", ms, runs=500), of="while/concat", file=FILE, line=20)
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    more = (calls, OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", cause))
    return compiled((concat, ran("MatMul", 4.0)), more=more)


def test_the_finding_names_the_line_and_its_gain() -> None:
    (finding,) = AppendedInLoop()(step(6.0))
    assert (finding.code, finding.where[0]) == ("GRF034", HERE)
    assert "tf.TensorArray" in finding.advice
    assert [row.value for row in finding.evidence if row.name == "iterations"] == [500]
    assert finding.gain.bounds is not None and 1.5 < finding.gain.bounds[0] < finding.gain.bounds[1] < 3


def test_a_short_concatenation_is_left_alone() -> None:
    assert list(AppendedInLoop()(step(0.2))) == []
