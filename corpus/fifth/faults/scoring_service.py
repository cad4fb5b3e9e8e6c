"""A JSON scoring endpoint, driven by recorded requests instead of a socket."""

import json
import time

import numpy as np
import tensorflow as tf


def recorded(n, rows=48):
    rng = np.random.default_rng(9)
    bodies = []
    for _ in range(8):
        spectra = rng.standard_normal((rows, 400)).round(3).tolist()
        bodies.append(json.dumps({"instances": spectra}))
    return [bodies[i % 8] for i in range(n)]


class Endpoint:
    def __init__(self):
        inputs = tf.keras.Input((400,))
        h = tf.keras.layers.Dense(64, activation="relu")(inputs)
        h = tf.keras.layers.Dense(32, activation="relu")(h)
        self.model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, activation="softmax")(h))
        self._score = tf.function(
            lambda x: self.model(x, training=False), input_signature=[tf.TensorSpec([None, 400], tf.float32)]
        )

    def post(self, body):
        instances = json.loads(body)["instances"]
        x = tf.convert_to_tensor(instances, dtype=tf.float32)
        return json.dumps({"predictions": self._score(x).numpy().round(4).tolist()})


endpoint = Endpoint()
bodies = recorded(1600)
began = time.perf_counter()
size = 0
for body in bodies:
    size += len(endpoint.post(body))
took = time.perf_counter() - began
print(f"{len(bodies)} requests, {size} bytes out, {took:.2f} s")
