"""Old-style graph code, kept running through the compat module."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

x = tf.placeholder(tf.float32, (None, 10))
y = tf.placeholder(tf.float32, (None, 1))
rate = tf.Variable(0.1, trainable=False)
w1 = tf.Variable(tf.random_normal((10, 32), stddev=0.3))
w2 = tf.Variable(tf.random_normal((32, 1), stddev=0.3))
prediction = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
loss = tf.reduce_mean(tf.square(prediction - y))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
new_rate = tf.placeholder(tf.float32, ())
set_rate = tf.assign(rate, new_rate)

data = np.random.default_rng(0).normal(size=(1000, 10)).astype("float32")
target = data[:, :1] * data[:, 1:2]

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(350):
        rows = np.random.randint(0, 1000, 32)
        session.run(tf.assign(rate, 0.1 * 0.999**step))  # FAULT
        _, value = session.run([train, loss], {x: data[rows], y: target[rows]})  # FAULT
        if step % 200 == 0:
            print(step, value)
    print("loss", value)

# /// fault
# style = "custom"
# kind = "time"
# cause = "Every iteration of the loop adds new operations to the session's graph"
# codes = ["MEM002"]
# families = ["memory", "graph"]
# source = "GitHub, tensorflow/tensorflow #1439 'why tensorflow run slow in loop' and smallcorgi/Faster-RCNN_TF #10 (tf.assign in the loop)"
# renamed = true
# ///
