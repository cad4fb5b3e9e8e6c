"""A compiled training step of some milliseconds: two layers as wide as a small network's."""

import sys

import tensorflow as tf
from timing import run

W = tf.Variable(tf.random.normal([384, 384], stddev=0.01))
X = tf.random.normal([384, 384])


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(tf.nn.relu(x @ W) @ W) ** 2)
    W.assign_sub(0.001 * tape.gradient(loss, W))
    return loss


run(lambda: train_step(X), int(sys.argv[1]))
