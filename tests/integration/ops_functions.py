"""Run by test_ops.py in a process of its own: functions with known operations, recorded by the probe ``ops``.

Writes ``OUT/<case>.json``: the ProbeResult and what the rules find in it, with facts of TensorFlow itself.
``python ops_functions.py OUT``.
"""

from __future__ import annotations

import gc
import random
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from ops_cases import case, histogram, main

from tfperfkit.instruments.graphs import first_run


@case()
def convolution() -> dict[str, Any]:
    kernel = tf.Variable(tf.random.normal([3, 3, 8, 16]))

    @tf.function
    def train_conv(images):
        with tf.GradientTape() as tape:
            tape.watch(images)
            loss = tf.reduce_sum(tf.nn.conv2d(images, kernel, 1, "SAME"))
        return tape.gradient(loss, [images, kernel])

    train_conv(tf.ones([4, 12, 12, 8]))
    return {"histogram": histogram(train_conv)}


@case()
def dense() -> dict[str, Any]:
    weight, bias = tf.Variable(tf.ones([32, 10])), tf.Variable(tf.zeros([10]))

    @tf.function
    def train_dense(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.bias_add(tf.matmul(x, weight), bias))
        return tape.gradient(loss, [x, weight, bias])

    train_dense(tf.ones([64, 32]))
    return {"histogram": histogram(train_dense)}


@case()
def nested() -> dict[str, Any]:
    weight, bias = tf.Variable(tf.ones([8, 8])), tf.Variable(tf.zeros([8]))

    @tf.function
    def inner(x):
        return tf.nn.relu(tf.matmul(x, weight) + bias)

    @tf.function
    def outer(x, turns):
        for _ in tf.range(5):
            x = inner(x)  # five turns
        for _ in tf.range(turns):
            x = x + 1.0
        if tf.reduce_sum(x) > 0:  # a branch
            x = tf.matmul(x, x)
            x = x * 2.0
        return inner(x)

    outer(tf.ones([8, 8]), tf.constant(2))
    return {"histogram": histogram(outer)}


@case(dump="open_batch")
def open_sizes() -> dict[str, Any]:
    weight = tf.Variable(tf.ones([8, 4]))

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])
    def open_batch(x):
        return tf.matmul(x, weight)

    open_batch(tf.ones([16, 8]))
    return {}


class Makes(tf.Module):
    weight: Any = None

    @tf.function
    def make(self, x):
        if self.weight is None:
            self.weight = tf.Variable(tf.ones([4, 4]), name="weight")
        return tf.matmul(x, self.weight)


@case()
def created_inside() -> dict[str, Any]:
    module = Makes()
    for _ in range(2):
        module.make(tf.ones([2, 4]))
    return {}


@case()
def steady_path() -> dict[str, Any]:
    @tf.function
    def called(x):
        return x + 1

    concrete = called.get_concrete_function(tf.ones([2]))
    before = first_run.waiting()
    reference = weakref.ref(concrete)
    results = [float(called(tf.ones([2]))[0]) for _ in range(40)]  # its first calls are looked at
    after, attributes = first_run.waiting(), "_call_flat" in vars(concrete)

    @tf.function
    def only_traced(x):
        return x * 2

    kept = only_traced.get_concrete_function(tf.ones([2]))
    steady_path.kept = kept  # type: ignore[attr-defined]
    del concrete, called
    gc.collect()
    return {
        "before": before,
        "after": after,
        "attributes": attributes,
        "results": results,
        "freed": reference() is None,
        "waiting": first_run.waiting(),
    }


@case()
def first_call_fails() -> dict[str, Any]:
    @tf.function
    def failing(x):
        tf.debugging.assert_greater(x, 0.0)
        return x

    try:
        failing(tf.constant(-1.0))
    except tf.errors.InvalidArgumentError as error:
        frames, traceback = [], error.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame.f_code.co_filename)
            traceback = traceback.tb_next
    return {"frames": frames, "waiting": first_run.waiting()}


@case()
def unrolled_loop() -> dict[str, Any]:
    @tf.function
    def roll(x):
        for _ in range(400):  # a Python loop
            y = tf.sin(x)
            x = x * 0.5 + y
        return x

    roll(tf.ones([8]))
    return {}


@case()
def unrolled_loop_healthy() -> dict[str, Any]:
    weights = [tf.Variable(tf.ones([4, 4])) for _ in range(100)]

    @tf.function
    def roll(x):
        for _ in tf.range(400):
            x = x * 0.5 + tf.sin(x)
        for weight in weights:  # over weights
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.matmul(tf.tanh(x * 2.0), weight) ** 2)
            weight.assign_sub(tape.gradient(y, weight))
        return x

    roll(tf.ones([4, 4]))
    return {}


@case()
def big_constant() -> dict[str, Any]:
    data = np.random.rand(12_000, 784).astype("float32")

    @tf.function
    def pick(i):
        return tf.gather(data, i)  # the whole array

    pick(tf.range(4))
    return {}


@case()
def big_constant_healthy() -> dict[str, Any]:
    data = tf.constant(np.random.rand(12_000, 784).astype("float32"))

    @tf.function
    def pick(i):
        return tf.gather(data, i)

    pick(tf.range(4))
    return {}


@case()
def huge_constant() -> dict[str, Any]:
    data = np.zeros((30_000, 784), "float32")

    @tf.function
    def pick(i):
        return tf.gather(data, i)  # more than we copy

    return {"sum": float(tf.reduce_sum(pick(tf.range(4))))}


@case()
def float64() -> dict[str, Any]:
    @tf.function
    def wide(x):
        y = tf.cast(x, tf.float64)  # it begins here
        return tf.reduce_sum(tf.matmul(y, y))

    wide(tf.ones([8, 8]))
    return {}


@case()
def float64_healthy() -> dict[str, Any]:
    @tf.function
    def narrow(x):
        y = tf.matmul(x, x)
        return y, tf.cast(tf.reduce_sum(y), tf.float64) / 3.0

    narrow(tf.ones([64, 64]))
    return {}


@case()
def python_call() -> dict[str, Any]:
    @tf.function
    def calls_back(x):
        return tf.numpy_function(lambda a: a + 1, [x], tf.float32)  # back into Python

    calls_back(tf.ones([2]))
    return {}


@case()
def python_call_healthy() -> dict[str, Any]:
    @tf.function
    def stays(x):
        return x + 1

    rows = tf.data.Dataset.range(4).map(lambda i: tf.numpy_function(lambda a: np.float32(a), [i], tf.float32))
    for row in rows:
        stays(tf.reshape(row, [1]))
    return {}


_history: list[Any] = []


@case()
def side_effects() -> dict[str, Any]:
    @tf.function
    def noisy(x):
        shift = random.random()  # frozen
        _history.append(shift)
        started = time.time()
        return x + shift + started

    noisy(tf.ones([2]))
    return {}


@case()
def side_effects_healthy() -> dict[str, Any]:
    @tf.function
    def quiet(x):
        parts = []
        for i in range(3):
            parts.append(x * float(i))
        return tf.add_n(parts) + tf.random.uniform([2])

    quiet(tf.ones([2]))
    return {}


@case()
def prints() -> dict[str, Any]:
    @tf.function
    def talks(x):
        tf.print("sum", tf.reduce_sum(x), output_stream="file:///dev/null")  # in each call
        return x

    talks(tf.ones([2]))
    return {}


@case()
def prints_healthy() -> dict[str, Any]:
    @tf.function
    def silent(x):
        return tf.reduce_sum(x)

    silent(tf.ones([2]))
    return {}


@case(keras=True)
def keras_shown() -> dict[str, Any]:
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((32, 8), "float32"), np.ones((32, 1), "float32"), batch_size=16, verbose=0)
    return {}


@case()
def keras_hidden() -> dict[str, Any]:
    return keras_shown()


@case(xla=True)
def xla() -> dict[str, Any]:
    @tf.function
    def compiles(x):
        return tf.reduce_sum(tf.nn.relu(x * 2.0 + 1.0))

    @tf.function(jit_compile=True)
    def jitted(x):
        return tf.tanh(x) + 1.0

    @tf.function
    def blocked(x):
        return tf.numpy_function(lambda a: a, [x], tf.float32)  # what blocks XLA

    compiles(tf.ones([8, 8])), jitted(tf.ones([8])), blocked(tf.ones([2]))
    return {}


@case(autograph="branches", dump="brunches")
def autograph() -> dict[str, Any]:
    @tf.function
    def branches(x, deep=True):
        if tf.reduce_sum(x) > 0:
            x = x + 1.0
        while tf.reduce_sum(x) < 10.0:
            x = x * 2.0
        if deep:
            x = x - 1.0
        for i in range(3):
            x = x + float(i)
        return x

    branches(tf.ones([2]))
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
