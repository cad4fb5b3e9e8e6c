"""Positions that are computed and not used, in graphs that TensorFlow itself traced."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from graph_waste import Makes, found, kind_of, kinds
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow

SEQUENCES = (8, 20, 16)


@functools.cache
def layer(units: int, activation: str | None, width: int, bias: bool) -> Any:
    made = tf.keras.layers.Dense(units, activation=activation, use_bias=bias)
    made.build((None, 20, width))
    return made


def dense(x: Any, activation: str | None = None, *, units: int = 400, bias: bool = False) -> Any:
    with tf.init_scope():
        made = layer(units, activation, x.shape[-1], bias)
    return made(x)


@pytest.mark.parametrize(
    ("function", "used"),
    [
        (lambda x: dense(x, "relu", bias=True)[:, -1], 1),
        (lambda x: dense(x)[:, -1, :], 1),
        (lambda x: dense(x)[:, :3], 3),
        (lambda x: tf.nn.softmax(dense(x))[:, -1], 1),
        (lambda x: tf.einsum("btd,dv->btv", x, tf.ones([16, 400]))[:, -1], 1),
        (lambda x: tf.matmul(x, tf.ones([16, 400]))[:, 0], 1),
        (lambda x: tf.gather(tf.tensordot(x, tf.ones([16, 400]), 1), [19], axis=1), 1),
        (lambda x: dense(dense(x, "relu", bias=True), "relu")[:, -1], 1),
    ],
)
def test_positions_that_nobody_uses(function: Makes, used: int) -> None:
    (one,) = found(function, SEQUENCES)
    assert (kind_of(one), one.positions, one.used, one.named) == ("GRF027", 20, used, 0)
    assert one.left == pytest.approx(used / 20)


@pytest.mark.parametrize(
    ("function", "only_last"),
    [
        (lambda x: dense(x)[:, -1], True),
        (lambda x: dense(x)[:, 0], False),
        (lambda x: dense(x)[:, -2:], False),
        (lambda x: tf.gather(dense(x), [19], axis=1), True),
    ],
)
def test_whether_only_the_last_position_is_used(function: Makes, only_last: bool) -> None:
    (one,) = found(function, SEQUENCES)
    assert one.only_last is only_last


@pytest.mark.parametrize(
    ("function", "used"),
    [
        (lambda at, x: tf.gather(dense(x), tf.reshape(at, [8, 3]), batch_dims=1), 3),
        (lambda at, x: tf.gather_nd(dense(x), tf.stack([tf.range(8), at[:8]], axis=1)), 1),
        (lambda at, x: tf.reduce_sum(dense(x) * tf.one_hot(at[:8], 20)[:, :, None], axis=1), 1),
        (lambda at, x: tf.unstack(dense(x), axis=1)[-1], 1),
        (lambda at, x: dense(x)[:, at[0]], 1),
    ],
)
def test_positions_that_data_name(function: Makes, used: int) -> None:
    (one,) = found(function, "i24", SEQUENCES)
    assert (kind_of(one), one.used, one.named) == ("GRF027", used, used)


def test_a_batch_of_open_size() -> None:
    makes = lambda x: dense(x, "relu", bias=True)[:, -1]  # noqa: E731
    assert kinds(makes, tf.TensorSpec([None, 20, 16], tf.float32), batch=8) == {"GRF027"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: dense(x[:, -1]),  # as it should be
        lambda x: (y := dense(x))[:, -1] + tf.reduce_mean(y, 1),
        lambda x: (y := dense(x)) is not None and tf.stack([y[:, at] for at in range(20)], 1),
        lambda x: dense(x)[:, :15],
        lambda x: tf.matmul(x, x, transpose_b=True)[:, -1],  # attention: each by all others
        lambda x: tf.matmul(tf.ones([8, 20, 20]), x)[:, -1],
        lambda x: tf.cumsum(tf.nn.relu(x), axis=1)[:, -1],
        lambda x: (tf.nn.relu(x) + 1.0)[:, -1],  # no product
        lambda x: dense(x)[-1],
        lambda x: tf.reduce_sum(dense(x) * tf.nn.softmax(x[:, :, 0])[:, :, None], axis=1),
        lambda x: tf.reduce_sum(tf.one_hot(tf.zeros([8, 20], tf.int32), 400) * dense(x), axis=1),
        lambda x: tf.add_n(tf.unstack(dense(x), axis=1)),
    ],
)
def test_positions_that_are_needed(function: Makes) -> None:
    assert "GRF027" not in kinds(function, SEQUENCES)
