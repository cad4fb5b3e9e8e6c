"""A frozen graph of TensorFlow 1 scores a table; trains nothing."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
rng = np.random.default_rng(0)
table = rng.normal(size=(24000, 20)).astype("float32")
features = tf.placeholder(tf.float32, [None, 20])
weights = tf.constant(rng.normal(size=(20, 5)), tf.float32)
best = tf.reduce_max(tf.nn.softmax(tf.matmul(features, weights)), axis=1)

total = 0.0
with tf.Session() as session:
    for start in range(0, len(table), 1):
        total += session.run(best, {features: table[start : start + 1]}).sum()  # FAULT
print("total", total)

# /// fault
# style = "custom"
# kind = "time"
# cause = "session.run is called for each row of a table"
# codes = ["EAG012"]
# families = ["eager"]
# source = "Stack Overflow questions on slow sess.run in a loop"
# ///
