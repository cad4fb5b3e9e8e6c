"""Online learning from a 'live' feed.

A background thread fills a small buffer from the sensor driver (simulated), the main
thread takes batches from there and trains. On its own the train step needs about a
millisecond, but the whole thing runs far slower than that.
"""
import queue
import threading
import time

import numpy as np
import tensorflow as tf

CHANNELS = 24
BATCH = 64
STEPS = 3500


class SensorFeed:
    """Keeps up to `depth` batches ready."""

    def __init__(self, depth=8, seed=0):
        self.rng = np.random.default_rng(seed)
        self.w = self.rng.normal(size=(CHANNELS, 1))
        self.buffer = queue.Queue(maxsize=depth)
        self.running = True
        self.thread = threading.Thread(target=self._fill, daemon=True)
        self.thread.start()

    def _measure(self):
        x = self.rng.normal(size=(BATCH, CHANNELS))
        y = np.sin(x @ self.w) + 0.05 * self.rng.normal(size=(BATCH, 1))
        return x.astype("float32"), y.astype("float32")

    def _fill(self):
        while self.running:
            self.buffer.put(self._measure())

    def next(self):
        return self.buffer.get()

    def close(self):
        self.running = False
        while self.thread.is_alive():
            try:
                self.buffer.get(timeout=0.05)
            except queue.Empty:
                pass
        self.thread.join()


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        init = tf.random.Generator.from_seed(4)
        self.w1 = tf.Variable(init.normal([CHANNELS, 64]) * 0.2)
        self.b1 = tf.Variable(tf.zeros([64]))
        self.w2 = tf.Variable(init.normal([64, 1]) * 0.1)
        self.b2 = tf.Variable(tf.zeros([1]))

    def __call__(self, x):
        return tf.tanh(x @ self.w1 + self.b1) @ self.w2 + self.b2


model = Regressor()
rate = 0.05


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(rate * g)
    return loss


def main():
    feed = SensorFeed()
    smooth = None
    t0 = time.time()
    for step in range(STEPS):
        x, y = feed.next()
        loss = float(learn(tf.constant(x), tf.constant(y)))
        smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
        if step % 500 == 499:
            print("step", step + 1, "loss %.4f" % smooth,
                  "%.2f ms/step" % (1e3 * (time.time() - t0) / (step + 1)), flush=True)
    feed.close()


if __name__ == "__main__":
    main()
