"""A thousand functions of ``tf.function``, each traced once and then called in turn."""

import sys

import tensorflow as tf
from timing import run

COUNT = 1000
X = tf.random.normal([8, 8])


def make(number):
    @tf.function
    def compute(x):
        return tf.reduce_sum(x * float(number))

    return compute


FUNCTIONS = [make(number) for number in range(COUNT)]
TURN = [0]


def step():
    FUNCTIONS[TURN[0] % COUNT](X)
    TURN[0] += 1


run(step, int(sys.argv[1]))
