"""Wasted work in graphs that TensorFlow itself traced, written in the ways in which people write it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from tfperfkit_probes.ops.graph import Graph
from tfperfkit_probes.ops.model import CallsRecord, Wasted
from tfperfkit_probes.ops.waste import wasted

from tfperfkit.instruments.graphs.snapshot import contents_of

tf = pytest.importorskip("tensorflow")
Makes = Callable[..., Any]


def found(function: Makes, *shapes: Any, batch: int | None = None) -> list[Wasted]:
    """What is wasted in a function of tensors of these shapes (``"i8000"``: integers), and in its gradient."""
    specs = [
        tf.TensorSpec([int(shape[1:])], tf.int32)
        if isinstance(shape, str)
        else shape
        if isinstance(shape, tf.TensorSpec)
        else tf.TensorSpec(shape, tf.float32)
        for shape in shapes
    ]

    for width in (16, 5000):
        dense(width, use_bias=False)
        dense(width, activation="relu")

    @tf.function(autograph=False)
    def step(*tensors: Any) -> Any:
        floats = [each for each in tensors if each.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            result = function(*tensors)
        return result, tape.gradient(result, floats)

    concrete = step.get_concrete_function(*specs)
    records = list(contents_of(concrete.graph, "step", lambda name: False, lambda file: True))
    graphs: dict[str, Graph] = {}
    graphs.update({each.name: Graph(each, graphs.get) for each in records})
    return wasted(graphs["step"], batch)


def kinds(function: Makes, *shapes: Any, batch: int | None = None) -> set[str]:
    return {each.kind for each in found(function, *shapes, batch=batch)}


LONG = (4, 2000)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reduce_sum(tf.sort(x, axis=1, direction="DESCENDING")[:, :50]),
        lambda x: tf.sort(x)[..., :20],
        lambda x: tf.sort(x, direction="DESCENDING")[:, 9:10],
        lambda x: tf.sort(x)[:, -5:],
        lambda x: tf.math.top_k(x, k=tf.shape(x)[-1]).values[:, :3],
        lambda x: tf.gather(x[0], tf.argsort(x[0], direction="DESCENDING")[:10]),
        lambda x: tf.slice(tf.sort(x), [0, 0], [-1, 7]),
        lambda x: tf.keras.ops.sort(x)[:, :4],
        lambda x: tf.transpose(tf.sort(tf.transpose(x), axis=0))[:, :4],
        lambda x: tf.stack([tf.sort(x)[:, 0], tf.sort(x)[:, 1]]),
    ],
)
def test_a_sort_for_the_first_few(function: Makes) -> None:
    assert kinds(function, LONG) == {"sort"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.sort(x),
        lambda x: tf.sort(x)[:, 1:] - tf.sort(x)[:, :-1],
        lambda x: tf.sort(x)[:, ::2],
        lambda x: tf.sort(x)[:, 1000],  # a median
        lambda x: tf.sort(x)[:2],  # of some rows all
        lambda x: tf.math.top_k(x, k=50).values,
        lambda x: tf.sort(x)[:, : tf.cast(tf.reduce_sum(x), tf.int32)],
        lambda x: tf.reduce_sum(tf.sort(x)[:, :5]) + tf.reduce_sum(tf.sort(x, name="all") * 2.0),
    ],
)
def test_a_sort_that_is_needed(function: Makes) -> None:
    assert "sort" not in {each.kind for each in found(function, LONG) if each.figures["used"] > 5}


TABLE = (5000, 16)


@functools.cache
def dense(width: int, **options: Any) -> Any:
    """A layer whose variables are made before the function is traced."""
    layer = tf.keras.layers.Dense(8, **options)
    layer.build((None, width))
    return layer


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, table: tf.one_hot(ids, 5000) @ table,
        lambda ids, table: tf.einsum("nv,vd->nd", tf.one_hot(ids, 5000), table),
        lambda ids, table: tf.matmul(tf.cast(ids[:, None] == tf.range(5000), tf.float32), table),
        lambda ids, table: dense(5000, use_bias=False)(tf.one_hot(ids, 5000)),
        lambda ids, table: dense(5000, activation="relu")(tf.one_hot(tf.reshape(ids, [30, 10]), 5000)),
        lambda ids, table: tf.keras.ops.one_hot(ids, 5000) @ table,
        lambda ids, table: tf.tensordot(tf.one_hot(ids, 5000), table, 1),
        lambda ids, table: tf.reduce_sum(tf.one_hot(ids, 5000)[..., None] * table[None], 1),
        lambda ids, table: tf.reduce_sum(tf.where(ids[:, None] == tf.range(5000), table[:, 0][None], 0.0), 1),
    ],
)
def test_a_table_looked_up_by_a_product(function: Makes) -> None:
    assert kinds(function, "i300", TABLE) == {"spread"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, x: tf.matmul(tf.one_hot(ids, 500), x, transpose_a=True),
        lambda ids, x: tf.einsum("nk,nd->kd", tf.one_hot(ids, 500), x),
        lambda ids, x: tf.reduce_sum(tf.where(ids[:, None] == tf.range(500)[None], x[:, :1], 0.0), 0),
        lambda ids, x: tf.reduce_sum(tf.cast(tf.equal(ids[:, None], tf.range(500)), tf.float32) * x[:, 0][:, None], 0),
        lambda ids, x: tf.reduce_sum(tf.one_hot(ids, 500)[:, :, None] * x[:, None, :], 0),
        lambda ids, x: tf.reduce_max(tf.where(ids[:, None] == tf.range(500), x[:, :1], -1e9), axis=0),
    ],
)
def test_sums_by_group_by_way_of_a_mask(function: Makes) -> None:
    assert kinds(function, "i3000", (3000, 16)) == {"spread"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, x: tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(ids, 500), x @ tf.ones([16, 500])),
        lambda ids, x: tf.reduce_sum(tf.one_hot(ids, 500) * tf.nn.log_softmax(x @ tf.ones([16, 500])), 1),
        lambda ids, x: tf.where(ids[:, None] == ids[None, :], x @ tf.transpose(x), -1e9),
        lambda ids, x: tf.one_hot(ids, 4) @ tf.ones([4, 8]),  # few classes
        lambda ids, x: tf.one_hot(ids, 500),
        lambda ids, x: tf.gather(x, ids),
        lambda ids, x: tf.concat([tf.one_hot(ids, 500), x], 1) @ tf.ones([516, 4]),
    ],
)
def test_a_mask_that_is_needed(function: Makes) -> None:
    assert "spread" not in kinds(function, "i3000", (3000, 16))


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b, v: a @ b @ v, ((800, 800), (800, 800), (800, 1))),
        (lambda a, b, v: tf.linalg.matvec(tf.matmul(a, b), v[:, 0]), ((800, 800), (800, 800), (800, 1))),
        (lambda q, k, v: tf.matmul(q, k, transpose_b=True) @ v, ((2, 900, 16), (2, 900, 16), (2, 900, 16))),
        (
            lambda q, k, v: tf.einsum("bij,bjd->bid", tf.einsum("bid,bjd->bij", q, k), v),
            ((2, 900, 16), (2, 900, 16), (2, 900, 16)),
        ),
        (
            lambda q, k, v: tf.einsum("bhij,bhjd->bhid", tf.einsum("bhid,bhjd->bhij", q, k) / 4.0, v),
            ((2, 4, 900, 16), (2, 4, 900, 16), (2, 4, 900, 16)),
        ),
        (
            lambda q, k, v: (q @ tf.transpose(k) * 0.25) @ v / tf.reduce_sum(q @ tf.transpose(k), -1, keepdims=True),
            ((900, 16), (900, 16), (900, 16)),
        ),
        (lambda a, b, v: tf.matmul(v, a @ b, transpose_a=True), ((800, 800), (800, 800), (800, 1))),
        (lambda a, b, v: tf.keras.ops.matmul(tf.keras.ops.matmul(a, b), v), ((800, 800), (800, 800), (800, 2))),
    ],
)
def test_products_in_a_costly_order(function: Makes, shapes: Any) -> None:
    assert kinds(function, *shapes) == {"order"}


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b, v: a @ (b @ v), ((800, 800), (800, 800), (800, 1))),
        (lambda q, k, v: tf.nn.softmax(q @ tf.transpose(k)) @ v, ((900, 16), (900, 16), (900, 16))),
        (lambda q, k, v: tf.linalg.band_part(q @ tf.transpose(k), -1, 0) @ v, ((900, 16), (900, 16), (900, 16))),
        (lambda a, b, v: (c := a @ b) @ v + tf.reduce_sum(tf.abs(c)), ((800, 800), (800, 800), (800, 1))),
        (lambda a, b, c: a @ b @ c, ((64, 64), (64, 64), (64, 64))),
        (lambda x, a, b: tf.nn.relu(x @ a) @ b, ((32, 800), (800, 800), (800, 4))),
    ],
)
def test_products_whose_order_is_right_or_needed(function: Makes, shapes: Any) -> None:
    assert not kinds(function, *shapes)


POINTS = ((700, 16), (90, 16))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: tf.reduce_sum(tf.square(a[:, None] - b[None]), -1),
        lambda a, b: tf.reduce_sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2),
        lambda a, b: tf.norm(tf.expand_dims(a, 1) - tf.expand_dims(b, 0), axis=-1),
        lambda a, b: tf.exp(-tf.reduce_mean(tf.math.squared_difference(a[:, None], b), -1)),
        lambda a, b: tf.reduce_sum((d := a[:, None] - b) * d, -1),
        lambda a, b: tf.einsum("nmd,nmd->nm", d := a[:, None] - b, d),
        lambda a, b: tf.reduce_sum(tf.square(a[:, None] - b) / tf.abs(b[0]), -1),
        lambda a, b: tf.keras.ops.sum(tf.keras.ops.square(a[:, None] - b), -1),
        lambda a, b: tf.sqrt(tf.reduce_sum(tf.square(a[:, None] - a[None]), -1) + 1e-6),
    ],
)
def test_distances_by_way_of_all_differences(function: Makes) -> None:
    assert kinds(function, *POINTS) == {"pairs"}


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: (d := a[:, None] - b) / tf.norm(d, axis=-1, keepdims=True),  # directions
        lambda a, b: tf.reduce_sum(tf.abs(a[:, None] - b), -1),  # no product has these sums
        lambda a, b: tf.reduce_sum(tf.square(a - b[0]), -1),
        lambda a, b: tf.reduce_sum(tf.square(a[:, None] - b), [0, 1]),
        lambda a, b: tf.reduce_sum(a * a, -1)[:, None] - 2 * a @ tf.transpose(b) + tf.reduce_sum(b * b, -1),
        lambda a, b: tf.reduce_max(tf.square(a[:, None] - b), -1),
    ],
)
def test_differences_that_are_needed(function: Makes) -> None:
    assert "pairs" not in kinds(function, *POINTS)


ROWS = (5000, 16)


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, t: tf.gather(tf.math.l2_normalize(t, axis=1), ids),
        lambda ids, t: tf.gather(tf.nn.relu(t @ tf.ones([16, 16]) + 1.0), ids),
        lambda ids, t: tf.gather(dense(16, activation="relu")(t), ids),
        lambda ids, t: tf.keras.ops.take(tf.nn.softmax(t), ids, axis=0),
        lambda ids, t: tf.nn.embedding_lookup(t / tf.reduce_max(tf.abs(t), 1, keepdims=True), ids),
        lambda ids, t: tf.gather((t - tf.reduce_mean(t, 1, keepdims=True)) * tf.ones([16]), ids),
        lambda ids, t: tf.gather(tf.concat([t, tf.square(t)], 1), tf.reshape(ids, [10, 30])),
        lambda ids, t: (n := tf.tanh(t)) is not None and tf.gather(n, ids) * tf.gather(n, ids + 1),
    ],
)
def test_a_table_that_is_computed_whole_and_looked_up(function: Makes) -> None:
    assert kinds(function, "i300", ROWS) == {"table"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, t: tf.math.l2_normalize(tf.gather(t, ids), axis=1),
        lambda ids, t: tf.gather(n := tf.tanh(t), ids) @ tf.transpose(n),  # all rows are needed
        lambda ids, t: tf.gather(tf.cumsum(t), ids),
        lambda ids, t: tf.gather(tf.nn.softmax(t, axis=0), ids),
        lambda ids, t: tf.gather(tf.tanh(t), tf.range(4000)),  # most rows
        lambda ids, t: tf.gather(tf.tanh(t), [1, 2, 3], axis=1),
    ],
)
def test_a_table_of_which_all_rows_are_needed(function: Makes) -> None:
    assert "table" not in kinds(function, "i300", ROWS)


FEW = (20, 16)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: dense(16, activation="relu")(tf.repeat(x, 50, axis=0)),
        lambda x: dense(16, activation="relu")(tf.tile(x, [50, 1])),
        lambda x: tf.nn.relu(tf.tile(x[:, None], [1, 50, 1]) @ tf.ones([16, 8])),
        lambda x: tf.einsum("nmd,dk->nmk", tf.tile(x[:, None], [1, 50, 1]), tf.ones([16, 8])),
        lambda x: tf.keras.ops.repeat(x, 50, axis=0) @ tf.ones([16, 8]) + 1.0,
        lambda x: dense(16, use_bias=False)(tf.broadcast_to(x[:, None], [20, 50, 16])),
        lambda x: dense(16, use_bias=False)(tf.keras.layers.RepeatVector(50)(x)),
    ],
)
def test_rows_that_are_repeated_before_a_network(function: Makes) -> None:
    assert kinds(function, FEW) == {"repeats"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.repeat(x @ tf.ones([16, 8]), 50, axis=0),
        lambda x: (tf.tile(x, [50, 1]) + tf.random.normal([1000, 16])) @ tf.ones([16, 8]),  # each row is another one
        lambda x: tf.tile(x, [1, 50]) @ tf.ones([800, 8]),  # columns
        lambda x: tf.tile(x, [2, 1]) @ tf.ones([16, 8]),
        lambda x: tf.matmul(tf.tile(x, [50, 1]), tf.tile(x, [50, 1]), transpose_a=True),  # a sum over rows
        lambda x: tf.concat([tf.tile(x, [50, 1]), tf.random.normal([1000, 16])], 1) @ tf.ones([32, 8]),
    ],
)
def test_rows_that_must_be_repeated_first(function: Makes) -> None:
    assert "repeats" not in kinds(function, FEW)


def expert(x: Any, number: int) -> Any:
    return tf.nn.relu(x @ (tf.ones([16, 32]) * number)) @ tf.ones([32, 16])


def chosen(which: Any, x: Any) -> Any:
    out = tf.zeros_like(x)
    for number in range(6):
        out = tf.where(tf.equal(which, number)[:, None], expert(x, number), out)
    return out


def summed(which: Any, x: Any) -> Any:
    return tf.add_n([tf.cast(which == n, tf.float32)[:, None] * expert(x, n) for n in range(6)])


def added(which: Any, x: Any) -> Any:
    out = 0.0
    for n in range(6):
        out += expert(x, n) * tf.expand_dims(tf.cast(tf.equal(which, n), x.dtype), -1)
    return out


def gathered(which: Any, x: Any) -> Any:
    return tf.gather(tf.stack([expert(x, n) for n in range(6)], 1), which, axis=1, batch_dims=1)


def by_one_hot(which: Any, x: Any) -> Any:
    every = tf.stack([expert(x, n) for n in range(6)], axis=1)
    return tf.reduce_sum(every * tf.one_hot(which, 6)[:, :, None], axis=1)


def in_einsum(which: Any, x: Any) -> Any:
    every = tf.stack([expert(x, n) for n in range(6)], axis=1)
    return tf.einsum("nk,nkd->nd", tf.one_hot(which, 6), every)


@pytest.mark.parametrize("function", [chosen, summed, added, gathered, by_one_hot, in_einsum])
def test_all_experts_for_all_rows(function: Makes) -> None:
    assert kinds(function, "i200", (200, 16)) == {"picked"}


def weighted(which: Any, x: Any) -> Any:
    gates = tf.nn.softmax(x @ tf.ones([16, 6]))
    return tf.add_n([gates[:, n : n + 1] * expert(x, n) for n in range(6)])


def two(which: Any, x: Any) -> Any:
    return tf.where(tf.equal(which, 0)[:, None], expert(x, 0), expert(x, 1))


def not_networks(which: Any, x: Any) -> Any:
    out = x
    for n in range(6):
        out = tf.where(tf.equal(which, n)[:, None], x * float(n), out)
    return out


def used_again(which: Any, x: Any) -> Any:
    every = [expert(x, n) for n in range(6)]
    return gathered(which, x) * 0.0 + tf.add_n(every) if x is None else tf.add_n(every)


@pytest.mark.parametrize("function", [weighted, two, not_networks, used_again])
def test_experts_that_are_needed(function: Makes) -> None:
    assert "picked" not in kinds(function, "i200", (200, 16))


MATRIX = tf.eye(240) * 3.0


def marched(b: Any) -> Any:
    def turn(i: Any, field: Any) -> Any:
        return i + 1, tf.linalg.solve(MATRIX + 1.0, field)

    return tf.while_loop(lambda i, field: i < 10, turn, [0, b])[1]


def stepped(a: Any, b: Any) -> Any:
    system = tf.eye(240) + 0.1 * a
    return tf.while_loop(lambda i, f: i < 10, lambda i, f: (i + 1, tf.linalg.solve(system, f)), [0, b])[1]


def scanned(a: Any, b: Any) -> Any:
    return tf.scan(lambda state, row: tf.linalg.inv(a) @ state + row, tf.ones([8, 240, 1]), b)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda b: tf.linalg.solve(MATRIX, b), ((240, 4),)),
        (lambda b: tf.linalg.inv(MATRIX * 2.0 + tf.eye(240)) @ b, ((240, 4),)),
        (lambda b: tf.linalg.cholesky_solve(tf.linalg.cholesky(MATRIX), b), ((240, 4),)),
        (lambda b: b * tf.linalg.logdet(MATRIX), ((240, 4),)),
        (marched, ((240, 4),)),
        (stepped, ((240, 240), (240, 4))),
        (scanned, ((240, 240), (240, 1))),
    ],
)
def test_a_matrix_that_stays(function: Makes, shapes: Any) -> None:
    assert kinds(function, *shapes) == {"solve"}


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b: tf.linalg.solve(a, b), ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.inv(MATRIX + tf.random.normal([240, 240])) @ b, ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.cholesky(tf.matmul(a, a, transpose_a=True) + MATRIX) @ b, ((240, 240), (240, 4))),
        (
            lambda a, b: tf.while_loop(lambda i, m: i < 10, lambda i, m: (i + 1, tf.linalg.inv(m) + a), [0, a])[1],
            ((240, 240), (240, 4)),
        ),
        (lambda a, b: tf.linalg.triangular_solve(MATRIX, b), ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.solve(MATRIX[:50, :50], b[:50]), ((240, 240), (240, 4))),  # small
    ],
)
def test_a_matrix_that_changes(function: Makes, shapes: Any) -> None:
    assert "solve" not in kinds(function, *shapes)


def assigned(makes: Makes, rows: int = 5000) -> Makes:
    """A function that assigns to a variable what ``makes`` makes of it and of its rows."""
    held = tf.Variable(tf.zeros((rows, 8)), trainable=False)

    def function(x: Any) -> Any:
        held.assign(makes(held, x))
        return tf.reduce_sum(x)

    return function


@pytest.mark.parametrize(
    "makes",
    [
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4)[:, None], x),
        lambda v, x: tf.tensor_scatter_nd_add(v, tf.random.uniform((4, 1), 0, 5000, tf.int32), x),
        lambda v, x: tf.keras.ops.scatter_update(v, tf.range(4)[:, None], x),
        lambda v, x: tf.concat([v[4:], x], 0),
        lambda v, x: tf.concat([x, v[:-4]], 0),
        lambda v, x: tf.keras.ops.concatenate([x, v[:-4]], axis=0),
    ],
)
def test_a_variable_that_is_copied_to_write_rows(makes: Makes) -> None:
    (one,) = found(assigned(makes), (4, 8))
    assert one.kind == "copied"
    assert (one.figures["rows"], one.figures["written"]) == (5000, 4)
    assert one.left == pytest.approx(4 / 5000)


@pytest.mark.parametrize(
    "makes",
    [
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4)[:, None], x) * 0.9,  # all of it is new
        lambda v, x: tf.tensor_scatter_nd_update(v * 0.9, tf.range(4)[:, None], x),
        lambda v, x: tf.tensor_scatter_nd_update(tf.zeros_like(v), tf.range(4)[:, None], x),
        lambda v, x: tf.concat([tf.reverse(v[4:], [0]), x], 0),
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4000)[:, None], tf.repeat(x, 1000, axis=0)),
        lambda v, x: 0.99 * v + 0.01 * tf.reduce_mean(x),
    ],
)
def test_a_variable_that_is_new_in_whole(makes: Makes) -> None:
    assert "copied" not in kinds(assigned(makes), (4, 8))


def test_rows_written_in_place_are_no_copy() -> None:
    held = tf.Variable(tf.zeros((5000, 8)), trainable=False)
    other = tf.Variable(tf.zeros((5000, 8)), trainable=False)

    def in_place(x: Any) -> Any:
        held.scatter_nd_update(tf.range(4)[:, None], x)
        other.assign(tf.tensor_scatter_nd_update(held, tf.range(4)[:, None], x))  # another variable's value
        return tf.reduce_sum(x)

    assert kinds(in_place, (4, 8)) == set()


def jacobian(taken: Makes, outputs: int = 1) -> Makes:
    net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(outputs)])

    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = net(x)
            made = tf.squeeze(made, 1) if outputs == 1 else made
        return taken(tape, made, x)

    return function


_EQUAL = [
    (1, lambda t, y, x: tf.gather_nd(t.jacobian(y, x), tf.stack([tf.range(16), tf.range(16)], 1))),
    (1, lambda t, y, x: tf.einsum("bbj->bj", t.jacobian(y, x))),
    (4, lambda t, y, x: tf.einsum("bibj->bij", t.jacobian(y, x))),
    (4, lambda t, y, x: tf.linalg.diag_part(tf.transpose(t.jacobian(y, x), [1, 3, 0, 2]))),
]


@pytest.mark.parametrize(("outputs", "taken"), _EQUAL)
def test_the_diagonal_of_a_jacobian(outputs: int, taken: Makes) -> None:
    (one,) = (each for each in found(jacobian(taken, outputs), (16, 3)) if each.kind == "diagonal")
    assert one.figures == {"examples": 16.0}
    assert one.left == pytest.approx(1 / 16)
    assert sum("/pfor/" in name for name in one.operations) > 10


@pytest.mark.parametrize(
    ("outputs", "taken"),
    [
        (4, lambda t, y, x: t.batch_jacobian(y, x)),
        (4, lambda t, y, x: tf.linalg.diag_part(t.batch_jacobian(y, x)[:, :3])),
        (1, lambda t, y, x: t.jacobian(y, x)),
        (1, lambda t, y, x: tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True)[None])),
    ],
)
def test_a_jacobian_that_is_needed(outputs: int, taken: Makes) -> None:
    assert "diagonal" not in kinds(jacobian(taken, outputs), (16, 3))


def _links(filled: float, rows: int = 600) -> Any:
    """A matrix in NumPy of which this share is not zero."""
    import numpy as np

    rng = np.random.default_rng(0)
    return ((rng.random((rows, rows)) < filled) * rng.random((rows, rows))).astype("float32")


@pytest.mark.parametrize(
    "multiplied",
    [
        lambda a, x: tf.matmul(a, x),
        lambda a, x: a @ tf.nn.relu(x),
        lambda a, x: tf.einsum("ij,jk->ik", a, x),
        lambda a, x: tf.function(lambda y: tf.matmul(a, y))(x),
        lambda a, x: tf.matmul(x, a, transpose_a=True),
    ],
)
@pytest.mark.parametrize("constant", [tf.constant, lambda a: a], ids=["captured", "in the graph"])
def test_a_matrix_of_zeros_is_multiplied(multiplied: Makes, constant: Makes) -> None:
    matrix = constant(_links(0.004))
    (one,) = found(lambda x: tf.reduce_sum(multiplied(tf.convert_to_tensor(matrix), x)), (600, 8))
    assert one.kind == "zeros"
    assert one.figures["numbers"] == 360_000
    assert one.figures["filled"] == pytest.approx(0.004, abs=0.0015)


def test_a_matrix_that_is_full_small_or_not_constant_is_left_in_peace() -> None:
    some, full, small = tf.constant(_links(0.05)), tf.constant(_links(1.0)), tf.constant(_links(0.004, 100))
    held = tf.Variable(_links(0.004))
    for matrix in (some, full, held):
        assert kinds(lambda x, matrix=matrix: tf.matmul(matrix, x), (600, 8)) == set()
    assert kinds(lambda x: tf.matmul(small, x), (100, 8)) == set()
    sparse = tf.sparse.from_dense(_links(0.004))
    assert kinds(lambda x: tf.sparse.sparse_dense_matmul(sparse, x), (600, 8)) == set()


@pytest.mark.parametrize("batch", [8, None])
def test_a_dense_layer_on_whole_pictures(batch: int | None) -> None:
    layers = tf.keras.layers
    for flattens, expected in (
        ((layers.Flatten(), layers.Dense(16, activation="relu")), {"flat"}),
        ((layers.GlobalAveragePooling2D(), layers.Dense(16, activation="relu")), set()),
        ((layers.Dense(16),), set()),
    ):
        net = tf.keras.Sequential([tf.keras.Input((32, 32, 16)), *flattens])
        made = found(lambda x, net=net: net(x), tf.TensorSpec((batch, 32, 32, 16)), batch=8)
        assert {each.kind for each in made} == expected
        for each in made:
            assert each.figures == {"places": 1024, "channels": 16, "numbers": 16384, "units": 16, "bytes": 1 << 20}


def called(function: Makes, same: list[int], grown: list[int], *specs: Any, calls: int = 33) -> dict[str, Wasted]:
    """By kind, what is wasted in a function that trains nothing, of whose arguments so much is known."""
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    records = list(contents_of(concrete.graph, "step", lambda name: False, lambda file: True))
    graphs: dict[str, Graph] = {}
    graphs.update({each.name: Graph(each, graphs.get) for each in records})
    placeholders = frozenset(graphs["step"].record.captures)
    record = CallsRecord(graph="step", calls=calls, same=same, grown=grown)
    return {each.kind: each for each in wasted(graphs["step"], None, frozenset(), placeholders, record)}


TEXT, PICTURE = tf.TensorSpec((2, 40), tf.int32, name="text"), tf.TensorSpec((2, 64), tf.float32, name="picture")


@functools.cache
def reads() -> tuple[Any, Any]:
    table, layer = tf.keras.layers.Embedding(50, 64), tf.keras.layers.Dense(64)
    layer(table(tf.zeros((1, 1), tf.int32)))
    return table, layer


def read(text: Any) -> Any:
    table, layer = reads()
    return tf.reduce_mean(layer(table(text)), axis=1)


def inner(text: Any) -> Any:
    return tf.function(read, autograph=False)(text)


def by_row(text: Any) -> Any:
    return tf.map_fn(lambda row: read(row[None])[0], text, fn_output_signature=tf.float32)


@pytest.mark.parametrize("reading", [read, inner, by_row])
def test_an_argument_that_stays_the_same(reading: Makes) -> None:
    found = called(lambda text, picture: reading(text) @ tf.transpose(picture), [32, 0], [0, 0], TEXT, PICTURE)
    one = found["again_idle"]
    assert one.names == ["text"] and one.figures["times"] == 33 and one.left == pytest.approx(1 / 33)
    assert any("MatMul" in name or "Tensordot" in name or "while" in name or "Call" in name for name in one.operations)
    surely = found["again"].operations if "again" in found else []  # without what variables that can be trained are in
    assert not any("MatMul" in name or "Gather" in name or "Call" in name for name in surely)


def test_what_follows_from_the_arguments_that_change_or_from_chance_is_left_out() -> None:
    def step(text: Any, picture: Any) -> Any:
        return read(text) + tf.random.normal((2, 64)) @ tf.ones((64, 64)) + tf.nn.relu(picture)

    names = called(step, [32, 0], [0, 0], TEXT, PICTURE)["again_idle"].operations
    assert not any("random" in name or "Relu" in name or name.startswith("MatMul") for name in names)


@pytest.mark.parametrize(
    ("same", "calls"), [([0, 0], 33), ([32, 32], 33), ([4, 0], 5), ([16, 0], 33)], ids=["none", "all", "few", "seldom"]
)
def test_others_stay_or_all_or_for_too_few_calls(same: list[int], calls: int) -> None:
    found = called(lambda text, picture: read(text) @ tf.transpose(picture), same, [0, 0], TEXT, PICTURE, calls=calls)
    assert "again_idle" not in found and "again" not in found


def test_a_sequence_that_gets_longer() -> None:
    spec = tf.TensorSpec((2, None), tf.int32, name="text")
    gru, head = tf.keras.layers.GRU(32, return_sequences=True), tf.keras.layers.Dense(8, name="last_place")
    head(gru(reads()[0](tf.zeros((1, 1), tf.int32))))
    one = called(lambda text: head(gru(reads()[0](text))[:, -1]), [0], [32], spec)["grown"]
    assert one.names == ["text"] and any("while" in name for name in one.operations)
    assert not any("last_place" in name for name in one.operations)


def test_what_is_the_same_in_each_turn_of_a_loop() -> None:
    def step(text: Any, picture: Any) -> Any:
        return tf.while_loop(
            lambda n, x: n < 20, lambda n, x: (n + 1, x + read(text) * tf.reduce_mean(x)), (tf.constant(0), picture)
        )[1]

    one = called(step, [0, 0], [0, 0], TEXT, PICTURE)["again_idle"]
    assert one.figures["loop"] and one.left == pytest.approx(1 / 20)


COVARIANCES = (3, 64, 64)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tf.reduce_sum(tf.linalg.inv(a)) + tf.reduce_sum(tf.linalg.slogdet(a)[1]),
        lambda a: tf.reduce_sum(tf.linalg.solve(a, tf.ones((3, 64, 1)))) + tf.reduce_sum(tf.linalg.det(a)),
        lambda a: tf.reduce_sum(tf.linalg.solve(a, a[:, :, :1]) + tf.linalg.solve(a, a[:, :, 1:2] ** 2)),
        lambda a: tf.reduce_sum(tf.linalg.inv(a) @ a[:, :, :2]) + tf.reduce_sum(tf.linalg.cholesky(a)),
    ],
)
def test_a_matrix_that_is_factorised_twice(function: Makes) -> None:
    (one,) = [each for each in found(function, COVARIANCES) if each.kind == "factors"]
    assert one.figures["size"] == 64 and one.figures["times"] == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tf.reduce_sum(tf.linalg.inv(a) @ tf.linalg.inv(a)),  # Grappler makes it one
        lambda a: tf.reduce_sum(tf.linalg.inv(a)) + tf.reduce_sum(tf.linalg.det(a + 1.0)),
        lambda a: tf.reduce_sum(tf.linalg.cholesky_solve(tf.linalg.cholesky(a), a)),
        lambda a: tf.reduce_sum(tf.linalg.inv(a[:, :8, :8])) + tf.reduce_sum(tf.linalg.det(a[:, :8, :8])),
    ],
)
def test_matrices_that_are_factorised_once_or_are_small(function: Makes) -> None:
    assert "factors" not in kinds(function, COVARIANCES)
