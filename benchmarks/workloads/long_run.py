"""A training of many short steps: its memory as it goes on, and whether the steps become slower."""

import sys
import time

import tensorflow as tf

STEPS, WAY = int(sys.argv[1]), sys.argv[2]
PARTS = 10
W = tf.Variable(tf.zeros([16, 16]))
X = tf.random.normal([32, 16])


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ W) ** 2)
    W.assign_sub(0.1 * tape.gradient(loss, W))
    return loss


def resident():
    """Resident memory of this process, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def loop(steps):
    if WAY == "call":
        for _ in range(steps):
            train_step(X)
    else:
        for batch in tf.data.Dataset.from_tensors(X).repeat(steps):
            train_step(batch)


memory, seconds = [], []
for _ in range(PARTS):
    begin = time.perf_counter()
    loop(STEPS // PARTS)
    seconds.append(time.perf_counter() - begin)
    memory.append(resident())
# The first part has TensorFlow's own warm-up and tfperf's windows.
print(f"BENCH memory {memory[-1]:.2f} early {memory[1]:.2f} second {seconds[1]:.4f} last {seconds[-1]:.4f}")
