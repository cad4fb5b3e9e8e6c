"""The worst case for hooks: an empty tf.function, called in a loop."""

import sys

import tensorflow as tf
from timing import run


@tf.function
def nothing(x):
    return x


X = tf.constant(1.0)
run(lambda: nothing(X), int(sys.argv[1]))
