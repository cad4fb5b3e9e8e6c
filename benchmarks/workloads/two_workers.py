"""Trains with several workers; one of them, or each, is held back in one of ten ways.

two_workers.py KIND RANK STEPS       RANK: a number, or "each"
"""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import tempfile
import time

KIND, WHO, STEPS = sys.argv[1], sys.argv[2], int(sys.argv[3])
RANK = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
HELD = WHO in ("each", str(RANK))
SPIN = "import os, sys, time\nos.sched_setaffinity(0, {int(sys.argv[1])})\nuntil = time.time() + 150\n"
SPIN += "while time.time() < until and os.getppid() == int(sys.argv[2]): pass"
if KIND == "pinned" and HELD:  # before TensorFlow makes its threads
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

strategy = tf.distribute.MultiWorkerMirroredStrategy()
BATCH = 64
rng = np.random.default_rng(RANK)
features = rng.normal(size=(6400, 256)).astype(np.float32)
targets = rng.normal(size=(6400, 1)).astype(np.float32)


def slowly(x, y):
    time.sleep(0.12)  # PLANTED input: the pipeline hides what a step takes, 50 to 60 ms here, of it
    return x, y


def make(context):
    size = 16 * BATCH if KIND == "work" and HELD else BATCH  # PLANTED work
    data = tf.data.Dataset.from_tensor_slices((features, targets))
    data = data.shard(context.num_input_pipelines, context.input_pipeline_id).repeat().shuffle(1000)
    data = data.batch(size, drop_remainder=True)
    if KIND == "input" and HELD:
        data = data.map(lambda x, y: tf.numpy_function(slowly, (x, y), (tf.float32, tf.float32)))  # PLANTED input
        data = data.map(lambda x, y: (tf.ensure_shape(x, (size, 256)), tf.ensure_shape(y, (size, 1))))
        return data
    return data.prefetch(2)


with strategy.scope():
    layers = [tf.keras.layers.Dense(512, activation="relu") for _ in range(3)]
    model = tf.keras.Sequential([tf.keras.Input((256,)), *layers, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
batches = iter(strategy.distribute_datasets_from_function(make))
folder = tempfile.mkdtemp()
log = logging.getLogger("steps")
log.addHandler(logging.FileHandler(os.path.join(folder, "steps.log")))
log.setLevel(logging.INFO)
rubbish = [[str(number)] for number in range(400_000)] if KIND == "gc" else []


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


@tf.function
def train_step(batch):
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica_step, batch), axis=None)


@tf.function  # PLANTED retrace
def smoothed(value, number):
    for scale in range(60):  # unrolled: a trace takes a while
        value = tf.tanh(value * (1.0 + scale * 1e-3)) + number * 1e-6
    return value


@tf.function
def loss_of(x, y):
    return tf.reduce_mean(tf.square(alone(x, training=False) - y))


alone = tf.keras.models.clone_model(model)  # a copy that no other rank is asked about
alone.compile(loss="mse")
validation = tf.data.Dataset.from_tensor_slices((features[:4096], targets[:4096])).batch(BATCH)
smoothed(tf.constant(1.0), 0)
if KIND == "pinned" and HELD:  # now, or importing TensorFlow would take minutes
    # Three, and as many more for each program that every processor has already: else both workers lack processors.
    many = 3 + 3 * round(os.getloadavg()[0] / os.cpu_count())
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN, str(cpu), str(os.getpid())]) for _ in range(many)]
for number in range(STEPS):
    loss = train_step(next(batches))
    if not HELD:
        continue
    if KIND == "sleep":
        time.sleep(0.06)  # PLANTED sleep
    if KIND == "retrace" and number % 4 == 0:
        smoothed(loss, number)  # PLANTED retrace
    if KIND == "gc":
        gc.collect()  # PLANTED gc
    if KIND == "checkpoint" and number % 3 == 0:
        checkpoint.save(os.path.join(folder, "ckpt"))  # PLANTED checkpoint
    if KIND == "evaluation" and number % 10 == 9:
        alone.set_weights(model.get_weights())
        held_out = sum(float(loss_of(x, y)) for x, y in validation)  # PLANTED evaluation
    if KIND == "evaluate" and number % 10 == 9:
        alone.set_weights(model.get_weights())
        held_out = alone.evaluate(validation, verbose=0)  # PLANTED evaluate
    if KIND == "logging":
        for weight in model.get_weights()[0].ravel()[:4000]:
            log.info("step %d weight %.6f", number, weight)  # PLANTED logging
print("loss", float(loss))
time.sleep(1)  # a worker that leaves takes its server along, from which the other may still read
