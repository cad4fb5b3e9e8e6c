"""Leverage of each house in bootstrap samples of a price model: which houses pull the fit towards themselves."""

import numpy as np
import tensorflow as tf

HOUSES, FEATURES, SAMPLES = 5000, 24, 250
rng = np.random.default_rng(4)
houses = rng.normal(size=(HOUSES, FEATURES)).astype("float32")
houses[:40] *= 6.0  # estates


@tf.function
def leverage(x):
    gram = tf.matmul(x, x, transpose_a=True) + 0.1 * tf.eye(FEATURES)
    solved = tf.linalg.solve(gram, tf.transpose(x))
    return tf.reduce_sum(x * tf.transpose(solved), axis=-1)


seen, total = np.zeros(HOUSES), np.zeros(HOUSES)
for sample in range(SAMPLES):
    chosen = rng.choice(HOUSES, HOUSES)
    values = leverage(tf.constant(houses[chosen])).numpy()
    np.add.at(seen, chosen, 1.0)
    np.add.at(total, chosen, values)
    if sample % 50 == 49:
        print("sample", sample + 1, "largest leverage %.3f" % values.max())
mean = total / np.maximum(seen, 1.0)
print("estates %.3f" % mean[:40].mean(), "others %.4f" % mean[40:].mean())
