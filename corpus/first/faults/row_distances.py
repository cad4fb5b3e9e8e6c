import numpy as np
import tensorflow as tf

rng = np.random.default_rng(12)
queries = tf.constant(rng.normal(size=(20000, 24)), tf.float32)
centres = tf.constant(rng.normal(size=(64, 24)), tf.float32)
scale = tf.constant(rng.uniform(0.5, 2.0, size=24), tf.float32)


@tf.function
def assign(points):
    def nearest(p):
        d = tf.reduce_sum(scale * tf.square(centres - p), axis=1)
        return tf.argmin(d), tf.sqrt(tf.reduce_min(d))

    return tf.map_fn(nearest, points, fn_output_signature=(tf.int64, tf.float32))


histogram = np.zeros(64, dtype=int)
spread = []
for round_no in range(20):
    jitter = tf.random.stateless_normal(queries.shape, seed=[4, round_no], stddev=0.1)
    ids, dist = assign(queries + jitter)
    histogram += np.bincount(ids.numpy(), minlength=64)
    spread.append(float(tf.reduce_mean(dist)))

print("largest cell", histogram.max(), "mean distance %.4f" % np.mean(spread))
