"""A confusion matrix of predicted classes; trains nothing."""

import numpy as np
import tensorflow as tf

CLASSES = 8
rng = np.random.default_rng(0)
scores = tf.constant(rng.normal(size=(14000, CLASSES)), tf.float32)
truth = tf.constant(rng.integers(0, CLASSES, size=14000))


def confusion(truth, guessed):
    table = [[0] * CLASSES for _ in range(CLASSES)]
    index = 0
    while index < truth.shape[0]:
        table[int(truth[index])][int(guessed[index])] += 1  # FAULT
        index += 1
    return table


table = confusion(truth, tf.argmax(scores, axis=1))
print("right", sum(table[k][k] for k in range(CLASSES)))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A Python loop reads a tensor element by element"
# codes = ["EAG011", "EAG008"]
# families = ["eager"]
# source = "Stack Overflow questions on iterating over a tensor's elements"
# ///
