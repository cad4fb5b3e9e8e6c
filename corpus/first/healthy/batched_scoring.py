"""Score a big table with a stored network in large batches."""
import numpy as np
import tensorflow as tf

ROWS, COLS = 600_000, 64


def build():
    inp = tf.keras.Input((COLS,))
    h = tf.keras.layers.Dense(512, activation="relu")(inp)
    h = tf.keras.layers.Dense(512, activation="relu")(h)
    h = tf.keras.layers.Dense(256, activation="relu")(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(4, activation="softmax")(h))


def main():
    tf.keras.utils.set_random_seed(1)
    model = build()
    rows = np.random.default_rng(1).standard_normal((ROWS, COLS), dtype=np.float32)
    scores = model.predict(rows, batch_size=4096, verbose=0)
    print("scored", scores.shape, "class shares", np.bincount(scores.argmax(axis=1), minlength=4) / ROWS)


if __name__ == "__main__":
    main()
