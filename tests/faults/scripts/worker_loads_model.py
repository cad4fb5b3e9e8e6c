"""Letters are sorted by a worker thread that takes them from a queue."""

import queue
import tempfile
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

path = Path(tempfile.mkdtemp()) / "letters.keras"
net = tf.keras.Sequential(
    [
        tf.keras.Input((48,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(4, activation="softmax"),
    ]
)
net.save(path)
letters: queue.Queue = queue.Queue()
sorted_ones: queue.Queue = queue.Queue()


class Sorter(threading.Thread):
    def sort(self, rows):
        model = tf.keras.models.load_model(path)  # FAULT
        return model.predict(rows, verbose=0).argmax(axis=1)

    def run(self):
        while (rows := letters.get()) is not None:
            sorted_ones.put(self.sort(rows))


sorter = Sorter(daemon=True)
sorter.start()
rng = np.random.default_rng(7)
counts = np.zeros(4, int)
for _ in range(25):
    letters.put(rng.normal(size=(16, 48)).astype("float32"))
    counts += np.bincount(sorted_ones.get(), minlength=4)
letters.put(None)
sorter.join()
print(counts)

# /// fault
# style = "custom"
# kind = "time"
# cause = "The model is loaded again for each request, in a worker thread for which the main one only waits"
# codes = ["EAG009"]
# families = ["eager"]
# source = "Stack Overflow questions on Keras models in web services that load the model in each request"
# ///
