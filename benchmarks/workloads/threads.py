"""Eight threads, each with a compiled step of its own; the main thread trains too, and is the one that is timed."""

import sys
import threading

import tensorflow as tf
from timing import run

OTHERS = 7


def make():
    weights = tf.Variable(tf.zeros([64, 64]))
    batch = tf.random.normal([128, 64])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch @ weights) ** 2)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return train_step


def train(stop):
    step = make()
    while not stop.is_set():
        step()


STOP = threading.Event()
THREADS = [threading.Thread(target=train, args=(STOP,)) for _ in range(OTHERS)]
for thread in THREADS:
    thread.start()
run(make(), int(sys.argv[1]))
STOP.set()
for thread in THREADS:
    thread.join()
