"""Stand-in for a web endpoint that scores customers with a saved model."""
import os
import tempfile

import numpy as np
import tensorflow as tf

FEATURES = 20


def train_and_store(path):
    tf.keras.utils.set_random_seed(9)
    m = tf.keras.Sequential([
        tf.keras.layers.Input((FEATURES,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    m.compile(optimizer="adam", loss="binary_crossentropy")
    m.save(path)


class ScoringService:
    def __init__(self, path):
        self.path = path
        self.served = 0

    def score(self, payload):
        model = tf.keras.models.load_model(self.path)
        x = np.asarray(payload["rows"], dtype="float32")
        self.served += len(x)
        return {"id": payload["id"], "scores": model(x).numpy()[:, 0].tolist()}


def requests(n):
    rng = np.random.default_rng(77)
    for i in range(n):
        yield {"id": i, "rows": rng.normal(size=(rng.integers(1, 6), FEATURES)).tolist()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scorer.keras")
        train_and_store(path)
        service = ScoringService(path)
        answers = [service.score(p) for p in requests(150)]
    flat = [s for a in answers for s in a["scores"]]
    print("served", service.served, "mean score %.5f" % np.mean(flat))


main()
