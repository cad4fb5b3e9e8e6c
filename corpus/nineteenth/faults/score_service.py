"""Credit scoring endpoint: handler functions as a web framework would call them."""
import json
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

MODEL_ROOT = os.path.join(tempfile.gettempdir(), "score_models_%d" % os.getpid())
FEATURES = ["age", "income", "debt", "n_loans", "utilisation", "months_since", "inquiries", "balance"]


def publish(version, seed):
    rng = np.random.RandomState(seed)

    class Scorer(tf.Module):
        def __init__(self):
            super().__init__()
            sizes = [len(FEATURES)] + [32] * 14 + [1]
            self.kernels = [tf.Variable(rng.randn(a, b).astype(np.float32) * (2.0 / a) ** 0.5)
                            for a, b in zip(sizes, sizes[1:])]
            self.scales = [tf.Variable(np.ones(b, np.float32)) for b in sizes[1:-1]]

        @tf.function(input_signature=[tf.TensorSpec((None, len(FEATURES)), tf.float32, name="features")])
        def score(self, features):
            h = features
            for kernel, scale in zip(self.kernels[:-1], self.scales):
                h = tf.matmul(h, kernel)
                mean, var = tf.nn.moments(h, [-1], keepdims=True)
                h = tf.nn.relu((h - mean) * tf.math.rsqrt(var + 1e-3) * scale)
            return {"score": tf.sigmoid(tf.matmul(h, self.kernels[-1]))}

    scorer = Scorer()
    tf.saved_model.save(scorer, os.path.join(MODEL_ROOT, str(version)), signatures={"serving_default": scorer.score})


class PredictionsHandler:
    def __init__(self, root):
        self.root = root

    def latest(self):
        return os.path.join(self.root, str(max(int(v) for v in os.listdir(self.root))))

    def get_predictions(self, body):
        rows = json.loads(body)["rows"]
        features = np.array([[row[name] for name in FEATURES] for row in rows], np.float32)
        features = (features - 0.5) / 0.29
        model = tf.saved_model.load(self.latest())
        scores = model.signatures["serving_default"](features=tf.constant(features))["score"]
        return json.dumps({"scores": [round(float(s), 4) for s in scores.numpy()[:, 0]]})


def request_bodies(n, seed=9):
    rng = np.random.RandomState(seed)
    for _ in range(n):
        rows = [dict(zip(FEATURES, map(float, rng.rand(len(FEATURES))))) for _ in range(rng.randint(1, 6))]
        yield json.dumps({"rows": rows})


def main():
    try:
        publish(1, seed=1)
        publish(2, seed=2)
        handler = PredictionsHandler(MODEL_ROOT)
        served, declined = 0, 0
        for body in request_bodies(22):
            scores = json.loads(handler.get_predictions(body))["scores"]
            served += len(scores)
            declined += sum(s < 0.5 for s in scores)
        print("applications", served, "declined", declined)
    finally:
        shutil.rmtree(MODEL_ROOT, ignore_errors=True)


if __name__ == "__main__":
    main()
