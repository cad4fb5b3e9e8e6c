"""Scores pictures by a tower of layers made in a loop, then run block by block, in sessions of TensorFlow 1."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

rng = np.random.default_rng(6)
pictures = tf.placeholder(tf.float32, [None, 32, 32, 3])


def layer(x, filters):
    kernel = tf.Variable(rng.normal(0, 0.1, (3, 3, x.shape[-1], filters)).astype("float32"))
    return tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))


x = pictures
for filters in (16, 32, 32):
    x = layer(x, filters)
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
score = tf.reduce_mean(x, axis=[1, 2, 3])
best = tf.reduce_max(score)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    highest = 0.0
    for block in range(60):
        given = rng.random((128, 32, 32, 3), dtype=np.float32)
        scores, top = session.run([score, best], {pictures: given})
        highest = max(highest, float(top))
    print("scores", scores.shape, "highest", highest)

# /// healthy
# style = "custom"
# ///
