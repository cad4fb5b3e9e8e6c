import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
data = rng.normal(size=(4096, 24)).astype("float32")
target = data @ rng.normal(size=(24, 1)).astype("float32")
net = tf.keras.Sequential(
    [tf.keras.layers.Input((24,)), tf.keras.layers.Dense(48, activation="tanh"), tf.keras.layers.Dense(1)]
)
adam = tf.keras.optimizers.Adam(1e-3)


@tf.function
def improve(x, y):
    with tf.GradientTape() as tape:
        errors = tf.square(net(x) - y)
        loss = tf.reduce_mean(errors)
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return errors


worst, total, number = 0.0, 0.0, 0
for turn in range(1800):
    rows = rng.integers(0, len(data), 64)
    errors = improve(data[rows], target[rows])
    new = errors.numpy()[:, 0]
    worst = max(worst, float(new.max()))
    total, number = total + float(new.sum()), number + len(new)
    mean = total / number
print("mean", round(mean, 3), "worst", round(worst, 3))
