"""Four-fold cross-validation of an insurance-quote model: one fresh model a fold, as it must be."""

import keras
import numpy as np
from keras import layers

FOLDS = 4


def build_model():
    model = keras.Sequential(
        [
            keras.Input((96,)),
            layers.Dense(512, activation="relu"),
            layers.Dense(512, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="rmsprop", loss="mse", metrics=["mae"])
    return model


rng = np.random.default_rng(0)
data = rng.normal(size=(24_000, 96)).astype("float32")
targets = data[:, :3].sum(axis=1)
size = len(data) // FOLDS
scores = []
for fold in range(FOLDS):
    held = slice(fold * size, (fold + 1) * size)
    train_x = np.concatenate([data[: held.start], data[held.stop :]])
    train_y = np.concatenate([targets[: held.start], targets[held.stop :]])
    model = build_model()
    model.fit(train_x, train_y, epochs=4, batch_size=256, verbose=0)
    _, mae = model.evaluate(data[held], targets[held], batch_size=512, verbose=0)
    scores.append(mae)
print(scores)
