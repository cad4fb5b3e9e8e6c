"""Sentiment of short reviews, in batches of like length, each padded to a multiple of 40 words."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(3)
lengths = np.minimum(rng.geometric(1 / 24, 2400) + 4, 190)
reviews = [rng.integers(1, 4000, count).tolist() for count in lengths]
liked = np.array([int(sum(review) / len(review) > 2000) for review in reviews])


def one_by_one():
    for review, label in zip(reviews, liked):
        yield review, label


types = (tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int64))
data = tf.data.Dataset.from_generator(one_by_one, output_signature=types).cache()
data = data.bucket_by_sequence_length(
    lambda review, label: tf.shape(review)[0], [41, 81, 121], [48, 48, 48, 48], pad_to_bucket_boundary=False
)
data = data.shuffle(100)

model = keras.Sequential(
    [
        keras.Input((None,)),
        keras.layers.Embedding(4000, 32),
        keras.layers.GRU(32),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(data, epochs=3, verbose=0)
print("loss", history.history["loss"][-1])
