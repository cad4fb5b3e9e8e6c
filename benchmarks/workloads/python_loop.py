"""Plain Python next to an eager update: the worst case for line tracing."""

import sys

import tensorflow as tf
from timing import run

W = tf.Variable([1.0])
OPTIMIZER = tf.keras.optimizers.SGD(0.1)


def work(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total


def step():
    work(30_000)
    OPTIMIZER.apply([W * 2.0], [W])


run(step, int(sys.argv[1]))
