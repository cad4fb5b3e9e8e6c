"""
Shop session -> "will this visitor buy?"  (TF 2, custom loop)

I moved from a bag-of-products logistic regression to this small network. The
network itself is tiny, but one pass over 12k sessions takes ages on my box.
Sessions are synthetic here so that everybody can run it.
"""
import time

import numpy as np
import tensorflow as tf

N_PRODUCTS = 12000
SESSION_LEN = 30
DIM = 64
BATCH = 128
N_SESSIONS = 128 * 40
EPOCHS = 3

np.random.seed(3)
tf.random.set_seed(3)


def synthetic_sessions(n):
    taste = np.random.randint(0, 40, size=n)
    base = taste[:, None] * (N_PRODUCTS // 40)
    local = base + np.random.randint(0, N_PRODUCTS // 40, size=(n, SESSION_LEN))
    noise = np.random.randint(0, N_PRODUCTS, size=(n, SESSION_LEN))
    pick = np.random.rand(n, SESSION_LEN) < 0.8
    ids = np.where(pick, local, noise).astype("int32")
    y = ((taste % 3 == 0) ^ (np.random.rand(n) < 0.05)).astype("float32")
    return ids, y


class ProductVectors(tf.keras.layers.Layer):
    """Trainable vector per product."""

    def __init__(self, n, dim):
        super().__init__()
        self.n, self.dim = n, dim

    def build(self, shape):
        self.table = self.add_weight(
            name="table", shape=(self.n, self.dim),
            initializer=tf.keras.initializers.RandomUniform(-0.05, 0.05, seed=1))

    def call(self, ids):
        return tf.gather(self.table, ids)


class IntentNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.vectors = ProductVectors(N_PRODUCTS, DIM)
        self.h = tf.keras.layers.Dense(
            64, "relu", kernel_initializer=tf.keras.initializers.GlorotUniform(2))
        self.score = tf.keras.layers.Dense(
            1, kernel_initializer=tf.keras.initializers.GlorotUniform(3))

    def call(self, ids):
        v = self.vectors(ids)
        recency = tf.linspace(0.5, 1.0, SESSION_LEN)[None, :, None]
        pooled = tf.reduce_mean(v * recency, axis=1)
        return self.score(self.h(pooled))[:, 0]


net = IntentNet()
opt = tf.keras.optimizers.Adam(3e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
acc = tf.keras.metrics.BinaryAccuracy(threshold=0.0)


@tf.function
def train_step(ids, y):
    with tf.GradientTape() as tape:
        logits = net(ids, training=True)
        loss = bce(y, logits)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    acc.update_state(y, logits)
    return loss


ids, y = synthetic_sessions(N_SESSIONS)
data = (tf.data.Dataset.from_tensor_slices((ids, y))
        .shuffle(N_SESSIONS, seed=5)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2))

for epoch in range(EPOCHS):
    t0 = time.time()
    acc.reset_state()
    for bx, by in data:
        loss = train_step(bx, by)
    print(f"epoch {epoch}: loss {float(loss):.4f} acc {float(acc.result()):.3f} "
          f"({time.time() - t0:.1f} s)")
