"""Sorts, look-ups, masks, products and distances that waste work, in graphs that TensorFlow itself traced."""

from __future__ import annotations

from typing import Any

import pytest
from graph_waste import Makes, dense, found, kind_of, kinds
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_rules.graph.whole_sort import SortedRow

pytestmark = needs_tensorflow
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
        lambda x: tf.gather(x, tf.argsort(x), batch_dims=1)[:, :50],
        lambda x: tf.sort(tf.reshape(x, [-1]))[: tf.cast(0.02 * tf.cast(tf.size(x), tf.float32), tf.int32)],
        lambda x: tf.gather(tf.transpose(x), tf.argsort(tf.random.uniform([2000])))[:64],
    ],
)
def test_a_sort_for_the_first_few(function: Makes) -> None:
    assert kinds(function, LONG) == {"GRF013"}


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
        lambda x: tf.cumsum(tf.gather(x, tf.argsort(x), batch_dims=1), axis=1)[:, :50],
        lambda x: tf.reduce_sum(tf.sort(x)[:, :5]) + tf.reduce_sum(tf.sort(x, name="all") * 2.0),
    ],
)
def test_a_sort_that_is_needed(function: Makes) -> None:
    assert not [each for each in found(function, LONG) if isinstance(each, SortedRow) and each.used > 5]


TABLE = (5000, 16)


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, table: tf.one_hot(ids, 5000) @ table,
        lambda ids, table: tf.einsum("nv,vd->nd", tf.one_hot(ids, 5000), table),
        lambda ids, table: tf.gather(tf.eye(5000), ids) @ table,
        lambda ids, table: tf.keras.layers.CategoryEncoding(5000, "multi_hot")(tf.reshape(ids, [-1, 4])) @ table,
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
    assert kinds(function, "i300", TABLE) == {"GRF010"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, table, depth: tf.one_hot(ids, depth) @ table,
        lambda ids, table, depth: tf.matmul(tf.one_hot(ids, depth), tf.transpose(table), transpose_b=True),
        lambda ids, table, depth: tf.cast(tf.one_hot(ids, depth, dtype=tf.int32), tf.float32) @ table,
        lambda ids, table, depth: tf.one_hot(ids, tf.shape(table)[0]) @ table,
        lambda ids, table, depth: tf.one_hot(ids, tf.reduce_max(ids) + 1) @ table,
    ],
)
def test_a_table_looked_up_by_a_product_of_a_length_that_the_graph_does_not_hold(function: Makes) -> None:
    assert kinds(function, "i300", TABLE, tf.TensorSpec([], tf.int32)) == {"GRF010"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, table, depth: tf.one_hot(ids, depth),
        lambda ids, table, depth: tf.one_hot(ids, depth) @ table[:4],  # few classes
        lambda ids, table, depth: tf.concat([tf.one_hot(ids, depth), tf.ones([300, 4])], 1) @ table,
    ],
)
def test_one_hot_vectors_of_unknown_length_that_are_needed(function: Makes) -> None:
    assert "GRF010" not in kinds(function, "i300", TABLE, tf.TensorSpec([], tf.int32))


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
    assert kinds(function, "i3000", (3000, 16)) == {"GRF010"}


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: tf.reduce_sum(tf.cast(a[None, :] < b[:, None], tf.int32), axis=1),
        lambda a, b: tf.reduce_sum(tf.cast(tf.greater_equal(b[:, None], a), tf.float32), axis=0),
        lambda a, b: tf.math.count_nonzero(a[None, :] <= b[:, None], axis=1),
    ],
)
def test_ranks_by_comparing_each_with_each(function: Makes) -> None:
    (waste,) = found(function, (3000,), (2000,))
    assert (kind_of(waste), waste.ordered, waste.numbers) == ("GRF010", True, 6_000_000)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: tf.reduce_sum(tf.where(a[None, :] < b[:, None], a[None, :], 0.0), axis=1),  # of their values
        lambda a, b: tf.cast(a[None, :] < b[:, None], tf.float32),
        lambda a, b: tf.reduce_sum(tf.cast((a[None, :] < b[:, None]) & (a[None, :] > -b[:, None]), tf.int32), axis=1),
        lambda a, b: tf.reduce_sum(tf.cast(a < 0.5, tf.int32)),  # with one number
    ],
)
def test_comparisons_that_no_search_replaces(function: Makes) -> None:
    assert "GRF010" not in kinds(function, (3000,), (2000,))


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
    assert "GRF010" not in kinds(function, "i3000", (3000, 16))


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
    assert kinds(function, *shapes) == {"GRF011"}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, a: tf.linalg.diag_part(x @ a @ tf.transpose(x)), {"GRF011"}),
        (lambda x, a: tf.linalg.trace(tf.matmul(x, x @ a, transpose_b=True)), {"GRF011"}),
        (lambda x, a: tf.linalg.diag_part(tf.einsum("nd,md->nm", x, x @ a)), {"GRF011"}),
        (lambda x, a: tf.reduce_sum((x @ a) * x, 1), set()),  # as it should be
        (lambda x, a: tf.linalg.diag_part(s := x @ tf.transpose(x)) - tf.reduce_logsumexp(s, 1), set()),
        (lambda x, a: tf.linalg.diag_part(x @ a @ tf.transpose(x), k=1), set()),
    ],
)
def test_a_product_of_which_the_diagonal_is_used(function: Makes, expected: set[str]) -> None:
    assert kinds(function, (400, 16), (16, 16)) & {"GRF011"} == expected


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
PAIRS = [[number // 90 for number in range(63_000)], [number % 90 for number in range(63_000)]]
UNITS = [1.0 + number for number in range(16)]


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
        lambda a, b: tf.reduce_sum(tf.square(tf.tile(a[:, None], [1, 90, 1]) - tf.tile(b[None], [700, 1, 1])), -1),
        lambda a, b: tf.reduce_sum((tf.repeat(a, 90, axis=0) - tf.tile(b, [700, 1])) ** 2, 1),
        lambda a, b: tf.norm(tf.gather(a, PAIRS[0]) - tf.gather(b, PAIRS[1]), axis=1),
        lambda a, b: tf.reduce_sum(tf.abs(a[:, None] - b) ** 2, -1),
        lambda a, b: tf.norm(a[:, None] - b + 1e-3, axis=-1),
        lambda a, b: tf.exp(-tf.reduce_sum(tf.square((a[:, None] - b) / UNITS), -1)),
    ],
)
def test_distances_by_way_of_all_differences(function: Makes) -> None:
    assert kinds(function, *POINTS) == {"GRF012"}


def test_distances_within_a_batch_of_open_size_are_counted() -> None:
    spec = tf.TensorSpec((None, 16), tf.float32)
    wasted = found(lambda a: tf.reduce_sum(tf.square(tf.expand_dims(a, 1) - tf.expand_dims(a, 0)), -1), spec, batch=700)
    one = next(each for each in wasted if kind_of(each) == "GRF012")
    assert (one.differences, one.distances) == (16 * 700 * 700, 700 * 700)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: (d := a[:, None] - b) / tf.norm(d, axis=-1, keepdims=True),  # directions
        lambda a, b: tf.reduce_sum(tf.abs(a[:, None] - b), -1),  # no product has these sums
        lambda a, b: tf.reduce_sum(tf.square(a - b[0]), -1),
        lambda a, b: tf.reduce_sum(tf.square(a[:, None] - b), [0, 1]),
        lambda a, b: tf.reduce_sum(a * a, -1)[:, None] - 2 * a @ tf.transpose(b) + tf.reduce_sum(b * b, -1),
        lambda a, b: tf.reduce_max(tf.square(a[:, None] - b), -1),
        lambda a, b: tf.reduce_sum(tf.square(tf.tile(a[:, None], [1, 90, 1]) - tf.tile(b[None], [700, 1, 1])), 1),
        lambda a, b: tf.norm(tf.gather(a, PAIRS[0][::30]) - tf.gather(b, PAIRS[1][::30]), axis=1),  # some pairs
        lambda a, b: tf.reduce_sum(tf.square((a[:, None] - b) / b[0, 0] * tf.norm(b, axis=1)[None, :, None]), -1),
    ],
)
def test_differences_that_are_needed(function: Makes) -> None:
    assert "GRF012" not in kinds(function, *POINTS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.gather(x, tf.random.shuffle(tf.range(100_000))[:64]),
        lambda x: tf.random.shuffle(tf.transpose(x))[:8] * 2.0,
        lambda x: tf.slice(tf.random.shuffle(tf.range(5000)), [0], [32]) + tf.cast(x[0, 0], tf.int32),
    ],
)
def test_a_shuffle_for_the_first_few(function: Makes) -> None:
    assert kinds(function, LONG) == {"GRF026"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.gather(x, tf.random.shuffle(tf.range(100))),
        lambda x: tf.random.shuffle(x)[:90] * 2.0,
        lambda x: tf.reshape(tf.random.shuffle(tf.range(6400)), [-1, 64])[0] + tf.cast(x[0, 0], tf.int32),
        lambda x: tf.random.uniform([64], maxval=100_000, dtype=tf.int64) + tf.cast(x[0, 0], tf.int64),
    ],
)
def test_a_shuffle_of_which_all_may_be_used(function: Makes) -> None:
    assert "GRF026" not in kinds(function, LONG)
