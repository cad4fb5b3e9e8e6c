"""Inference worker: requests from several client threads are grouped into batches."""
import queue
import threading
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

MAX_BATCH = 32
MAX_WAIT = 0.01
CLIENTS = 48
PER_CLIENT = 48


def build():
    tf.keras.utils.set_random_seed(2)
    x = inp = layers.Input((96, 96, 3))
    for f in (32, 64, 96, 128):
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inp, layers.Dense(100, activation="softmax")(x))


class Worker:
    def __init__(self, model):
        self.inbox = queue.Queue()
        self.sizes = []
        self.forward = tf.function(
            lambda x: model(x, training=False),
            input_signature=[tf.TensorSpec([None, 96, 96, 3], tf.float32)])
        self.forward(tf.zeros([1, 96, 96, 3]))
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()

    def collect(self):
        first = self.inbox.get()
        if first is None:
            return None
        batch, limit = [first], time.monotonic() + MAX_WAIT
        while len(batch) < MAX_BATCH:
            try:
                item = self.inbox.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                break
            if item is None:
                self.inbox.put(None)
                break
            batch.append(item)
        return batch

    def loop(self):
        while True:
            batch = self.collect()
            if batch is None:
                return
            out = self.forward(tf.constant(np.stack([b[0] for b in batch]))).numpy()
            self.sizes.append(len(batch))
            for (_, box), row in zip(batch, out):
                box.put(row)
            if len(self.sizes) % 10 == 0:
                print("batches", len(self.sizes), "mean size %.1f" % np.mean(self.sizes), flush=True)

    def ask(self, image):
        box = queue.Queue(1)
        self.inbox.put((image, box))
        return box.get()

    def stop(self):
        self.inbox.put(None)
        self.thread.join()


def client(worker, k, results):
    rng = np.random.default_rng(k)
    for _ in range(PER_CLIENT):
        results.append(int(worker.ask(rng.random((96, 96, 3), dtype="float32")).argmax()))


if __name__ == "__main__":
    worker = Worker(build())
    results, t0 = [], time.time()
    threads = [threading.Thread(target=client, args=(worker, k, results)) for k in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    worker.stop()
    print(f"{len(results)} answers in {time.time() - t0:.1f} s")
