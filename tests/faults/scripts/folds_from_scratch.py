"""Leave-some-out cross-validation of a small regressor."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(33)
X = rng.normal(size=(240, 8)).astype("float32")
Y = (X @ rng.normal(size=(8, 1)) + 0.1 * rng.normal(size=(240, 1))).astype("float32")
FOLDS = 16


def make_model():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dropout(0.1),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), loss="mse")
    return model


scores = []
for fold in range(FOLDS):
    held = np.arange(240) % FOLDS == fold
    model = make_model()  # FAULT
    model.fit(X[~held], Y[~held], batch_size=46, epochs=6, verbose=0)  # FAULT
    scores.append(float(np.mean((np.array(model(X[held])) - Y[held]) ** 2)))
print("cross-validated mse", np.mean(scores))

# /// fault
# style = "fit"
# kind = "time"
# cause = "Model and optimizer are built and traced again for each of many short fits"
# codes = ["CMP004", "RET008", "EAG006"]
# families = ["compile", "retrace", "eager"]
# source = "GitHub, tensorflow/tensorflow #47971 'Training becomes increasingly slower when creating models in a loop'; Stack Overflow questions on cross-validation in Keras"
# ///
