import json
import os
import socket
import subprocess
import sys

import numpy as np


def port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return f"localhost:{free.getsockname()[1]}"


if "TF_CONFIG" not in os.environ:  # the first of two workers, which starts the second
    cluster = {"worker": [port(), port()]}
    configs = [json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}) for index in range(2)]
    os.environ["TF_CONFIG"] = configs[1]
    subprocess.Popen([sys.executable, __file__], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.environ["TF_CONFIG"] = configs[0]

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
BATCH = 64
rng = np.random.default_rng(3)
scans = rng.normal(size=(16, 96, 96)).astype(np.float32)
grades = rng.normal(size=(16, 1)).astype(np.float32)


def prepare(scan, grade):
    for _ in range(6):
        scan = tf.nn.conv2d(scan[None, :, :, None], tf.ones((7, 7, 1, 1)) / 49.0, 1, "SAME")[0, :, :, 0]
    return tf.reshape(scan[::8, ::8], [144]), grade


data = tf.data.Dataset.from_tensor_slices((scans, grades)).repeat().map(prepare).batch(BATCH, drop_remainder=True)
batches = iter(strategy.experimental_distribute_dataset(data.prefetch(2)))  # FAULT

with strategy.scope():
    layers = [tf.keras.layers.Dense(64, activation="relu") for _ in range(2)]
    model = tf.keras.Sequential([tf.keras.Input((144,)), *layers, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(1e-3)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - y)) / BATCH
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for _ in range(80):
    x, y = next(batches)
    loss = train_step(x, y)
print("loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "Each of two workers prepares all examples and drops the other's half, as there are no files to divide"
# codes = ["DST007"]
# families = ["distribution"]
# source = "TensorFlow's own warning 'AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy'; tensorflow.org guide 'Distributed input'"
# ///
