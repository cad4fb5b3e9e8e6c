import numpy as np
import tensorflow as tf

ratings = np.random.default_rng(2).integers(0, 1000, (12_000, 2)).astype(np.int32)
values = (ratings.sum(axis=1) % 5 + 1).astype(np.float32)
ds = tf.data.Dataset.from_tensor_slices((ratings, values))
ds = ds.shuffle(12_000).batch(1).prefetch(tf.data.AUTOTUNE)  # FAULT

users = tf.Variable(tf.random.normal((1000, 24), stddev=0.05))
items = tf.Variable(tf.random.normal((1000, 24), stddev=0.05))
bias = tf.Variable(3.0)
LEARNING_RATE = 0.02


@tf.function(input_signature=[tf.TensorSpec((None, 2), tf.int32), tf.TensorSpec((None,), tf.float32)])
def sgd(pair, value):  # FAULT
    with tf.GradientTape() as tape:
        u, v = tf.gather(users, pair[:, 0]), tf.gather(items, pair[:, 1])
        error = tf.reduce_sum(u * v, axis=1) + bias - value
        loss = tf.reduce_mean(error**2) + 1e-3 * tf.reduce_mean(u**2 + v**2)
    for variable, gradient in zip((users, items, bias), tape.gradient(loss, [users, items, bias])):
        if isinstance(gradient, tf.IndexedSlices):
            variable.scatter_sub(tf.IndexedSlices(LEARNING_RATE * gradient.values, gradient.indices))
        else:
            variable.assign_sub(LEARNING_RATE * gradient)
    return loss


mean = tf.keras.metrics.Mean()
total = 0.0
for pair, value in ds:
    total += sgd(pair, value)  # FAULT
print("mean squared error", float(total) / len(ds))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Single examples are trained on, so calling the compiled step costs more than the step"
# codes = ["BAT001"]
# families = ["batch"]
# source = "Stack Overflow questions on stochastic gradient descent with batch size 1 in TensorFlow 2"
# ///
