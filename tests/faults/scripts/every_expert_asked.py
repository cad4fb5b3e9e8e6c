"""Speech of eight languages: one adapter for each language, of which a recording needs its own."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

LANGUAGES, WIDTH = 8, 48


class Adapters(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.adapters = [
            keras.Sequential([keras.layers.Dense(512, activation="relu"), keras.layers.Dense(WIDTH)])
            for _ in range(LANGUAGES)
        ]

    def build(self, shape):
        for adapter in self.adapters:
            adapter.build((None, WIDTH))

    def call(self, sound, language):
        every = tf.stack([adapter(sound) for adapter in self.adapters], axis=1)  # FAULT
        return tf.gather(every, language, axis=1, batch_dims=1)  # FAULT


class Recogniser(keras.Model):
    def __init__(self):
        super().__init__()
        self.adapt, self.out = Adapters(), keras.layers.Dense(20)

    def call(self, inputs):
        sound, language = inputs
        return self.out(sound + self.adapt(sound, language))


keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
sound = rng.normal(size=(20000, WIDTH)).astype("float32")
language = rng.integers(0, LANGUAGES, 20000).astype("int32")
word = rng.integers(0, 20, 20000)
data = tf.data.Dataset.from_tensor_slices(((sound, language), word)).cache().shuffle(4000)
model = Recogniser()
model.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data.batch(512, drop_remainder=True).prefetch(2), epochs=4, verbose=0)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "All eight adapters run on all rows, and a lookup takes one result of each row"
# codes = ["GRF017"]
# families = ["graph"]
# source = "Stack Overflow and GitHub questions on conditional computation in Keras, where tf.where or gather computes all branches"
# ///
