"""Traces for arguments: their values, shapes, types and number. See ``retrace_causes``."""

from __future__ import annotations

import tensorflow as tf
from retrace_run import Run, cause


@cause
def python_value(run: Run) -> None:
    @tf.function
    def train_step(x, lr):
        return x * lr

    for index in range(5):
        with run.step():
            train_step(tf.ones([4]), 0.1 * index)


@cause
def python_value_healthy(run: Run) -> None:
    @tf.function
    def train_step(x, lr, training=True):
        return x * lr if training else x

    for index in range(5):
        with run.step():
            train_step(tf.ones([4]), tf.constant(0.1 * index))
            train_step(tf.ones([4]), tf.constant(0.1 * index), training=False)


@cause
def shape(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for rows in (32 + 32 + 17, 32 + 9):  # the last batch of each is short
        for x in tf.data.Dataset.from_tensor_slices(tf.ones([rows, 100])).batch(32):
            with run.step():
                train_step(x)


@cause
def shape_healthy(run: Run) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 100])])
    def train_step(x):
        return tf.reduce_sum(x)

    for size in (32, 32, 17, 32, 9):
        with run.step():
            train_step(tf.ones([size, 100]))


@cause
def length(run: Run) -> None:
    @tf.function
    def train_step(batch):
        return tf.reduce_sum(batch["tokens"])

    for size in (10, 12, 14, 16, 18):
        with run.step():
            train_step({"tokens": tf.ones([8, size])})


@cause
def rank(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for dims in (1, 2, 3):
        with run.step():
            train_step(tf.ones([2] * dims))


@cause
def dtype(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for kind in (tf.float32, tf.float64, tf.int32):
        with run.step():
            train_step(tf.ones([4], kind))


@cause
def structure(run: Run) -> None:
    @tf.function
    def train_step(inputs):
        return tf.add_n(inputs)

    for count in (2, 3, 4):
        with run.step():
            train_step([tf.ones([3])] * count)


@cause
def keyword(run: Run) -> None:
    @tf.function
    def train_step(x, *rest, **named):
        return tf.add_n([x, *rest, *named.values()])

    one = tf.ones([3])
    with run.step():
        train_step(one)
    with run.step():
        train_step(one, weights=one)
    with run.step():
        train_step(one, weights=one, mask=one)
    with run.step():
        train_step(one, one, weights=one)
