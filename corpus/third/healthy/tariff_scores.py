"""Score a million customers with a saved model, a file of blocks at a time, and write the scores."""
import os
import tempfile

import numpy as np
import tensorflow as tf

BLOCKS, ROWS, COLUMNS = 10, 60000, 64


def export_model(folder):
    tf.keras.utils.set_random_seed(12)
    model = tf.keras.Sequential([
        tf.keras.layers.Input((COLUMNS,)),
        tf.keras.layers.Dense(512, activation="gelu"),
        tf.keras.layers.Dense(512, activation="gelu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    path = os.path.join(folder, "tariff.keras")
    model.save(path)
    return path


def write_blocks(folder):
    rng = np.random.default_rng(12)
    for block in range(BLOCKS):
        np.save(os.path.join(folder, f"block-{block}.npy"), rng.standard_normal((ROWS, COLUMNS), dtype="float32"))


def score(folder, path):
    model = tf.keras.models.load_model(path)
    serve = tf.function(lambda rows: model(rows, training=False)[:, 0],
                        input_signature=[tf.TensorSpec([None, COLUMNS])])
    total = 0.0
    for block in range(BLOCKS):
        rows = np.load(os.path.join(folder, f"block-{block}.npy"))
        scores = np.concatenate([serve(part).numpy() for part in np.split(rows, 12)])
        np.save(os.path.join(folder, f"scores-{block}.npy"), scores)
        total += scores.sum()
    return total / (BLOCKS * ROWS)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        saved = export_model(where)
        write_blocks(where)
        print(f"mean score {score(where, saved):.4f}")
