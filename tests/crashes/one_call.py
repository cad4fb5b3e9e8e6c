"""One call into TensorFlow that lasts, with its loop in TensorFlow's own Python: it is never entered again."""

import numpy as np
import tensorflow as tf

values = np.arange(2_000.0 * 16).reshape(2_000, 16)
print(tf.map_fn(lambda row: tf.tanh(row) * 2.0 + tf.reduce_max(row), values).numpy().sum())
