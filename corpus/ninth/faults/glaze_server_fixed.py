"""Offline replay of a request log against the ceramic glaze defect service."""
import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LINES = ("plates", "mugs")


def export_models(root):
    for i, line in enumerate(LINES):
        tf.keras.utils.set_random_seed(40 + i)
        inp = tf.keras.Input((48, 48, 3))
        x = inp
        for width in (16, 24, 32, 48):
            y = layers.SeparableConv2D(width, 3, padding="same", use_bias=False)(x)
            y = layers.BatchNormalization()(y)
            y = layers.Activation("relu")(y)
            y = layers.SeparableConv2D(width, 3, padding="same", use_bias=False)(y)
            y = layers.BatchNormalization()(y)
            x = layers.Add()([y, layers.Conv2D(width, 1)(x)])
            x = layers.MaxPooling2D(2)(x)
        x = layers.GlobalAveragePooling2D()(x)
        model = tf.keras.Model(inp, layers.Dense(4, activation="softmax")(x))
        model.export(os.path.join(root, line, "1"), verbose=False)


def request_log(n):
    rng = np.random.default_rng(77)
    for i in range(n):
        yield json.dumps({
            "id": i,
            "line": LINES[i % len(LINES)],
            "shape": [48, 48, 3],
            "pixels": rng.integers(0, 256, 48 * 48 * 3).tolist(),
        })


class Service:
    def __init__(self, root):
        self.root = root
        self.served = 0
        self.models = {}

    def latest(self, line):
        versions = sorted(int(v) for v in os.listdir(os.path.join(self.root, line)))
        return os.path.join(self.root, line, str(versions[-1]))

    def model_for(self, line):
        path = self.latest(line)
        if path not in self.models:
            self.models[path] = tf.saved_model.load(path)
        return self.models[path]

    def handle(self, body):
        request = json.loads(body)
        image = np.array(request["pixels"], "float32").reshape(request["shape"]) / 255.0
        model = self.model_for(request["line"])
        probs = model.serve(tf.constant(image[None]))[0].numpy()
        self.served += 1
        return {"id": request["id"], "defect": int(probs.argmax()), "score": float(probs.max())}


def main():
    with tempfile.TemporaryDirectory() as root:
        export_models(root)
        service = Service(root)
        answers = [service.handle(body) for body in request_log(24)]
    counts = np.bincount([a["defect"] for a in answers], minlength=4)
    print("served", service.served, "defects", counts,
          "mean score %.5f" % np.mean([a["score"] for a in answers]))


if __name__ == "__main__":
    main()
