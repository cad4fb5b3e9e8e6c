"""Claims triage service: JSON requests in, fraud scores out.

The HTTP layer is left out; `replay` pushes a recorded afternoon of requests
through the same handler the web framework calls.
"""
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

FIELDS = ["amount", "age_days", "prior_claims", "distance_km", "repairs", "tenure"]
REGIONS = ["north", "south", "east", "west", "centre"]
REQUESTS = 48


def train_stand_in(path):
    """Stands in for the nightly job which delivers the model file."""
    tf.keras.utils.set_random_seed(1)
    numeric = tf.keras.Input((len(FIELDS),), name="numeric")
    region = tf.keras.Input((1,), dtype="int32", name="region")
    emb = tf.keras.layers.Flatten()(tf.keras.layers.Embedding(len(REGIONS), 4)(region))
    x = tf.keras.layers.Concatenate()([numeric, emb])
    for width in (256, 256, 128, 128, 64, 64):
        skip = tf.keras.layers.Dense(width)(x)
        x = tf.keras.layers.Dense(width, activation="relu")(x)
        x = tf.keras.layers.LayerNormalization()(x)
        x = tf.keras.layers.Add()([x, skip])
    score = tf.keras.layers.Dense(1, activation="sigmoid", name="fraud")(x)
    model = tf.keras.Model({"numeric": numeric, "region": region}, score)
    model.compile("adam", "binary_crossentropy")
    model.save(path)


class TriageHandler:
    def __init__(self, model_path, threshold):
        self.model_path = model_path
        self.threshold = threshold

    def encode(self, claims):
        numeric = np.array([[c[f] for f in FIELDS] for c in claims], dtype="float32")
        numeric = np.log1p(np.abs(numeric)) * np.sign(numeric)
        region = np.array([[REGIONS.index(c["region"])] for c in claims], dtype="int32")
        return {"numeric": tf.constant(numeric), "region": tf.constant(region)}

    def model(self):
        return tf.keras.models.load_model(self.model_path, compile=False)

    def __call__(self, body):
        claims = json.loads(body)["claims"]
        scores = self.model()(self.encode(claims), training=False)[:, 0]
        answer = [
            {"id": c["id"], "score": round(float(s), 4), "review": bool(s > self.threshold)}
            for c, s in zip(claims, scores.numpy())
        ]
        return json.dumps({"results": answer})


def recorded_requests(n):
    rng = np.random.default_rng(8)
    for k in range(n):
        claims = []
        for j in range(int(rng.integers(3, 40))):
            claim = {f: float(v) for f, v in zip(FIELDS, rng.gamma(2.0, 30.0, len(FIELDS)))}
            claim["id"] = f"{k:04d}-{j:02d}"
            claim["region"] = REGIONS[int(rng.integers(len(REGIONS)))]
            claims.append(claim)
        yield json.dumps({"claims": claims})


def replay(handler, requests):
    reviewed = total = 0
    score_sum = 0.0
    for body in requests:
        for row in json.loads(handler(body))["results"]:
            total += 1
            reviewed += row["review"]
            score_sum += row["score"]
    return total, reviewed, score_sum / total


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "triage.keras")
        train_stand_in(path)
        handler = TriageHandler(path, threshold=0.5)
        total, reviewed, mean = replay(handler, recorded_requests(REQUESTS))
    print(f"{total} claims in {REQUESTS} requests, {reviewed} for review, mean score {mean:.4f}")


if __name__ == "__main__":
    main()
