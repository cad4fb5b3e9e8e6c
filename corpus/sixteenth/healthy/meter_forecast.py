# Day-ahead load forecast: one model for many meters, then a report per horizon.
import numpy as np
import tensorflow as tf
from tensorflow import keras

PAST, AHEAD, METERS, HOURS = 168, 24, 60, 2400


def load_curves(rng):
    t = np.arange(HOURS)
    daily = np.sin(2 * np.pi * (t[None] / 24 + rng.random((METERS, 1))))
    weekly = np.sin(2 * np.pi * (t[None] / 168 + rng.random((METERS, 1))))
    scale = rng.uniform(0.5, 2, size=(METERS, 1))
    return (scale * (daily + 0.4 * weekly) + rng.normal(scale=0.2, size=(METERS, HOURS))).astype("float32")


def windows(curves, first, last, stride):
    view = np.lib.stride_tricks.sliding_window_view(curves[:, first:last], PAST + AHEAD, axis=1)
    view = view[:, ::stride].reshape(-1, PAST + AHEAD)
    return np.ascontiguousarray(view[:, :PAST]), np.ascontiguousarray(view[:, PAST:])


rng = np.random.default_rng(12)
keras.utils.set_random_seed(12)
curves = load_curves(rng)
x_train, y_train = windows(curves, 0, 1900, 3)
x_test, y_test = windows(curves, 1900, HOURS, 1)

model = keras.Sequential([
    keras.layers.Input((PAST,)),
    keras.layers.Dense(768, activation="relu"),
    keras.layers.Dense(768, activation="relu"),
    keras.layers.Dense(AHEAD),
])
model.compile(keras.optimizers.Adam(1e-3), "mse")
history = model.fit(x_train, y_train, batch_size=512, epochs=10, verbose=0,
                    validation_data=(x_test[::10], y_test[::10]), validation_batch_size=1024)
pred = model.predict(x_test, batch_size=2048, verbose=0)
error = np.abs(pred - y_test).mean(axis=0)
naive = np.abs(x_test[:, -24:] - y_test).mean(axis=0)
print(len(x_train), "windows for training,", len(x_test), "for the report")
print("validation loss", [round(v, 4) for v in history.history["val_loss"]])
for h in (0, 5, 11, 23):
    print(f"hour +{h + 1:2d}: MAE {error[h]:.3f} (same hour yesterday {naive[h]:.3f})")
