"""Regression with early stopping, a learning-rate schedule and a checkpoint for each epoch."""

import os
import tempfile

import keras
import numpy as np

out = tempfile.mkdtemp()
rng = np.random.default_rng(8)
x = rng.normal(size=(20_000, 256)).astype("float32")
y = np.sin(x[:, :4]).sum(axis=1, keepdims=True).astype("float32")

inputs = keras.Input((256,))
h = inputs
for width in (512, 512, 256):
    h = keras.layers.Dense(width, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
callbacks = [
    keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True),
    keras.callbacks.ReduceLROnPlateau(patience=2),
    keras.callbacks.ModelCheckpoint(os.path.join(out, "best.weights.h5"), save_best_only=True, save_weights_only=True),
]
log = model.fit(x, y, validation_split=0.1, batch_size=256, epochs=8, verbose=2, callbacks=callbacks)
print("best", min(log.history["val_loss"]))

# /// healthy
# style = "fit"
# ///
