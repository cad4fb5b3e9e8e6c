"""Instance discrimination with a memory bank (Wu et al. 2018), tabular flavour.

Every sample keeps its last embedding in the bank; negatives are drawn from there.
"""
import time

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(13)

N, F, D = 100_000, 32, 128
BATCH, NEG = 128, 256
TAU, MOMENTUM = 0.1, 0.5


class BankModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = keras.Sequential([
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(D),
        ])
        start = tf.math.l2_normalize(tf.random.stateless_normal([N, D], [7, 7]), axis=1)
        self.bank = tf.Variable(start, trainable=False)
        self.track = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.track]

    def call(self, x):
        return tf.math.l2_normalize(self.net(x), axis=1)

    def remember(self, index, z):
        old = tf.gather(self.bank, index)
        new = tf.math.l2_normalize(MOMENTUM * old + (1 - MOMENTUM) * z, axis=1)
        self.bank.scatter_update(tf.IndexedSlices(new, index))

    def train_step(self, data):
        index, x = data
        negatives = tf.random.uniform([NEG], maxval=N, dtype=tf.int32)
        with tf.GradientTape() as tape:
            z = self(x, training=True)
            pos = tf.reduce_sum(z * tf.gather(self.bank, index), axis=1, keepdims=True)
            neg = tf.matmul(z, tf.gather(self.bank, negatives), transpose_b=True)
            logits = tf.concat([pos, neg], axis=1) / TAU
            labels = tf.zeros([tf.shape(z)[0]], tf.int32)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        weights = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.remember(index, z)
        self.track.update_state(loss)
        return {"loss": self.track.result()}


def features():
    rng = np.random.default_rng(2)
    group = rng.integers(0, 50, N)
    centres = rng.normal(size=(50, F))
    return (centres[group] + rng.normal(size=(N, F))).astype("float32")


x = features()
index = np.arange(N, dtype="int32")
ds = (tf.data.Dataset.from_tensor_slices((index[:10240], x[:10240]))
      .shuffle(10240, seed=3).batch(BATCH, drop_remainder=True).prefetch(2))

model = BankModel()
model.build((None, F))
model.compile(optimizer=keras.optimizers.SGD(0.03))
for round_ in range(3):
    t = time.time()
    h = model.fit(ds, epochs=1, verbose=0)
    print(f"round {round_}: loss {h.history['loss'][0]:.4f}, {time.time() - t:.1f} s", flush=True)
print("norm of first rows:", np.round(np.linalg.norm(model.bank[:3].numpy(), axis=1), 3))
