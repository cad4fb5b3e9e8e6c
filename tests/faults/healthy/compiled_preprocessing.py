"""Images are prepared in batches by a compiled function and written to an array; trains nothing."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)


@tf.function
def prepare(batch):
    grey = tf.image.rgb_to_grayscale(batch)
    small = tf.image.resize(grey, (96, 96), antialias=True)
    edges = tf.image.sobel_edges(small)
    return tf.reduce_mean(tf.abs(edges), axis=(1, 2))


found = []
pictures = rng.random((32, 256, 256, 3)).astype("float32")
for turn in range(150):
    found.append(prepare(tf.constant(pictures)).numpy())
print("edges", np.concatenate(found).mean())

# /// healthy
# style = "custom"
# ///
