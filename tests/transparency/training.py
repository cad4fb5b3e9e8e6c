"""Shared parts of programs that train. Prepended to their source, so that each is one script."""

from __future__ import annotations

#: The state of everything that a profiler might have touched, and losses as exact as they are.
COMMON = """
import os, random, sys
random.seed(3)
import gc
gc.disable()  # there is next to no garbage in an import of TensorFlow, and looking for it takes a fifth of the time
import numpy as np
import tensorflow as tf
gc.freeze()  # as a process ends, Python looks through all of that, several times
gc.enable()

def fingerprint():
    import gc, logging, signal, threading, warnings
    return {
        "threads": [t.name for t in threading.enumerate()], "warnings": [repr(f) for f in warnings.filters],
        "random": [random.random(), np.random.rand(), float(tf.random.uniform([])).hex()],
        "signals": [repr(signal.getsignal(n)) for n in (2, 10, 15)], "path": sys.path, "environ": sorted(os.environ),
        "logging": [len(logging.root.handlers), logging.root.level], "hooks": repr(sys.excepthook),
        "gc": [gc.get_threshold(), gc.isenabled()], "errors": np.geterr(), "limit": sys.getrecursionlimit(),
        "frames": sys._getframe(1).f_back is None,
    }

def hexed(values):
    return [float(v).hex() for v in values]
"""

#: ``train(count, each)`` makes steps of about a millisecond and calls ``each(number)`` in every one of them, numbers
#: going on from 1. ``work`` is a function of the script's own in each step, so that ``lines`` has one to measure.
STEPS = (
    COMMON
    + """
tf.random.set_seed(5); np.random.seed(5)
v = tf.Variable(np.linspace(-1, 1, 6, dtype="f"))
optimizer = tf.keras.optimizers.Adam(.05)
losses, done = [], [0]

@tf.function
def compiled(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((v * x) ** 2) + tf.reduce_mean(tf.random.uniform([3]))
    return loss, tape.gradient(loss, v)

def work(n):
    total = 0.
    for i in range(40):
        total += np.float32(i * n % 7)
    return tf.constant(total / 100, tf.float32, shape=[6])

def one_step(each):
    done[0] += 1
    loss, gradient = compiled(work(done[0]))
    optimizer.apply_gradients([(gradient, v)])
    losses.append(loss)
    each(done[0])

def train(count, each=lambda n: None):
    for _ in range(count):
        one_step(each)
"""
)
