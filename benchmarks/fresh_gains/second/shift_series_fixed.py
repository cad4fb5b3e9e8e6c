"""Forecasts the next value of series; lagged rows are put together for each batch."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
series = rng.normal(size=20_000).cumsum().astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
model.build((None, 48))
optimizer.build(model.trainable_variables)


@tf.function
def train(rows, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(rows, training=True)[:, 0] - targets) ** 2)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


def lagged(starts):
    return series[np.asarray(starts)[:, None] + np.arange(48)]


for _step in range(400):
    starts = rng.integers(0, 19_000, 128)
    loss = train(lagged(starts), series[starts + 48])
print(float(loss))
