"""Rows that nobody uses, that are repeated or go through every expert, in graphs that TensorFlow itself traced."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from graph_waste import Makes, dense, found, kind_of, kinds
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow

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
        lambda ids, t: dense(16, activation="relu")(t)[ids[0] : ids[0] + 64],
        lambda ids, t: tf.slice(dense(16, activation="relu")(t), [ids[0], 0], [64, 8]),
        lambda ids, t: dense(16, activation="relu")(t)[ids[0]],
        lambda ids, t: tf.gather_nd(dense(16, activation="relu")(t), ids[:, None]),
        lambda ids, t: tf.gather(tf.nn.conv2d(tf.reshape(t, [5000, 4, 4, 1]), tf.ones([3, 3, 1, 8]), 1, "SAME"), ids),
    ],
)
def test_a_table_that_is_computed_whole_and_looked_up(function: Makes) -> None:
    assert kinds(function, "i300", ROWS) == {"GRF014"}


@pytest.mark.parametrize(
    "function",
    [
        lambda ids, t: tf.math.l2_normalize(tf.gather(t, ids), axis=1),
        lambda ids, t: tf.gather(n := tf.tanh(t), ids) @ tf.transpose(n),  # all rows are needed
        lambda ids, t: tf.gather(tf.cumsum(t), ids),
        lambda ids, t: tf.gather(tf.nn.softmax(t, axis=0), ids),
        lambda ids, t: tf.gather(tf.tanh(t), tf.range(4000)),  # most rows
        lambda ids, t: tf.gather(tf.tanh(t), [1, 2, 3], axis=1),
        lambda ids, t: dense(16, activation="relu")(t)[ids[0] : ids[1]],  # as many as the data say
        lambda ids, t: dense(16, activation="relu")(t)[:, :2],
        lambda ids, t: (n := dense(16, activation="relu")(t)) is not None and n[:64] + n[64:128] @ tf.transpose(n) @ n,
    ],
)
def test_a_table_of_which_all_rows_are_needed(function: Makes) -> None:
    assert "GRF014" not in kinds(function, "i300", ROWS)


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
        lambda x: dense(16, activation="relu")(tf.gather(x, [number % 20 for number in range(1000)])),
        lambda x: dense(16, activation="relu")(x[:, None] * tf.ones([1, 50, 1])),
        lambda x: dense(16, activation="relu")(tf.stack([x] * 50, axis=1)),
        lambda x: dense(16, activation="relu")(tf.concat([x] * 50, axis=0)),
        lambda x: tf.concat([tf.tile(x, [50, 1]), tf.random.normal([1000, 16])], 1) @ tf.ones([32, 8]),
    ],
)
def test_rows_that_are_repeated_before_a_network(function: Makes) -> None:
    assert kinds(function, FEW) == {"GRF015"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.repeat(x @ tf.ones([16, 8]), 50, axis=0),
        lambda x: (tf.tile(x, [50, 1]) + tf.random.normal([1000, 16])) @ tf.ones([16, 8]),  # each row is another one
        lambda x: tf.tile(x, [1, 50]) @ tf.ones([800, 8]),  # columns
        lambda x: tf.tile(x, [2, 1]) @ tf.ones([16, 8]),
        lambda x: tf.matmul(tf.tile(x, [50, 1]), tf.tile(x, [50, 1]), transpose_a=True),  # a sum over rows
    ],
)
def test_rows_that_must_be_repeated_first(function: Makes) -> None:
    assert "GRF015" not in kinds(function, FEW)


@functools.cache
def attention() -> Any:
    """Its variables are made before the function is traced."""
    layer = tf.keras.layers.MultiHeadAttention(2, 8)
    layer.build((50, 20, 16), (50, 20, 16))
    return layer


def attended(x: Any) -> Any:
    x = dense(16)(x)
    return tf.reduce_mean(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)) @ x, axis=1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: attended(tf.tile(x[None], [50, 1, 1])),
        lambda x: attended(tf.repeat(x[None], 50, axis=0)),
        lambda x: attended(tf.broadcast_to(x, [50, 20, 16])),
        lambda x: attention()(t := tf.tile(x[None], [50, 1, 1]), t),
    ],
)
def test_copies_of_a_sequence_that_go_through_attention(function: Makes) -> None:
    (one,) = [each for each in found(function, FEW) if kind_of(each) == "GRF015"]
    assert one.times == 50 and len(one.operations) > 5


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


def named(which: Any, x: Any) -> Any:
    every = tf.stack([expert(x, n) for n in range(6)], axis=1)
    return tf.gather_nd(every, tf.stack([tf.range(200), which], axis=1))


def by_columns(which: Any, x: Any) -> Any:
    return tf.add_n([tf.one_hot(which, 6)[:, n : n + 1] * expert(x, n) for n in range(6)])


def by_floats(which: Any, x: Any) -> Any:
    return tf.add_n(
        [tf.cast(tf.equal(tf.cast(which, tf.float32), n), tf.float32)[:, None] * expert(x, n) for n in range(6)]
    )


def side_by_side(which: Any, x: Any) -> Any:
    every = tf.reshape(tf.concat([expert(x, n) for n in range(6)], axis=1), [200, 6, 16])
    return tf.gather(every, which, batch_dims=1)


def best_of_gates(which: Any, x: Any) -> Any:
    weights, best = tf.math.top_k(tf.nn.softmax(x[:, :6]), 2)
    gates = tf.reduce_sum(tf.one_hot(best, 6) * weights[..., None], axis=1)
    return tf.einsum("nk,knd->nd", gates, tf.stack([expert(x, n) for n in range(6)]))


@pytest.mark.parametrize(
    "function",
    [chosen, summed, added, gathered, by_one_hot, in_einsum, named, by_columns, by_floats, side_by_side, best_of_gates],
)
def test_all_experts_for_all_rows(function: Makes) -> None:
    assert kinds(function, "i200", (200, 16)) == {"GRF017"}


def test_a_row_may_take_several() -> None:
    (one,) = found(best_of_gates, "i200", (200, 16))
    assert (one.branches, one.taken) == (6, 2) and one.left == pytest.approx(1 / 3)


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


def four_of_six(which: Any, x: Any) -> Any:
    weights, best = tf.math.top_k(tf.nn.softmax(x[:, :6]), 4)
    gates = tf.reduce_sum(tf.one_hot(best, 6) * weights[..., None], axis=1)
    return tf.einsum("nk,knd->nd", gates, tf.stack([expert(x, n) for n in range(6)]))


@pytest.mark.parametrize("function", [weighted, two, not_networks, used_again, four_of_six])
def test_experts_that_are_needed(function: Makes) -> None:
    assert "GRF017" not in kinds(function, "i200", (200, 16))
