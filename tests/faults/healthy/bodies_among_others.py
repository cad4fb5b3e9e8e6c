"""Learns how bodies pull at each other, with a penalty on what each result owes to each body: all count."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

BODIES, WIDE = 24, 64

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
query, value = (keras.layers.Dense(WIDE) for _ in range(2))
last = keras.layers.Dense(1)
places = rng.normal(size=(1200, BODIES, 3)).astype("float32")
pulls = np.linalg.norm(places - places.mean(axis=1, keepdims=True), axis=2).astype("float32")


def pulled(bodies):
    near = tf.nn.softmax(tf.matmul(query(bodies), query(bodies), transpose_b=True))
    return last(tf.nn.swish(near @ value(bodies)))[:, 0]


pulled(places[0])
weights = [*query.trainable_variables, *value.trainable_variables, *last.trainable_variables]
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(weights)


@tf.function
def learn(bodies, pull):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(bodies)
            guess = pulled(bodies)
        slopes = inner.jacobian(guess, bodies)
        loss = tf.reduce_mean(tf.square(guess - pull)) + 1e-3 * tf.reduce_sum(tf.square(slopes))
    optimizer.apply(tape.gradient(loss, weights), weights)
    return loss


for bodies, pull in tf.data.Dataset.from_tensor_slices((places, pulls)).cache().repeat().prefetch(2).take(1500):
    loss = learn(bodies, pull)
print(f"loss {float(loss):.3f}")

# /// healthy
# style = "custom"
# note = "the squares of a whole jacobian are added up, and no block of it is zero"
# ///
