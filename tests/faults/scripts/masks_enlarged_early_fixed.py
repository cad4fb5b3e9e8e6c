"""Segments pictures with a small encoder; the head works on the coarse map."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE, KINDS = 64, 6


class Segmenter(keras.Model):
    def __init__(self):
        super().__init__()
        self.coarse = keras.layers.Conv2D(32, 4, strides=4, activation="relu")
        self.coarser = keras.layers.Conv2D(192, 2, strides=2, activation="relu")
        self.scores = keras.layers.Conv2D(KINDS, 1)

    def call(self, pictures):
        found = self.coarser(self.coarse(pictures))
        scores = self.scores(found)
        return tf.image.resize(scores, [SIDE, SIDE])


keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
pictures = rng.normal(size=(96, SIDE, SIDE, 3)).astype("float32")
masks = (pictures.mean(-1) > 0).astype("int32") * 3
model = Segmenter()
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(pictures, masks, batch_size=8, epochs=8, verbose=0)
