"""Reads utility meter digits from image crops; mimics the request handler of our small web app."""
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

MODEL_FILE = os.path.join(tempfile.mkdtemp(prefix="meter_"), "digits.keras")
DIGITS = 6
H, W = 32, 24


def export_model():
    """In production this file comes out of the training job."""
    tf.keras.utils.set_random_seed(0)
    inp = tf.keras.Input((H, W, 1))
    x = inp
    for filters in (32, 64, 96):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = tf.keras.layers.BatchNormalization()(x)
        x = tf.keras.layers.ReLU()(x)
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = tf.keras.layers.BatchNormalization()(x)
        x = tf.keras.layers.ReLU()(x)
        x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Flatten()(x)
    x = tf.keras.layers.Dense(256, activation="relu")(x)
    out = tf.keras.layers.Dense(10, activation="softmax")(x)
    tf.keras.Model(inp, out).save(MODEL_FILE)


def read_meter(photo):
    model = tf.keras.models.load_model(MODEL_FILE)
    crops = split_digits(photo)
    probs = model.predict(crops, verbose=0)
    digits = probs.argmax(axis=1)
    return {
        "reading": "".join(str(d) for d in digits),
        "confidence": float(probs.max(axis=1).min()),
    }


def split_digits(photo):
    crops = np.split(photo, DIGITS, axis=1)
    crops = np.stack(crops)[..., None].astype("float32") / 255.0
    return crops - crops.mean(axis=(1, 2), keepdims=True)


def handle_request(body, photo):
    request = json.loads(body)
    result = read_meter(photo)
    result["customer"] = request["customer"]
    if result["confidence"] < request.get("min_confidence", 0.1):
        result["status"] = "manual"
    else:
        result["status"] = "accepted"
    return json.dumps(result)


if __name__ == "__main__":
    export_model()
    rng = np.random.default_rng(7)
    accepted = 0
    for i in range(50):
        photo = rng.integers(0, 255, (H, W * DIGITS)).astype("uint8")
        body = json.dumps({"customer": 1000 + i, "min_confidence": 0.11})
        answer = json.loads(handle_request(body, photo))
        accepted += answer["status"] == "accepted"
        if i % 10 == 0:
            print(answer)
    print("accepted %d of 50 readings" % accepted)
