"""Colour quantisation: k-means over descriptor patches, assignments on TensorFlow."""

import argparse
import time

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--points", type=int, default=12_000)
parser.add_argument("--centres", type=int, default=200)
parser.add_argument("--rounds", type=int, default=90)
args = parser.parse_args()

rng = np.random.default_rng(11)
seeds = rng.standard_normal((args.centres, 27)) * 3
points = seeds[rng.integers(0, args.centres, args.points)] + rng.standard_normal((args.points, 27))
points = tf.constant(points, tf.float32)
centres = tf.Variable(points[: args.centres])


@tf.function
def lloyd():
    distance = (
        tf.reduce_sum(tf.square(points), 1)[:, None]
        - 2 * tf.matmul(points, centres, transpose_b=True)
        + tf.reduce_sum(tf.square(centres), 1)[None]
    )
    nearest = tf.argmin(distance, axis=1)
    total = tf.math.unsorted_segment_sum(points, nearest, args.centres)
    count = tf.math.unsorted_segment_sum(tf.ones(args.points), nearest, args.centres)
    fresh = tf.where(count[:, None] > 0, total / tf.maximum(count, 1)[:, None], centres)
    moved = tf.reduce_max(tf.abs(fresh - centres))
    centres.assign(fresh)
    return tf.reduce_mean(tf.reduce_min(distance, axis=1)), moved


began = time.perf_counter()
for i in range(args.rounds):
    inertia, moved = lloyd()
    if i % 30 == 0:
        print(f"round {i:2d}  inertia {inertia:.3f}  moved {moved:.3f}")
print(f"{args.rounds} rounds, {time.perf_counter() - began:.2f} s")
