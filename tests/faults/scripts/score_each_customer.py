"""A trained model scores customers as they come; trains for a moment, scores for long."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 20)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = tf.keras.Sequential(
    [tf.keras.Input((20,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)]
)
model.compile("adam", "mse")
model.fit(x, y, epochs=1, batch_size=64, verbose=0)


def score(customer):
    return float(model.predict(customer[np.newaxis], verbose=0)[0, 0])  # FAULT


def scored(customers):
    for customer in customers:
        yield score(customer)


customers = rng.normal(size=(130, 20)).astype("float32")
print("mean score", sum(scored(customers)) / len(customers))

# /// fault
# style = "fit"
# kind = "time"
# cause = "After training, model.predict is called for one row at a time"
# codes = ["EAG004"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #44711 (predict should not be used in a loop)"
# ///
