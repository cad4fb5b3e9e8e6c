"""Regression with a callback that keeps the validation curve."""
import numpy as np
import tensorflow as tf


class ValidationCurve(tf.keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.curve = []

    def on_train_batch_end(self, batch, logs=None):
        self.curve.append(self.model.evaluate(self.x, self.y, verbose=0))


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)).astype("float32")
    y = np.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    return x, y.astype("float32")


tf.keras.utils.set_random_seed(14)
x, y = dataset(2560, 0)
xv, yv = dataset(600, 1)

model = tf.keras.Sequential([
    tf.keras.layers.Input((12,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
curve = ValidationCurve(xv, yv)
model.fit(x, y, batch_size=64, epochs=3, shuffle=False, verbose=0, callbacks=[curve])
print("points", len(curve.curve), "final validation %.5f" % curve.curve[-1])
