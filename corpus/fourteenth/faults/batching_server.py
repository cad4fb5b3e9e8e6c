"""In-process model server: requests of several client threads are put together to batches.

Simulates six clients that each wait for their answer before they ask again.
"""
import queue
import threading
import time
from concurrent.futures import Future

import numpy as np
import tensorflow as tf
import keras
from keras import layers

MAX_BATCH = 32
MAX_WAIT = 0.08          # seconds
CLIENTS = 6
REQUESTS = 200           # of each client


def build_model():
    keras.utils.set_random_seed(31)
    inp = keras.Input((64, 8))
    x = layers.Conv1D(32, 5, padding="same", activation="relu")(inp)
    x = layers.Conv1D(32, 5, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(inp, layers.Dense(4, activation="softmax")(x))


class Server(threading.Thread):
    def __init__(self, model):
        super().__init__(daemon=True)
        self.inbox = queue.Queue()
        self.sizes = []
        self.running = True
        spec = tf.TensorSpec((None, 64, 8), tf.float32)
        self.forward = tf.function(lambda x: model(x, training=False), input_signature=[spec])
        self.forward(tf.zeros((1, 64, 8)))

    def submit(self, x):
        f = Future()
        self.inbox.put((x, f))
        return f

    def collect(self):
        """Waits for a first request, then for more of them."""
        try:
            batch = [self.inbox.get(timeout=0.2)]
        except queue.Empty:
            return []
        deadline = time.monotonic() + MAX_WAIT
        while len(batch) < MAX_BATCH:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                batch.append(self.inbox.get(timeout=left))
            except queue.Empty:
                break
        return batch

    def run(self):
        while self.running:
            batch = self.collect()
            if not batch:
                continue
            x = np.stack([b[0] for b in batch])
            y = self.forward(tf.constant(x)).numpy()
            self.sizes.append(len(batch))
            for (_, f), row in zip(batch, y):
                f.set_result(row)

    def stop(self):
        self.running = False
        self.join()


def client(server, number, results):
    rng = np.random.default_rng(number)
    total = np.zeros(4)
    for k in range(REQUESTS):
        x = rng.normal(size=(64, 8)).astype(np.float32)
        total += server.submit(x).result()
        if number == 0 and k % 50 == 0:
            print("client 0: %d answers" % k)
    results[number] = total


def main():
    server = Server(build_model())
    server.start()
    results = {}
    t0 = time.time()
    threads = [threading.Thread(target=client, args=(server, i, results)) for i in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    took = time.time() - t0
    server.stop()
    n = CLIENTS * REQUESTS
    print("%d requests in %.2f s: %.0f per second, mean batch %.1f"
          % (n, took, n / took, np.mean(server.sizes)))
    print("sum of answers:", np.round(sum(results[i] for i in range(CLIENTS)), 3))


if __name__ == "__main__":
    main()
