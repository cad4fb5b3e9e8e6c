"""Trains on readings that a thread collects; it keeps a few batches ready."""

import collections
import threading

import numpy as np
import tensorflow as tf

WIDTH, BATCH, STEPS = 32, 64, 900
weights = [tf.Variable(tf.random.stateless_normal(shape, (1, 2)) * 0.1) for shape in ((WIDTH, 64), (64, 1))]
ready: collections.deque = collections.deque()
done = threading.Event()


def collect():
    rng = np.random.default_rng(5)
    while not done.is_set():  # FAULT
        if len(ready) < 8:
            x = rng.normal(size=(BATCH, WIDTH)).astype("float32")
            ready.append((x, np.sin(x[:, :1])))


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
    for weight, slope in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.05 * slope)
    return loss


threading.Thread(target=collect, daemon=True).start()
for step in range(STEPS):
    while not ready:
        pass
    x, y = ready.popleft()
    loss = float(learn(tf.constant(x), tf.constant(y)))
done.set()
print(f"loss {loss:.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "The thread that collects readings looks again and again whether there is room, and so takes the interpreter's lock"
# codes = ["STP015"]
# families = ["step"]
# source = "questions on Python threads that busy-wait; docs.python.org, sys.setswitchinterval; bugs.python.org #7946 (convoy effect)"
# renamed = true
# ///
