"""Input pipelines: handing over a batch, calling a mapped function, keeping results."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from benchmarks.costs import measure
from benchmarks.costs.timing import once_ms

Round = Callable[[], list[float]]


def element_ms(dataset: tf.data.Dataset, elements: int) -> float:
    """ms an element, over that many of an endless data set, begun before."""
    iterator = iter(dataset)
    for _ in range(4):
        next(iterator)

    def take() -> None:
        for _ in range(elements):
            next(iterator)

    return min(once_ms(take) for _ in range(3)) / elements


@measure("ms", "taking a batch that is ready from a prefetched pipeline")
def fetch() -> Round:
    shapes = [(32, 32, 32, 3), (256, 64), (1,)]
    endless = [tf.data.Dataset.from_tensors(tf.zeros(shape)).repeat().prefetch(2) for shape in shapes]
    return lambda: [element_ms(dataset, 300) for dataset in endless]


def _mapped(operations: int) -> Callable[[tf.Tensor], tf.Tensor]:
    def body(x: tf.Tensor) -> tf.Tensor:
        for index in range(operations):
            x = tf.tanh(x) if index % 2 else x * 0.5
        return x

    return body


@measure("us", "calling a mapped function of 4 to 52 operations for an example of 80 bytes")
def map_call() -> Round:
    examples = tf.data.Dataset.from_tensors(tf.zeros((20,))).repeat()
    plain = examples.batch(64)
    mapped = [examples.map(_mapped(count)).batch(64) for count in (4, 20, 52)]

    def points() -> list[float]:
        without = element_ms(plain, 20)
        return [1e3 * (element_ms(dataset, 20) - without) / 64 for dataset in mapped]

    return points


@measure("share", "of a function mapped over single examples, what it takes mapped over batches of 8 to 64")
def map_batched() -> Round:
    examples = tf.data.Dataset.from_tensors(tf.zeros((20,))).repeat()

    def points() -> list[float]:
        found = []
        for count in (4, 52):
            for size in (8, 64):
                without = element_ms(examples.batch(size), 20)
                single = element_ms(examples.map(_mapped(count)).batch(size), 20) - without
                batched = element_ms(examples.batch(size).map(_mapped(count)), 20) - without
                found.append(min(max(batched / single, 0.0), 1.0))
        return found

    return points


@measure("share", "of decoding and resizing an image: giving the cached result")
def cached() -> Round:
    image = tf.cast(tf.random.uniform((192, 192, 3), maxval=255, dtype=tf.int32), tf.uint8)
    encoded = tf.io.encode_jpeg(image)

    def decode(data: tf.Tensor) -> tf.Tensor:
        return tf.image.resize(tf.io.decode_jpeg(data, channels=3), (96, 96)) / 255.0

    files = tf.data.Dataset.from_tensors(encoded).repeat(64).map(decode)
    kept = files.cache().repeat()
    anew = files.repeat()
    element_ms(kept, 100)  # the first epoch fills the cache; each iterator of the same data set shares it
    return lambda: [element_ms(kept.skip(64), 100) / element_ms(anew, 30)]
