"""A script without a training step: ``stepless.py SEED PART PART …`` does each part in turn and prints its result.

Each part keeps TensorFlow at work in another way for about a second. Its number depends on the seed alone.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

gc.disable()  # there is next to no garbage in an import of TensorFlow; looking for it takes a quarter of the time
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

gc.enable()

SEED = int(sys.argv[1])
random = np.random.default_rng(SEED)
ITEMS = tf.constant(random.normal(size=(200, 16)).astype("float32"))


def rows(*shape: int) -> np.ndarray:
    return random.normal(size=shape).astype("float32")


def model() -> keras.Model:
    """Small, with weights of the seed's."""
    network = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(4)])
    network.set_weights([rows(*weight.shape) * 0.1 for weight in network.get_weights()])
    return network


def predict() -> float:
    """Keras' ``predict`` in a loop: datasets, iterators and functions come and go."""
    network, data = model(), rows(8, 64, 16)
    return sum(float(network.predict(batch, verbose=0).sum()) for batch in data)


def predict_long() -> float:
    """One call of ``predict``: the loop is Keras'."""
    return float(model().predict(rows(3000, 16), batch_size=4, verbose=0).sum())


def layers() -> float:
    """The model called as a function, operation by operation."""
    network, data = model(), rows(150, 32, 16)
    return sum(float(tf.reduce_sum(network(batch))) for batch in data)


def iterate() -> float:
    """Return a dataset with Python and TensorFlow in it; NumPy works on its elements."""

    def numbers() -> Iterator[np.ndarray]:
        yield from data

    data = rows(400, 16)
    total = 0.0
    for _ in range(4):
        dataset = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec((16,)))
        for batch in dataset.map(lambda row: row * 2.0, num_parallel_calls=2).batch(4).prefetch(2).as_numpy_iterator():
            total += float(batch.sum())
    return total


def eager() -> float:
    """Arithmetic, and nothing that reads a value before the end."""
    value, weights = tf.constant(rows(16, 16)), tf.constant(rows(16, 16))
    for _ in range(1500):
        value = tf.tanh(value @ weights + 0.1) * 0.9
    return float(tf.reduce_sum(value))


def variables() -> float:
    """Variables written by methods."""
    total, change = tf.Variable(rows(64, 64)), tf.constant(rows(64, 64))
    for _ in range(3000):
        total.assign_add(change)
        total.assign(total * 0.99)
    return float(tf.reduce_mean(total))


def best(scores: tf.Tensor) -> tf.Tensor:
    values, indices = tf.math.top_k(scores, k=5)
    return tf.gather(ITEMS, indices) * values[:, None]


def map_fn() -> float:
    """``map_fn`` in a compiled function, as in the script that died."""

    @tf.function
    def recommend(batch: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.map_fn(best, tf.matmul(batch, ITEMS, transpose_b=True)), axis=1)

    data = rows(60, 64, 16)
    return sum(float(tf.reduce_mean(recommend(tf.constant(batch)))) for _ in range(4) for batch in data)


def map_eager() -> float:
    """``map_fn`` operation by operation: its loop is TensorFlow's."""
    data = rows(6, 40, 200)
    return sum(float(tf.reduce_mean(tf.map_fn(best, tf.constant(scores)))) for scores in data)


def threads() -> float:
    """Four threads call TensorFlow at once, and the main thread too."""

    @tf.function
    def squared(batch: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.square(batch))

    def work(batch: np.ndarray) -> float:
        total = 0.0
        for _ in range(60):
            total += float(squared(tf.constant(batch))) + float(tf.reduce_max(tf.constant(batch) + 1.0))
        return total

    data = rows(16, 64, 16)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(work, batch) for batch in data]
        own = sum(work(batch) for batch in data[:4])
        return own + sum(item.result() for item in waiting)


def session() -> float:
    """Run a graph of TensorFlow 1 in a session."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as active:
        fed = tf.compat.v1.placeholder(tf.float32, (None, 16))
        result = tf.reduce_sum(tf.matmul(fed, tf.constant(rows(16, 16))))
        return sum(float(active.run(result, {fed: batch})) for batch in rows(2000, 16, 16))


def py_function() -> float:
    """Python called from the runtime, which calls TensorFlow again."""

    @tf.function
    def around(batch: tf.Tensor) -> tf.Tensor:
        inside = tf.py_function(lambda value: tf.reduce_sum(tf.square(value)), [batch], tf.float32)
        return inside + tf.numpy_function(lambda value: value.mean(), [batch], tf.float32)

    return sum(float(around(tf.constant(batch))) for batch in rows(400, 16, 16))


def gradients() -> float:
    """Tapes without an optimizer, with a gradient of the script's own: Python below TensorFlow's C code."""

    @tf.custom_gradient
    def clipped(value: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        return tf.identity(value), lambda gradient: tf.clip_by_norm(tf.tanh(gradient), 1.0)

    total = 0.0
    for batch in rows(150, 16, 16):
        value = tf.constant(batch)
        with tf.GradientTape() as tape:
            tape.watch(value)
            result = tf.reduce_sum(clipped(tf.square(value)))
        total += float(tf.reduce_sum(tape.gradient(result, value)))
    return total


def short() -> float:
    """Thousands of the shortest calls."""

    @tf.function
    def add(value: tf.Tensor) -> tf.Tensor:
        return value + 1.0

    value = tf.constant(0.0)
    for _ in range(4000):
        value = add(value)
    return float(value)


def long() -> float:
    """Four calls, each a long one."""

    @tf.function
    def loop(value: tf.Tensor, turns: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(turns):
            value = tf.tanh(value) * 1.1
        return value

    value = tf.constant(rows(4, 4))
    for _ in range(4):
        value = loop(value, tf.constant(6000))
    return float(tf.reduce_sum(value))


def tracing() -> float:
    """Call a new function each time: most of the time is tracing."""
    total = 0.0
    for number in range(12):
        compiled = tf.function(lambda value, factor=float(number): tf.reduce_sum(tf.nn.relu(value) * factor))
        total += float(compiled(ITEMS))
    return total


def outside() -> float:
    """Plain Python and NumPy, with hardly any TensorFlow in between."""
    total = 0.0
    for number in range(12):
        words = sorted((str(value) for value in range(20_000)), key=lambda text: text[::-1])
        total += len(words) + float(np.sort(rows(20_000)).sum())
        if number % 5 == 0:
            total += float(tf.reduce_sum(ITEMS))
    return total


PARTS: dict[str, Callable[[], float]] = {
    part.__name__: part
    for part in (
        predict,
        predict_long,
        layers,
        iterate,
        eager,
        variables,
        map_fn,
        map_eager,
        threads,
        session,
        py_function,
        gradients,
        short,
        long,
        tracing,
        outside,
    )
}


if __name__ == "__main__":
    for name in sys.argv[2:]:
        random = np.random.default_rng((SEED, list(PARTS).index(name)))
        print(name, f"{PARTS[name]():.3f}", flush=True)
