"""A thread counts words while the main one trains, and waits for more between its pieces; both have much to do."""

import queue
import threading

import numpy as np
import tensorflow as tf

WIDTH, BATCH, STEPS = 256, 512, 300
weights = [tf.Variable(tf.random.stateless_normal(shape, (1, 2)) * 0.1) for shape in ((WIDTH, 1024), (1024, 1))]
pieces: queue.Queue = queue.Queue(maxsize=2)
counts: dict = {}


def count():
    while (piece := pieces.get()) is not None:
        for word in piece.split():
            counts[word] = counts.get(word, 0) + 1


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
    for weight, slope in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.05 * slope)
    return loss


counter = threading.Thread(target=count, daemon=True)
counter.start()
x = np.random.default_rng(5).normal(size=(BATCH, WIDTH)).astype("float32")
x, y = tf.constant(x), tf.constant(np.sin(x[:, :1]))
for step in range(STEPS):
    if step % 10 == 0:
        pieces.put(f"step {step} of {STEPS} " * 200)
    loss = float(learn(x, y))
pieces.put(None)
counter.join()
print(f"loss {loss:.3f}, {len(counts)} words")

# /// healthy
# style = "custom"
# note = "a thread that works in Python, and waits in between"
# ///
