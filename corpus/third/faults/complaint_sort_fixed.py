"""Sort short complaints into departments with an embedding and a GRU."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WORDS, DEPARTMENTS, LONGEST = 5000, 6, 256


def complaints(count, seed):
    """Most complaints have a few words only, one in five hundred is a letter."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.poisson(14, count), 3, 40)
    lengths[rng.random(count) < 0.002] = LONGEST
    department = rng.integers(0, DEPARTMENTS, count)
    texts = []
    for length, d in zip(lengths, department):
        words = rng.integers(100, WORDS, length)
        words[: max(1, length // 3)] = d + 1
        texts.append(rng.permutation(words).astype("int32"))
    return texts, department.astype("int32")


def prepare(texts, department, batch):
    words = tf.ragged.constant(texts, dtype=tf.int32)
    data = tf.data.Dataset.from_tensor_slices((words, department)).batch(batch)
    # a batch is as wide as its longest complaint
    return data.map(lambda w, d: (w.to_tensor(), d)).prefetch(2)


def classifier():
    model = tf.keras.Sequential([
        layers.Embedding(WORDS, 32, mask_zero=True),
        layers.GRU(48),
        layers.Dense(DEPARTMENTS),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(3e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    tf.keras.utils.set_random_seed(8)
    texts, department = complaints(1600, 8)
    model = classifier()
    model.fit(prepare(texts, department, 32), epochs=2, verbose=2)


main()
