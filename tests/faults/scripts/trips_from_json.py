import gzip
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

FILE = os.path.join(tempfile.mkdtemp(), "trips.json.gz")
dice = np.random.default_rng(1)
TRIPS = 1200
with gzip.open(FILE, "wt") as handle:
    json.dump(
        [{"meters": dice.random(12).round(3).tolist(), "fare": float(dice.random())} for _ in range(TRIPS)], handle
    )


def load():
    with gzip.open(FILE, "rt") as handle:
        return json.load(handle)


def trips():
    for number in range(TRIPS):
        trip = load()[number]  # FAULT
        yield np.float32(trip["meters"]), np.float32([trip["fare"]])


signature = (tf.TensorSpec([12]), tf.TensorSpec([1]))
dataset = tf.data.Dataset.from_generator(trips, output_signature=signature).batch(20)
weights = tf.Variable(tf.zeros([12, 1]))
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def step(meters, fare):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((meters @ weights - fare) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


for meters, fare in dataset.prefetch(tf.data.AUTOTUNE):
    loss = step(meters, fare)
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The generator of from_generator reads the whole JSON file again for each example"
# codes = ["INP014"]
# families = ["input"]
# source = "Stack Overflow questions on slow generators for from_generator; class 'repeated work' in data preparation of arXiv 2112.01771"
# ///
