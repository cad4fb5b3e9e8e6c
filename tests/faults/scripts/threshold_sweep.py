"""Picks the threshold at which a detector of faulty parts has the best F1 score."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
net = tf.keras.Sequential(
    [
        tf.keras.Input((48, 48, 1)),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
rng = np.random.default_rng(3)
pictures = rng.normal(size=(512, 48, 48, 1)).astype("float32")
faulty = rng.random(512) < 0.4


def f1_at(quantile):
    score = net.predict(pictures, batch_size=128, verbose=0)[:, 0]  # FAULT
    flagged = score > np.quantile(score, quantile)
    hits = np.sum(flagged & faulty)
    return 2 * hits / (np.sum(flagged) + np.sum(faulty))


best = max((f1_at(quantile), quantile) for quantile in np.linspace(0.02, 0.98, 25))
print(f"F1 {best[0]:.3f} at the quantile {best[1]:.2f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "predict goes through the same pictures again for each threshold, though nothing has changed the weights"
# codes = ["EAG017", "EAG004"]
# families = ["eager"]
# source = "searches for a threshold in public notebooks that call predict in the loop"
# renamed = true
# ///
