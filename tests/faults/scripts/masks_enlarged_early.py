"""Segments pictures with a small encoder; the head works at the full size of the picture."""

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
        found = tf.image.resize(found, [SIDE, SIDE])  # FAULT
        return self.scores(found)  # FAULT


keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
pictures = rng.normal(size=(96, SIDE, SIDE, 3)).astype("float32")
masks = (pictures.mean(-1) > 0).astype("int32") * 3
model = Segmenter()
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(pictures, masks, batch_size=8, epochs=8, verbose=0)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A head enlarges all channels of a map before a 1 x 1 convolution leaves a few"
# codes = ["GRF015"]
# families = ["graph"]
# source = "decoders of segmentation networks that resize features and not scores; issues on slow bilinear upsampling"
# ///
