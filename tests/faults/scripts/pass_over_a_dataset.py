import tensorflow as tf


def spectrum(seed):
    noise = tf.random.stateless_normal((64, 64), tf.stack([seed, 7]))
    for _ in range(20):
        noise = tf.sin(noise) + 0.1 * tf.linalg.matmul(noise, noise, transpose_b=True) / 64.0
    return tf.reduce_mean(noise, axis=0)


signals = tf.data.Dataset.range(3000).map(lambda n: spectrum(tf.cast(n, tf.int32)))  # FAULT
largest = -1e9
for group in signals.batch(50):
    largest = max(largest, float(tf.reduce_max(group)))
print("largest", round(largest, 2))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A data set is gone through without training, and its map works on one element at a time"
# codes = ["INP003"]
# families = ["input"]
# source = "tensorflow.org guide 'Better performance with the tf.data API'; class 'efficient API not used' of arXiv 2112.01771"
# ///
