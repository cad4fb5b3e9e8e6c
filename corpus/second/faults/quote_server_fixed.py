"""Insurance quotes answered by a small pool of worker threads."""
import queue
import threading
import time

import numpy as np
import tensorflow as tf

WORKERS = 8
REQUESTS = 480

tf.keras.utils.set_random_seed(4)
net = tf.keras.Sequential([
    tf.keras.layers.Input((32,)),
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(1),
])


@tf.function(input_signature=[tf.TensorSpec([None, 32], tf.float32)])
def premium(x):
    return net(x, training=False)


class CustomerStore:
    """Stands for the customer database on another machine."""

    def __init__(self, size):
        self.rows = np.random.default_rng(4).normal(size=(size, 32)).astype("float32")

    def lookup(self, key):
        time.sleep(0.02)
        return self.rows[key % len(self.rows)]


customers = CustomerStore(500)
model_lock = threading.Lock()
inbox = queue.Queue()
answers = {}


def handle(request):
    record = customers.lookup(request)
    with model_lock:
        value = premium(tf.constant(record[None]))
        answers[request] = float(value[0, 0])


def worker():
    while True:
        request = inbox.get()
        if request is None:
            return
        handle(request)


def main():
    premium(tf.zeros([1, 32]))
    threads = [threading.Thread(target=worker) for _ in range(WORKERS)]
    for t in threads:
        t.start()
    for request in range(REQUESTS):
        inbox.put(request)
    for _ in threads:
        inbox.put(None)
    for t in threads:
        t.join()
    print("answered", len(answers), "mean %.4f" % np.mean([answers[k] for k in sorted(answers)]))


if __name__ == "__main__":
    main()
