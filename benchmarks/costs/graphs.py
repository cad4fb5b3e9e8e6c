"""Compiled functions: what an operation, a call, a trace and a constant cost in them, and what runs side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from benchmarks.costs import measure
from benchmarks.costs.timing import ms, once_ms

Round = Callable[[], list[float]]


def chain(operations: int, *, compiled: bool = True) -> Callable[[tf.Tensor], tf.Tensor]:
    """Make a function of that many operations on a tiny tensor, one after the other, none of which Grappler merges.

    Of two arguments: operations of one (sine, tangent) in a row are a single kernel after Grappler.
    """

    def body(x: tf.Tensor) -> tf.Tensor:
        end = x
        for _ in range(operations):
            end = tf.atan2(end, x)
        return end

    return tf.function(body, autograph=False) if compiled else body


def small_step(layers: int) -> tuple[Callable[[tf.Tensor], tf.Tensor], int]:
    """Make a training step of that many tiny layers, and its operations without constants and arguments."""
    weights = [tf.Variable(tf.eye(8)) for _ in range(layers)]
    offsets = [tf.Variable(tf.zeros(8)) for _ in range(layers)]

    @tf.function(autograph=False)
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            end = x
            for weight, offset in zip(weights, offsets, strict=True):
                end = tf.nn.relu(tf.matmul(end, weight) + offset)
                end = end - tf.reduce_mean(end, -1, keepdims=True)
            loss = tf.reduce_mean(tf.square(end))
        variables = weights + offsets
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(1e-9 * gradient)
        return loss

    graph = step.get_concrete_function(tf.TensorSpec((4, 8))).graph
    return step, sum(each.type not in ("Const", "Placeholder") for each in graph.get_operations())


@measure("ms", "a tiny operation of a compiled function")
def graph_op() -> Round:
    few, many, x = chain(100), chain(1000), tf.constant(0.5)
    (shallow, few_operations), (deep, many_operations) = small_step(4), small_step(40)
    batch = tf.ones((4, 8))

    def wide(value: tf.Tensor) -> tf.Tensor:  # eight chains side by side
        ends = [value + index for index in range(8)]
        for _ in range(125):
            ends = [tf.atan2(end, value) for end in ends]
        return tf.add_n(ends)

    side = tf.function(wide, autograph=False)

    def points() -> list[float]:
        short, step = ms(lambda: few(x)), ms(lambda: shallow(batch))
        chained = [max(ms(lambda f=f: f(x)) - short, 0.0) / 900 for f in (many, side)]
        return [*chained, max(ms(lambda: deep(batch)) - step, 0.0) / (many_operations - few_operations)]

    return points


@measure("ms", "a call of a compiled function, by its arguments: a tensor, an array, a dict, 16 tensors")
def function_call() -> Round:
    one = tf.function(lambda x: x + 1)
    several = tf.function(lambda *tensors: tensors[0] + 1)
    named = tf.function(lambda batch: batch["x"] + batch["y"])
    tensor, array = tf.zeros((32, 8)), np.zeros((32, 8), "float32")
    tensors = [tensor] * 16
    return lambda: [
        ms(lambda: one(tensor)),
        ms(lambda: one(array)),
        ms(lambda: named({"x": tensor, "y": tensor})),
        ms(lambda: several(*tensors)),
    ]


@measure("number", "a matmul or convolution of small tensors, over a tiny eager operation")
def small_operation() -> Round:
    scalar, images = tf.constant(0.5), tf.ones((4, 8, 8, 8))
    kernel = tf.ones((3, 3, 8, 8))
    pairs = [(tf.ones((rows, 64)), tf.ones((64, 64))) for rows in (1, 16)]

    def points() -> list[float]:
        tiny = ms(lambda: tf.add(scalar, scalar))
        products = [ms(lambda a=a, b=b: tf.matmul(a, b)) for a, b in pairs]
        return [*(each / tiny for each in products), ms(lambda: tf.nn.conv2d(images, kernel, 1, "SAME")) / tiny]

    return points


@measure("number", "two independent chains of convolutions, one after the other, over both in one compiled function")
def overlap() -> Round:
    images, kernel = tf.random.normal((8, 32, 32, 16)), tf.random.normal((3, 3, 16, 16)) / 12

    def deep(x: tf.Tensor) -> tf.Tensor:
        for _ in range(6):
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
        return tf.reduce_sum(x)

    alone = tf.function(deep)
    both = tf.function(lambda x: (deep(x), deep(x + 1)))
    return lambda: [2 * ms(lambda: alone(images)) / ms(lambda: both(images))]


@measure("ms", "tracing and first run of a compiled function, for each of its operations")
def trace_operation() -> Round:
    def points() -> list[float]:
        x, found = tf.constant(0.5), []
        for operations in (200, 1000):
            function = chain(operations)
            found.append(once_ms(lambda f=function: f(x)) / operations)
        return found

    return points


@measure("ms", "what 1 MB of constants adds to the trace and the first run, against a captured tensor")
def constant() -> Round:
    def traced(value: object) -> float:
        function = tf.function(lambda x: tf.reduce_sum(tf.convert_to_tensor(value)[:1] * x), autograph=False)
        return once_ms(lambda: function(tf.constant(2.0)))

    def points() -> list[float]:
        found = []
        for megabytes in (4, 16):
            array = np.random.default_rng(0).random(megabytes * 250_000, dtype="float32")
            held = tf.constant(array)
            found.append((traced(array) - traced(held)) / megabytes)
        return found

    return points


@measure("share", "of a call back into NumPy, what the same in TensorFlow's operations takes")
def python_call() -> Round:
    def with_numpy(x: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(lambda a: np.clip(2 * a + 1, 0, 3).astype("float32"), [x], tf.float32)

    ours = tf.function(lambda x: tf.clip_by_value(2 * x + 1, 0.0, 3.0))
    theirs, empty = tf.function(with_numpy), tf.function(lambda x: tf.identity(x))
    arrays = [tf.random.normal((size,)) for size in (1_000, 100_000, 1_000_000)]
    return lambda: [
        max(ms(lambda a=a: ours(a)) - call, 0.0) / (ms(lambda a=a: theirs(a)) - call)
        for a in arrays
        for call in [0.9 * ms(lambda a=a: empty(a))]
    ]
