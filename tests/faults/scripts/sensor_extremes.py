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
for reading, kind in data:  # FAULT
    at = int(kind)
    seen[at] += 1
    highest[at] = np.maximum(highest[at], reading.numpy())

for at, row in enumerate(highest):
    print(at, seen[at], row.round(2))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A loop that trains nothing goes through a dataset without batches, element by element"
# codes = ["INP015"]
# families = ["input"]
# source = "GitHub, tensorflow/tensorflow #40634 'Looping over tf.data.Dataset very slow compared to that of Numpy Array'"
# renamed = true
# ///
