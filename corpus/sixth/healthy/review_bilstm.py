"""Sentiment of made-up reviews: vectorised once, cached, a bidirectional LSTM."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
words = np.array([f"word{i}" for i in range(2000)])
reviews = [" ".join(rng.choice(words, 60)) for _ in range(2500)]
labels = rng.integers(0, 2, 2500)

vectorize = layers.TextVectorization(max_tokens=2000, output_sequence_length=60)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(reviews).batch(256))
dataset = (
    tf.data.Dataset.from_tensor_slices((reviews, labels))
    .batch(64)
    .map(lambda text, label: (vectorize(text), label), num_parallel_calls=tf.data.AUTOTUNE)
    .cache()
    .shuffle(64)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential(
    [
        layers.Input((60,)),
        layers.Embedding(2001, 64),
        layers.Bidirectional(layers.LSTM(64)),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), optimizer="adam", metrics=["accuracy"])
model.fit(dataset, epochs=4, verbose=2)
