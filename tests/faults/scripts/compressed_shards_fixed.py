"""Sequence model on gzip-compressed fixed-length records."""
import gzip
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

STEPS, FEATURES, BATCH = 40, 768, 16
RECORD = STEPS * FEATURES * 4

folder = tempfile.mkdtemp()
files = []
rng = np.random.default_rng(7)
for shard in range(4):
    name = os.path.join(folder, f"part-{shard}.gz")
    values = rng.integers(0, 40, (96, STEPS, FEATURES)).astype(np.float32) / 40
    with gzip.open(name, "wb", compresslevel=1) as f:
        f.write(values.tobytes())
    files.append(name)

batches = tf.data.FixedLengthRecordDataset(files, RECORD, compression_type="GZIP")
batches = batches.repeat()
batches = batches.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    layers.Input((STEPS, FEATURES)),
    layers.GRU(16),
    layers.Dense(1),
])
adam = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(raw):
    x = tf.reshape(tf.io.decode_raw(raw, tf.float32), (BATCH, STEPS, FEATURES))
    target = tf.reduce_mean(x[:, -1], axis=-1, keepdims=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - target))
    adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for step, raw in enumerate(batches.take(180)):
    loss = train_step(raw)
    if step % 60 == 0:
        print(step, float(loss))
print("done", float(loss))
