"""Train on batches from another machine."""

import time

import numpy as np
import tensorflow as tf


class FeatureStore:
    """Client of a feature store; a batch takes a while to arrive."""

    def __init__(self, latency):
        self.latency = latency
        self.rng = np.random.default_rng(0)

    def fetch(self, size):
        time.sleep(self.latency)
        x = self.rng.standard_normal((size, 512)).astype(np.float32)
        return x, (x[:, :1] > x[:, 1:2]).astype(np.float32)


store = FeatureStore(latency=0.03)


def batches():
    for _ in range(90):
        yield store.fetch(256)


dataset = tf.data.Dataset.from_generator(
    batches,
    output_signature=(tf.TensorSpec((256, 512), tf.float32), tf.TensorSpec((256, 1), tf.float32)),
).prefetch(4)

model = tf.keras.Sequential(
    [
        tf.keras.Input((512,)),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.SGD(0.01)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


begin = time.time()
for step, (x, y) in enumerate(dataset):
    loss = train_step(x, y)
    if step % 30 == 0:
        print(f"step {step}: loss {float(loss):.4f} after {time.time() - begin:.1f} s")
print("loss", float(loss))
