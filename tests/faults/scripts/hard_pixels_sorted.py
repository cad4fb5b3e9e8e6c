"""Segments pictures; only the pixels with the largest losses of each picture count."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE, HARD = 128, 200


class Segmenter(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Conv2D(4, 3, padding="same", activation="relu")
        self.head = keras.layers.Conv2D(1, 1)

    def call(self, pictures):
        return self.head(self.body(pictures))[..., 0]

    def train_step(self, data):
        pictures, masks = data
        with tf.GradientTape() as tape:
            logits = self(pictures, training=True)
            each = tf.nn.sigmoid_cross_entropy_with_logits(labels=masks, logits=logits)
            each = tf.reshape(each, [-1, SIDE * SIDE])
            hardest = tf.sort(each, axis=-1, direction="DESCENDING")[:, :HARD]  # FAULT
            loss = tf.reduce_mean(hardest)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
pictures = rng.normal(size=(256, SIDE, SIDE, 1)).astype("float32")
masks = (pictures[..., 0] > 0.7).astype("float32")
model = Segmenter()
model.compile(optimizer=keras.optimizers.SGD(0.1))
model.fit(pictures, masks, batch_size=16, epochs=8, verbose=0)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A loss sorts all losses of a picture although only the largest few count"
# codes = ["GRF013"]
# families = ["graph"]
# source = "implementations of online hard example mining that use tf.sort or argsort; Stack Overflow questions on the mean of the k largest losses"
# ///
