"""Predict a rating from the tags of an article."""
import numpy as np
import tensorflow as tf

TAGS, PER_ITEM, BATCH = 12000, 12, 64


class TagRegressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.project = tf.keras.layers.Embedding(TAGS, 32, embeddings_initializer="glorot_uniform")
        self.head = tf.keras.layers.Dense(1)

    def call(self, tags):
        return self.head(tf.nn.relu(tf.reduce_sum(self.project(tags), axis=1)))


def articles(n):
    rng = np.random.default_rng(80)
    tags = rng.integers(0, TAGS, size=(n, PER_ITEM)).astype("int32")
    weight = rng.normal(size=TAGS)
    return tags, weight[tags].sum(axis=1, keepdims=True).astype("float32")


tf.keras.utils.set_random_seed(80)
tags, rating = articles(18000)
model = TagRegressor()
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
result = model.fit(tags, rating, batch_size=BATCH, epochs=2, verbose=0, shuffle=False)
print("mse %.3f" % result.history["loss"][-1])
