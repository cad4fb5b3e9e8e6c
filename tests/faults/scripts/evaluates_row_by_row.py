"""Checks a saved churn model against last month's customers: nothing is trained."""

import numpy as np
import tensorflow as tf

ROWS, COLUMNS = 260_000, 24


def customers():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(ROWS, COLUMNS)).astype("float32")
    return table, (table[:, 0] > 0.4).astype("float32")


def scaled(row, left):
    row = (row - tf.constant(0.1)) / tf.constant(2.5)
    return tf.concat([row, tf.math.square(row[:4])], axis=-1), left


def month():
    data = tf.data.Dataset.from_tensor_slices(customers())
    data = data.map(scaled)  # FAULT
    return data.batch(1024).prefetch(2)


def churn_model():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((COLUMNS + 4,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(loss="binary_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(1)
    loss, accuracy = churn_model().evaluate(month(), verbose=0)
    print(f"loss {loss:.3f}, right {accuracy:.3f}")

# /// fault
# style = "evaluate"
# kind = "time"
# cause = "A cheap function is mapped over single rows, and evaluating them is all that the script does"
# codes = ["INP007", "INP003"]
# families = ["input"]
# source = "the guide 'Better performance with the tf.data API', vectorized mapping; Stack Overflow questions on why model.evaluate on a tf.data.Dataset is slow"
# ///
