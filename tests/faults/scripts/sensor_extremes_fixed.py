"""Find the highest reading of each kind of machine's sensors, from a dataset of all readings."""

import numpy as np
import tensorflow as tf

KINDS, SENSORS = 6, 12
rng = np.random.default_rng(5)
readings = rng.gamma(2.0, 1.5, (90_000, SENSORS)).astype("float32")
kinds = rng.integers(0, KINDS, len(readings))
data = tf.data.Dataset.from_tensor_slices((readings, kinds)).shuffle(2000, seed=5)

highest = np.zeros((KINDS, SENSORS))
seen = [0] * KINDS
for rows in data.batch(256).as_numpy_iterator():
    for reading, at in zip(*rows, strict=True):
        seen[at] += 1
        highest[at] = np.maximum(highest[at], reading)

for at, row in enumerate(highest):
    print(at, seen[at], row.round(2))
