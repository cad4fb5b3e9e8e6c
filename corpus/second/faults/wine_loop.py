"""Train a small network on made-up wine measurements for a fixed number of steps."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=700)
parser.add_argument("--batch", type=int, default=64)
args = parser.parse_args()

tf.keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
X = rng.normal(size=(12000, 30)).astype("float32")
Y = (X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=12000)).astype("float32")[:, None]

train_data = (tf.data.Dataset.from_tensor_slices((X, Y))
              .shuffle(6000, seed=2)
              .batch(args.batch, drop_remainder=True)
              .prefetch(1))

model = tf.keras.Sequential([
    tf.keras.layers.Input((30,)),
    tf.keras.layers.Dense(96, activation="tanh"),
    tf.keras.layers.Dense(96, activation="tanh"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(args.steps):
    x, y = next(iter(train_data))
    loss = train_step(x, y)
    if step % 100 == 0:
        print("step", step, "loss %.4f" % float(loss))

print("last loss %.4f" % float(loss))
