"""Embeds songs so that those of one artist lie together. Sorts, masks and products that are needed."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SONGS, ARTISTS, BATCH, WIDTH = 4096, 200, 256, 64


def encoder():
    return keras.Sequential([keras.Input((40,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(WIDTH)])


class Attend(keras.layers.Layer):
    def build(self, shape):
        self.query = self.add_weight(shape=(WIDTH, WIDTH), name="query")

    def call(self, songs):
        scores = tf.nn.softmax(tf.matmul(songs @ self.query, songs, transpose_b=True) / 8.0)
        return songs + scores @ songs


def contrast(songs, artist):
    songs = tf.math.l2_normalize(songs, axis=1)
    alike = tf.matmul(songs, songs, transpose_b=True)
    same = tf.cast(artist[:, None] == artist[None, :], tf.float32)
    logs = tf.nn.log_softmax(alike / 0.1)
    pulled = tf.reduce_sum(same * logs, 1) / tf.reduce_sum(same, 1)
    hardest = tf.math.top_k(alike * (1.0 - same), k=8).values
    spread = tf.reduce_mean(tf.abs(tf.sort(alike[0]) - tf.linspace(-1.0, 1.0, BATCH)))
    return -tf.reduce_mean(pulled) + 0.1 * tf.reduce_mean(hardest) + 0.01 * spread


def prototypes(songs, artist, table):
    near = tf.reduce_sum(table * table, 1) - 2.0 * tf.matmul(songs, table, transpose_b=True)
    chosen = tf.gather(table, artist)
    kind = tf.one_hot(artist % 4, 4) @ tf.ones([4, WIDTH])
    return tf.reduce_mean(tf.square(songs - chosen)) + 1e-3 * tf.reduce_mean(near) + 1e-6 * tf.reduce_sum(kind)


keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
artists = rng.integers(0, ARTISTS, SONGS).astype("int32")
songs = rng.normal(size=(SONGS, 40)).astype("float32") + artists[:, None] / ARTISTS
network = keras.Sequential([encoder(), Attend()])
table = tf.Variable(tf.random.normal([ARTISTS, WIDTH]))
optimizer = keras.optimizers.SGD(0.01)
network.build((None, 40))


@tf.function
def train_step(batch, artist):
    with tf.GradientTape() as tape:
        out = network(batch, training=True)
        loss = contrast(out, artist) + prototypes(out, artist, table)
    variables = [*network.trainable_variables, table]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((songs, artists)).cache().shuffle(SONGS).repeat()
for batch, artist in data.batch(BATCH, drop_remainder=True).prefetch(2).take(600):
    loss = train_step(batch, artist)
print(f"loss {float(loss):.3f}")

# /// healthy
# style = "custom"
# ///
