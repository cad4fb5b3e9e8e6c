"""GRF035 on graphs that TensorFlow traces: loops that add single elements to a large tensor, and loops like them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from evidence_builder import FILE
from graph_causes import causes_in, offer_causes
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph.added_in_loop import AddedInLoop, CopiedToAdd
from tfprof_builder import brief

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished
from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls
from tfperfkit.rule import Evidence


def added(body: Any, going: Any = lambda i, x, whole: i < 500) -> list[AddedInLoop]:
    """Return the rule's causes in a loop over a number, a row of eight numbers and a tensor of 500 rows."""

    def step(places: Any, values: Any) -> Any:
        def inside(i: Any, x: Any, whole: Any) -> Any:
            return body(i, x, whole, places, values)

        return tf.while_loop(going, inside, (0, values[0], tf.zeros([500, 8])))

    kinds = tf.TensorSpec([500, 1], tf.int32), tf.TensorSpec([500, 8])
    return find(tf.function(step).get_concrete_function(*kinds))


def find(traced: Any) -> list[AddedInLoop]:
    graphs: dict[str, Graph] = {}
    for record in read_finished(traced.graph, "step", lambda file: True):
        graphs[record.name] = Graph(record, graphs.get)
    return [cause for cause in causes_in(graphs["step"]) if isinstance(cause, AddedInLoop)]


def scatter_one(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.tensor_scatter_nd_add(whole, places[i][None], tf.tanh(values[i])[None])


def scatter_and_sum(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, whole + tf.scatter_nd(places[i][None], values[i][None], [500, 8])


def scatter_a_state(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x + values[i])
    return i + 1, x, tf.tensor_scatter_nd_max(whole, places[i][None], x[None])


def write_row(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.tensor_scatter_nd_update(whole, [[i]], x[None])


def where_one_hot(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.where(tf.reshape(tf.one_hot(i, 500) > 0, [500, 1]), x[None], whole)


def where_the_range_is_it(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, tf.where(tf.equal(tf.range(500), i)[:, None], x[None], whole)


def where_now_and_then(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x)
    mask = tf.reshape(tf.one_hot(i, 500) > 0, [500, 1])
    return i + 1, x, tf.cond(i % 2 < 1, lambda: tf.where(mask, x[None], whole), lambda: whole)


def product_with_one_hot(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    x = tf.tanh(x)
    return i + 1, x, whole + tf.one_hot(i, 500)[:, None] * x[None]


@needs_tensorflow
@pytest.mark.parametrize("body", [where_one_hot, where_the_range_is_it, where_now_and_then])
def test_a_row_that_a_mask_of_one_place_writes(body: Any) -> None:
    (cause,) = added(body)
    assert (cause.iterations, cause.numbers, cause.name, cause.alone) == (500, 4000, "tf.where", False)
    assert cause.in_place and cause.left is not None and cause.left <= 0.1


@needs_tensorflow
def test_a_product_with_a_one_hot_row_is_added() -> None:
    (cause,) = added(product_with_one_hot)
    assert (cause.name, cause.in_place) == ("Adding tf.one_hot times a row", False)


@needs_tensorflow
@pytest.mark.parametrize(
    ("body", "alone", "in_place"),
    [
        (scatter_one, True, False),
        (scatter_and_sum, True, False),
        (scatter_a_state, False, False),
        (write_row, False, True),
    ],
)
def test_a_tensor_that_only_changes_a_little_in_each_iteration(body: Any, alone: bool, in_place: bool) -> None:
    (cause,) = added(body)
    assert (cause.iterations, cause.numbers, cause.alone, cause.in_place) == (500, 4000, alone, in_place)
    assert cause.left is not None and cause.left <= 0.1
    assert cause.where is not None and cause.where.file == __file__


@needs_tensorflow
def test_a_for_loop_of_autograph() -> None:
    def step(places: Any, values: Any) -> Any:
        whole = tf.zeros([500, 8])
        rows = tf.zeros([500, 8])
        for i in tf.range(100, 600):
            row = tf.tanh(values[i])
            whole = tf.tensor_scatter_nd_add(whole, places[i][None], row[None])
            rows = tf.tensor_scatter_nd_update(rows, [[i - 100]], row[None])
        return whole, rows

    kinds = tf.TensorSpec([600, 1], tf.int32), tf.TensorSpec([600, 8])
    (cause,) = find(tf.function(step).get_concrete_function(*kinds))
    assert (cause.iterations, cause.name) == (500, "tf.tensor_scatter_nd_add")


def read_it(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.tensor_scatter_nd_add(whole, places[i][None], tf.tanh(whole[i])[None])


def read_the_new_one(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    whole = tf.tensor_scatter_nd_add(whole, places[i][None], values[i][None])
    return i + 1, tf.reduce_sum(whole, 0), whole


def write_a_given_row(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    """Two iterations may write the same row."""
    return i + 1, x, tf.tensor_scatter_nd_update(whole, places[i][None], values[i][None])


def add_all_rows(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, whole + tf.tanh(values) * tf.cast(i, tf.float32)


def where_many(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.where((tf.range(500) < i)[:, None], x[None], whole)


def where_all_but_one(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.where(tf.equal(tf.one_hot(i, 500), 0.0)[:, None], x[None], whole)


def where_all_rows_are_new(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.where(tf.reshape(tf.one_hot(i, 500) > 0, [500, 1]), tf.tanh(values), whole)


def where_both_branches_write(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    mask = tf.reshape(tf.one_hot(i, 500) > 0, [500, 1])
    return i + 1, x, tf.cond(i % 2 < 1, lambda: tf.where(mask, x[None], whole), lambda: tf.tanh(whole))


def where_it_is_read_in_the_branch(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    mask = tf.reshape(tf.one_hot(i, 500) > 0, [500, 1])
    return i + 1, x, tf.cond(i % 2 < 1, lambda: tf.where(mask, tf.tanh(whole[:1]), whole), lambda: whole)


def add_many(i: Any, x: Any, whole: Any, places: Any, values: Any) -> Any:
    return i + 1, x, tf.tensor_scatter_nd_add(whole, places[:100], values[:100])


@needs_tensorflow
@pytest.mark.parametrize(
    "body",
    [
        read_it,
        read_the_new_one,
        write_a_given_row,
        add_all_rows,
        add_many,
        where_many,
        where_all_but_one,
        where_all_rows_are_new,
        where_both_branches_write,
        where_it_is_read_in_the_branch,
    ],
)
def test_a_loop_that_needs_the_tensor_or_changes_much_of_it(body: Any) -> None:
    assert added(body) == []


@needs_tensorflow
def test_a_loop_that_goes_on_by_the_values_of_the_tensor() -> None:
    assert added(scatter_one, lambda i, x, whole: tf.reduce_sum(whole) < 500.0) == []


@needs_tensorflow
@pytest.mark.parametrize("first", [True, False])
def test_a_sparse_tensor_that_grows(first: bool) -> None:
    def step(places: Any, values: Any) -> Any:
        def body(i: Any, whole: Any) -> Any:
            one = tf.SparseTensor(places[i][None], values[i][None], [90, 90])
            return i + 1, tf.sparse.add(*((whole, one) if first else (one, whole)))

        start = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [90, 90])
        shapes = tf.TensorShape([]), tf.TensorShape([2])
        return tf.while_loop(lambda i, whole: i < 500, body, (0, start), shape_invariants=shapes)

    kinds = tf.TensorSpec([500, 2], tf.int64), tf.TensorSpec([500])
    (cause,) = find(tf.function(step).get_concrete_function(*kinds))
    assert cause.name == "tf.sparse.add" and cause.alone and cause.left is not None and cause.left <= 0.1


HERE = SourceSpan(FILE, 20, "count")
CAUSE = AddedInLoop(
    where=HERE,
    operations=["while/TensorScatterAdd"],
    left=0.01,
    iterations=500,
    numbers=4000,
    name="tf.tensor_scatter_nd_add",
    alone=True,
    in_place=False,
)


def step(ms: float, cause: AddedInLoop = CAUSE) -> Evidence:
    """Make a step in which the operation takes so long, with 4 ms of other operations."""
    scatter = msgspec.structs.replace(ran("TensorScatterAdd", ms, runs=500), of=cause.operations[0], file=FILE, line=20)
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    more = (calls, OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", cause))
    return compiled((scatter, ran("MatMul", 4.0)), more=more)


def test_the_finding_names_the_line_and_how_to_add_at_once() -> None:
    (finding,) = CopiedToAdd()(step(6.0))
    assert (finding.code, finding.where[0]) == ("GRF035", HERE)
    assert "once" in finding.advice and "without the loop" in finding.advice
    (carried,) = CopiedToAdd()(step(6.0, msgspec.structs.replace(CAUSE, alone=False)))
    assert "tf.TensorArray" in carried.advice and "without the loop" not in carried.advice
    (rows,) = CopiedToAdd()(step(6.0, msgspec.structs.replace(CAUSE, in_place=True)))
    assert "rows.write(i, row)" in rows.advice


def test_a_quick_one_is_left_alone() -> None:
    assert list(CopiedToAdd()(step(0.2))) == []
