"""``Model.fit`` of a small convolutional network: the way most scripts train."""

import statistics
import sys
import time

import numpy as np
import tensorflow as tf
import timing

STEPS = int(sys.argv[1])
TAIL = STEPS * 2 // 5
MODEL = tf.keras.Sequential(
    [
        tf.keras.layers.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ]
)
MODEL.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
IMAGES = np.random.default_rng(0).random((32 * STEPS, 28, 28, 1), np.float32)
LABELS = np.zeros(len(IMAGES), np.int32)


class Times(tf.keras.callbacks.Callback):
    """When each batch began."""

    def __init__(self):
        super().__init__()
        self.taken = []

    def on_train_batch_begin(self, batch, logs=None):
        self.taken.append(time.perf_counter())
        timing.stepped()


times = Times()
MODEL.fit(IMAGES, LABELS, batch_size=32, verbose=0, callbacks=[times])
end = time.perf_counter()
tail = [after - before for before, after in zip(times.taken[-TAIL:], [*times.taken[1 - TAIL :], end], strict=True)]
# The median, and one epoch only: with several, some begin up to a second late, under plain Python too.
print(f"BENCH whole {end - times.taken[1]:.6f} tail {statistics.median(tail) * TAIL:.6f}")
