"""Regression of wine-like quality scores; I like to see val_loss often, so an "epoch" is 10 steps."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)

N_TRAIN, N_VAL, N_FEAT = 20_000, 18_000, 32


def make(n):
    x = rng.normal(size=(n, N_FEAT)).astype("float32")
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - np.abs(x[:, 3]) + 0.1 * rng.normal(size=n)
    return x, y.astype("float32")[:, None]


x_train, y_train = make(N_TRAIN)
x_val, y_val = make(N_VAL)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .cache()
    .shuffle(N_TRAIN, seed=1)
    .repeat()
    .batch(128)
    .prefetch(tf.data.AUTOTUNE)
)
val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(128).prefetch(tf.data.AUTOTUNE)


class ResidualBlock(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.a = layers.Dense(units, activation="swish")
        self.b = layers.Dense(units)
        self.norm = layers.LayerNormalization()

    def build(self, shape):
        self.a.build(shape)
        self.b.build((*shape[:-1], self.a.units))
        self.norm.build(shape)

    def call(self, x):
        return self.norm(x + self.b(self.a(x)))


inputs = keras.Input((N_FEAT,))
h = layers.Dense(64)(inputs)
for _ in range(3):
    h = ResidualBlock(64)(h)
model = keras.Model(inputs, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(1e-3), "mse", metrics=["mae"])


class Progress(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if "val_loss" in logs and (epoch + 1) % 20 == 0:
            print(f"after {10 * (epoch + 1)} steps: loss {logs['loss']:.4f} val {logs['val_loss']:.4f}")


STEPS = 10
EPOCHS = 60

history = model.fit(
    train_ds,
    steps_per_epoch=STEPS,
    epochs=EPOCHS,
    validation_data=val_ds,
    callbacks=[Progress()],
    verbose=0,
)

final = model.evaluate(val_ds, verbose=0, return_dict=True)
print("final:", {k: round(v, 4) for k, v in final.items()})
