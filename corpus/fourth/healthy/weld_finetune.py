# Weld seams, good or bad: train the head, then fine-tune everything
import os
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(22)
rng = np.random.default_rng(22)
y = rng.integers(0, 2, 2400)
x = rng.normal(0, 1, (2400, 40, 40, 1)).astype("float32")
x[y == 1, 15:25, 10:30] += 0.7

base = keras.Sequential([
    layers.Input((40, 40, 1)),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"),
], name="base")
head = keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dropout(0.3), layers.Dense(1, activation="sigmoid")])
model = keras.Sequential([layers.Input((40, 40, 1)), base, head])

with tempfile.TemporaryDirectory() as folder:
    keep = keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.keras"), save_best_only=True)
    stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_split=0.2, epochs=2, batch_size=64, callbacks=[keep], verbose=2)
    for layer in base.layers[:1]:
        layer.trainable = False
    model.compile(keras.optimizers.Adam(1e-4), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_split=0.2, epochs=3, batch_size=64, callbacks=[keep, stop], verbose=2)
print("accuracy", round(model.evaluate(x, y, batch_size=256, verbose=0)[1], 3))
