"""Multiplies matrices until a window is open; ``struck.py die`` then dies of a real segmentation fault.

That a window is open is seen by faulthandler, which is on meanwhile.
"""

import ctypes
import faulthandler
import sys

import tensorflow as tf

values = tf.ones((100, 100))


@tf.function
def multiply(batch):
    return tf.reduce_sum(batch @ batch)


def read_nowhere():
    ctypes.string_at(0)


total = 0.0
for number in range(3000):
    total += float(multiply(values))
    if number > 500 and sys.argv[1:] == ["die"] and faulthandler.is_enabled():
        read_nowhere()
print(total)
