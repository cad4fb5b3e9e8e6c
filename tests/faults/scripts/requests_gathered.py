"""Answers the questions of a few clients, gathered into batches for one call of the network."""

import queue
import threading
from concurrent.futures import Future

import numpy as np
import tensorflow as tf

CLIENTS, QUESTIONS, FULL = 4, 120, 64
questions: queue.Queue = queue.Queue()
tf.keras.utils.set_random_seed(1)
net = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
score = tf.function(net, input_signature=[tf.TensorSpec((None, 32), tf.float32)])


def gathered():
    batch = [questions.get()]
    while len(batch) < FULL:
        try:
            batch.append(questions.get(timeout=0.06))  # FAULT
        except queue.Empty:
            break
    return batch


def answer():
    while True:
        batch = gathered()
        rows = score(tf.constant(np.stack([row for row, _ in batch]))).numpy()
        for (_, asked), value in zip(batch, rows):
            asked.set_result(float(value[0]))


def client(seed, totals):
    rng = np.random.default_rng(seed)
    for _ in range(QUESTIONS):
        asked: Future = Future()
        questions.put((rng.normal(size=32).astype("float32"), asked))
        totals[seed] = totals.get(seed, 0.0) + asked.result()


totals: dict = {}
threading.Thread(target=answer, daemon=True).start()
clients = [threading.Thread(target=client, args=(seed, totals)) for seed in range(CLIENTS)]
for each in clients:
    each.start()
for each in clients:
    each.join()
print(f"{CLIENTS * QUESTIONS} answers, sum {sum(totals.values()):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "The thread that gathers questions into batches waits 60 ms for more, which clients that wait for their answers never send"
# codes = ["STP004"]
# families = ["step"]
# source = "batch_timeout_micros of TensorFlow Serving and max_queue_delay of Triton, set longer than clients ask side by side"
# ///
