import json
import os
import socket
import subprocess
import sys
import time

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
CHIEF = strategy.cluster_resolver.task_id == 0
BATCH = 64
rng = np.random.default_rng(5)
sensors = rng.normal(size=(3200, 96)).astype(np.float32)
wear = rng.normal(size=(3200, 1)).astype(np.float32)


def make(context):
    data = tf.data.Dataset.from_tensor_slices((sensors, wear)).cache()
    data = data.shard(context.num_input_pipelines, context.input_pipeline_id)
    return data.shuffle(1000, seed=7).repeat().batch(BATCH, drop_remainder=True).prefetch(2)


with strategy.scope():
    layers = [tf.keras.layers.Dense(256, activation="relu") for _ in range(2)]
    model = tf.keras.Sequential([tf.keras.Input((96,)), *layers, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(1e-3)
    optimizer.build(model.trainable_variables)
batches = iter(strategy.distribute_datasets_from_function(make))


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)


for _ in range(160):
    x, y = next(batches)
    loss = train_step(x, y)
if CHIEF:
    print("loss", float(loss))
time.sleep(1)  # a worker that leaves takes its server along, from which the other may still read

# /// healthy
# style = "distributed"
# ranks = 2
# ///
