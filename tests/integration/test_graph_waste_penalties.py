"""Penalties on whole tables of which few rows are looked up, in graphs that TensorFlow itself traced."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from graph_waste import Makes, found, kind_of, kinds, waste_of
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow

IDS = "i64"


@functools.cache
def table(rows: int) -> Any:
    return tf.Variable(tf.ones([rows, 8]))


@functools.cache
def layer(**options: Any) -> Any:
    made = tf.keras.layers.Embedding(4000, 8, **options)
    made.build()
    return made


def kept(makes: Any, *arguments: Any, **named: Any) -> Any:
    with tf.init_scope():
        return makes(*arguments, **named)


def with_penalty(ids: Any, penalty: Makes, rows: int = 4000) -> Any:
    vectors = kept(table, rows)
    return tf.reduce_sum(tf.gather(vectors, ids)) + penalty(vectors)


def regularised(ids: Any) -> Any:
    embedding = kept(layer, embeddings_regularizer="l2")
    return tf.reduce_sum(embedding(ids)) + sum(embedding.losses)


@pytest.mark.parametrize(
    "function",
    [
        lambda ids: with_penalty(ids, tf.nn.l2_loss),
        lambda ids: with_penalty(ids, lambda v: 0.01 * tf.reduce_sum(tf.square(v))),
        lambda ids: with_penalty(ids, lambda v: 0.01 * tf.reduce_sum((w := tf.identity(v)) * w)),
        lambda ids: with_penalty(ids, lambda v: tf.reduce_mean(tf.abs(0.5 * v))),
        lambda ids: with_penalty(ids, tf.norm),
        lambda ids: with_penalty(ids, lambda v: tf.reduce_sum(tf.sqrt(tf.reduce_sum(v**2, 1)))),
        regularised,
    ],
)
def test_a_penalty_on_all_rows(function: Makes) -> None:
    (one,) = [each for each in found(function, IDS) if kind_of(each) == "GRF028"]
    assert (one.rows, one.taken) == (4000, 64)
    assert one.left == pytest.approx(64 / 4000)
    assert one.updates == []  # it is not trained here
    assert not any("Gather" in name for name in one.operations)


@pytest.mark.parametrize(
    "function",
    [
        lambda ids: with_penalty(ids, lambda v: tf.nn.l2_loss(tf.gather(v, ids))),  # as it should be
        lambda ids: with_penalty(ids, tf.nn.l2_loss, 100),  # most of its rows are used
        lambda ids: with_penalty(ids, lambda v: tf.nn.l2_loss(v) + tf.reduce_max(tf.ones([1, 8]) @ tf.transpose(v))),
        lambda ids: with_penalty(ids, lambda v: 0.0),
        lambda ids: tf.nn.l2_loss(kept(table, 4000)),  # no lookup
    ],
)
def test_no_penalty_or_a_table_that_is_needed_whole(function: Makes) -> None:
    assert "GRF028" not in kinds(function, IDS)


@pytest.mark.parametrize(
    ("optimizer", "by_layer", "updates", "left"),
    [("sgd", False, 2, 64 / 4000), ("sgd", True, 2, 64 / 4000 + 1 / 8), ("adam", False, 0, 64 / 4000)],
)
def test_the_update_goes_with_it_where_the_optimizer_keeps_no_moments(
    optimizer: str, by_layer: bool, updates: int, left: float
) -> None:
    made = tf.keras.optimizers.get(optimizer)
    variable = layer(embeddings_regularizer="l2").embeddings if by_layer else table(4000)
    made.build([variable])

    @tf.function(autograph=False)
    def train(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = regularised(ids) if by_layer else with_penalty(ids, tf.nn.l2_loss)
        made.apply(tape.gradient(loss, [variable]), [variable])
        return loss

    (one,) = [
        each
        for each in waste_of(train.get_concrete_function(tf.TensorSpec([64], tf.int32)))
        if kind_of(each) == "GRF028"
    ]
    assert len(one.updates) == updates
    assert any("Gather" in name for name in one.operations) == bool(updates)
    assert one.left == pytest.approx(left)
