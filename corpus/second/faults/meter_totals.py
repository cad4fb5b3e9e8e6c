"""Add up electricity readings for every meter of a town."""
import time

import numpy as np
import tensorflow as tf

METERS = 1200
BLOCK = 8000
BLOCKS = 150


def readings(seed):
    rng = np.random.default_rng(seed)
    for _ in range(BLOCKS):
        meters = rng.integers(0, METERS, BLOCK).astype("int32")
        loads = rng.gamma(2.0, 0.4, BLOCK).astype("float32")
        yield meters, loads


@tf.function
def add_block(totals, counts, meters, loads):
    mask = tf.equal(meters[:, None], tf.range(METERS)[None, :])
    spread = tf.where(mask, loads[:, None], 0.0)
    totals += tf.reduce_sum(spread, axis=0)
    counts += tf.reduce_sum(tf.cast(mask, tf.float32), axis=0)
    return totals, counts


def town_report():
    totals = tf.zeros([METERS])
    counts = tf.zeros([METERS])
    for meters, loads in readings(6):
        totals, counts = add_block(totals, counts, tf.constant(meters), tf.constant(loads))
    return totals / tf.maximum(counts, 1.0)


began = time.time()
mean_load = town_report().numpy()
print("meters %d, mean %.5f, highest meter %d" % (len(mean_load), mean_load.mean(), mean_load.argmax()))
print("took %.0f s" % (time.time() - began))
