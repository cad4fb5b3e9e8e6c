"""A tiny compiled training step in a loop: every call is a step that is followed."""

import sys

import tensorflow as tf
from timing import run

W = tf.Variable(tf.zeros([16, 16]))
X = tf.random.normal([32, 16])


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ W) ** 2)
    W.assign_sub(0.1 * tape.gradient(loss, W))
    return loss


run(lambda: train_step(X), int(sys.argv[1]))
