"""Arithmetic and memory: number formats, XLA, oneDNN, what grows with a batch, and the machine's rates."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from benchmarks.costs import measure
from benchmarks.costs.timing import ms, once_ms

Round = Callable[[], list[float]]


def product(rows: int, width: int, dtype: str = "float32", *, jit: bool = False) -> Callable[[], object]:
    """Make a compiled product of (rows, width) and (width, width)."""
    a, b = (tf.cast(tf.random.normal(shape), dtype) for shape in ((rows, width), (width, width)))
    function = tf.function(lambda x, y: tf.matmul(x, y), jit_compile=jit)
    return lambda: function(a, b)


def convolution(batch: int, size: int, channels: int, dtype: str = "float32", *, jit: bool = False) -> Callable:
    """Make a compiled 3x3 convolution."""
    images = tf.cast(tf.random.normal((batch, size, size, channels)), dtype)
    kernel = tf.cast(tf.random.normal((3, 3, channels, channels)), dtype)
    function = tf.function(lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"), jit_compile=jit)
    return lambda: function(images, kernel)


def trained_convolution(batch: int, size: int, channels: int, dtype: str = "float32") -> Callable[[], object]:
    """Make a compiled 3x3 convolution with both of its gradients."""
    images = tf.cast(tf.random.normal((batch, size, size, channels)), dtype)
    kernel = tf.cast(tf.random.normal((3, 3, channels, channels)), dtype)

    @tf.function
    def step(x: tf.Tensor, k: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch((x, k))
            y = tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME"))
        return tape.gradient(y, (x, k))

    return lambda: step(images, kernel)


def elementwise(numbers: int, dtype: str = "float32", *, jit: bool = False) -> Callable[[], object]:
    """Make a compiled chain of products, sums, exponentials and softplus."""

    def body(x: tf.Tensor) -> tf.Tensor:
        for _ in range(4):
            x = tf.nn.softplus(tf.exp(-x * x) * x + 1) - x
        return x

    values = tf.cast(tf.random.normal((numbers,)), dtype)
    function = tf.function(body, jit_compile=jit)
    return lambda: function(values)


def _saved(pairs: list[tuple[Callable, Callable]]) -> Round:
    """Measure the share of the first one's time that the second of each pair saves."""
    return lambda: [1 - ms(second) / ms(first) for first, second in pairs]


@measure("share", "of float64 products, convolutions and elementwise work, what float32 saves")
def float64() -> Round:
    return _saved(
        [
            (product(256, 512, "float64"), product(256, 512)),
            (convolution(8, 32, 32, "float64"), convolution(8, 32, 32)),
            (elementwise(1_000_000, "float64"), elementwise(1_000_000)),
        ]
    )


@measure("share", "of float16 products, convolutions, their training and elementwise work on a CPU, what float32 saves")
def float16() -> Round:
    return _saved(
        [
            (product(256, 512, "float16"), product(256, 512)),
            (convolution(8, 32, 32, "float16"), convolution(8, 32, 32)),
            (trained_convolution(8, 32, 32, "float16"), trained_convolution(8, 32, 32)),
            (elementwise(1_000_000, "float16"), elementwise(1_000_000)),
        ]
    )


@measure("share", "of a chain of elementwise operations, what XLA saves on a CPU")
def xla_elementwise() -> Round:
    return _saved([(elementwise(n), elementwise(n, jit=True)) for n in (1_000, 100_000, 1_000_000)])


@measure("share", "of a product, what XLA adds on a CPU")
def xla_product() -> Round:
    pairs = [(product(*shape), product(*shape, jit=True)) for shape in ((32, 256), (256, 512))]
    return lambda: [ms(by_xla) / ms(plain) - 1 for plain, by_xla in pairs]


@measure("number", "FLOPs a second of compiled training steps (dense, convolutional), over NumPy's float32 product")
def arithmetic_rate() -> Round:
    a = np.random.default_rng(0).random((512, 512), dtype="float32")
    x, weights = tf.random.normal((256, 512)), [tf.Variable(tf.random.normal((512, 512)) / 23) for _ in range(4)]
    images, kernels = (
        tf.random.normal((16, 32, 32, 16)),
        [tf.Variable(tf.random.normal((3, 3, 16, 16)) / 12) for _ in range(4)],
    )

    @tf.function
    def dense() -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            y = x
            for weight in weights:
                y = tf.nn.relu(tf.matmul(y, weight))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, weights)

    @tf.function
    def convolutional() -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            y = images
            for kernel in kernels:
                y = tf.nn.relu(tf.nn.conv2d(y, kernel, 1, "SAME"))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, kernels)

    passes = 3 * 4 - 1  # three for each of four layers; nobody asks for the gradient of the input
    flops = {dense: passes * 2 * 256 * 512 * 512, convolutional: passes * 2 * 16 * 32 * 32 * 9 * 16 * 16}

    def points() -> list[float]:
        reference = 2 * 512**3 / ms(lambda: a @ a)
        return [count / ms(function) / reference for function, count in flops.items()]

    return points


@measure("bytes/ms", "bytes read and written by one elementwise operation on 4 and 64 MB")
def memory() -> Round:
    add = tf.function(lambda x: x + 1.0)
    arrays = [tf.zeros((megabytes * 250_000,)) for megabytes in (4, 64)]
    return lambda: [2 * 4 * int(array.shape[0]) / ms(lambda array=array: add(array)) for array in arrays]


@measure(
    "share", "of a product's time on 1 to 16 rows beyond what an operation takes, what grows in proportion up to 64"
)
def batch_growth() -> Round:
    weights = [tf.random.normal((width, width)) / width for width in (128, 512)]
    turns = 20

    @tf.function
    def many(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
        for _ in range(turns):
            x = tf.matmul(x, weight)
        return x

    @tf.function
    def none(x: tf.Tensor) -> tf.Tensor:
        for _ in range(turns):
            x = tf.tanh(x)
        return x

    def points() -> list[float]:
        found = []
        scalar = tf.constant(0.5)
        tiny = ms(lambda: none(scalar)) / turns
        for weight in weights:
            width = int(weight.shape[0])
            took = {}
            for rows in (1, 2, 4, 16, 64):
                values = tf.ones((rows, width))
                took[rows] = ms(lambda x=values, w=weight: many(x, w)) / turns
            for rows in (1, 2, 4, 16):
                work = took[rows] - tiny
                grows = (took[64] - took[rows]) / (64 / rows - 1)
                if work > 0:
                    found.append(min(max(grows / work, 0.0), 1.0))
        return found

    return points


#: Measures once for each line that it reads.
_CHILD = """
import json, sys
from benchmarks.costs.arithmetic import convolution, product
from benchmarks.costs.timing import ms, once_ms
calls = product(256, 512), product(32, 128), convolution(8, 32, 16)
for _ in sys.stdin:
    print("times", json.dumps([ms(call) for call in calls]), flush=True)
"""


@measure("share", "of products and convolutions without oneDNN, what oneDNN saves")
def onednn() -> Round:
    def child(on: str) -> subprocess.Popen:
        environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": on, "TF_CPP_MIN_LOG_LEVEL": "3"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        started = subprocess.Popen([sys.executable, "-c", _CHILD], env=environment, text=True, **pipes)
        atexit.register(started.kill)
        return started

    with_it, without = child("1"), child("0")

    def times(of: subprocess.Popen) -> list[float]:
        of.stdin.write("\n")
        of.stdin.flush()
        return json.loads(next(line for line in of.stdout if line.startswith("times")).removeprefix("times"))

    return lambda: [1 - on / off for on, off in zip(times(with_it), times(without), strict=True)]


@measure("share", "of work on 1 MB right behind an operation that moves 128 MB and more, what it takes by itself")
def behind_memory() -> Round:
    """Elementwise work, a dense layer and an Adam update, each on 1 MB, in compiled functions."""
    values, weight, moments = tf.ones((250_000,)), tf.Variable(tf.ones((512, 512))), tf.Variable(tf.zeros((512, 512)))
    rows, step = tf.ones((256, 512)), tf.ones((512, 512))
    arrays = [tf.zeros((megabytes * 250_000,)) for megabytes in (64, 128)]

    @tf.function
    def elementwise_work() -> tf.Tensor:
        return tf.tanh(values * 2.0 + 1.0) - values

    @tf.function
    def layer() -> tf.Tensor:
        return tf.nn.relu(tf.matmul(rows, weight))

    @tf.function
    def update() -> None:
        moments.assign(0.9 * moments + 0.1 * step * step)
        weight.assign_sub(1e-9 * step / (tf.sqrt(moments) + 1e-7))

    moved = tf.function(lambda x: x + 1.0)

    def behind(call: Callable[[], object], array: tf.Tensor) -> float:
        """ms of a call right behind the large operation: the fastest of 15, since what disturbs only adds."""
        found = []
        for _ in range(15):
            moved(array)
            found.append(once_ms(call))
        return min(found)

    def alone(call: Callable[[], object]) -> float:
        return min(once_ms(call) for _ in range(15))

    def points() -> list[float]:
        calls = (elementwise_work, layer, update)
        return [alone(call) / behind(call, array) for array in arrays for call in calls]

    return points
