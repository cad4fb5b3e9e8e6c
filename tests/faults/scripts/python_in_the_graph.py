import numpy as np
import tensorflow as tf

rng = np.random.default_rng(14)
sequences = rng.normal(size=(4096, 48)).astype(np.float32)
scale = np.linspace(1.0, 0.2, 48, dtype=np.float32)

net = tf.keras.Sequential(
    [
        tf.keras.Input((48,)),
        tf.keras.layers.Dense(96, activation="relu"),
        tf.keras.layers.Dense(48),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


def ranks(values):
    values = np.asarray(values)
    out = np.empty(values.shape, np.float32)
    for row in range(values.shape[0]):
        out[row, np.argsort(-np.abs(values[row]))] = scale
    return out


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        error = net(batch, training=True) - batch
        weight = tf.numpy_function(ranks, [error], tf.float32)  # FAULT
        loss = tf.reduce_mean(tf.ensure_shape(weight, (None, 48)) * error**2)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(sequences).shuffle(4096).batch(128).prefetch(2)
for epoch in range(20):
    for batch in data:
        loss = train_step(batch)
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", float(loss))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The compiled step calls back into Python for a part of its loss"
# codes = ["OPS004"]
# families = ["graph"]
# source = "GitHub, tensorflow/tensorflow #14448; Stack Overflow questions on tf.numpy_function in a loss"
# ///
