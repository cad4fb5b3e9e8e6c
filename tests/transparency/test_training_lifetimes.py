"""When objects are freed: under us none lives longer than under plain Python, and none is freed elsewhere.

An iterator that is kept longer costs more than its memory: whoever frees it waits for the threads of tf.data.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

#: Each thing says when it is made and when it is freed, by reference counts alone: collections come at other moments
#: wherever anything else is allocated.
WATCHED = """
import gc, weakref
import numpy as np
import tensorflow as tf
import keras
from tensorflow.python.data.ops import dataset_ops
gc.collect(); gc.disable()
count = {}
def tell(thing, name):
    number = count[name] = count.get(name, 0) + 1
    print("+", name, number)
    weakref.finalize(thing, print, "-", name, number).atexit = False
made, iterated = dataset_ops.DatasetV2.__init__, dataset_ops.DatasetV2.__iter__
def make(self, *a, **k): made(self, *a, **k); tell(self, "dataset")
def iterate(self): it = iterated(self); tell(it, "iterator"); return it
dataset_ops.DatasetV2.__init__, dataset_ops.DatasetV2.__iter__ = make, iterate
class Epochs(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None): print("epoch", epoch)
    def on_train_end(self, logs=None): print("end")
x = np.random.default_rng(0).normal(size=(256, 8)).astype("float32"); y = x[:, :1]
def network(**k):
    m = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)]); m.compile("sgd", "mse", **k); return m
"""

ARRAYS = """
def run():
    m = network()
    m.fit(x, y, epochs=9, batch_size=32, verbose=0, callbacks=[Epochs()], validation_split=0.25); print("fitted")
    m.predict(x, verbose=0); print("predicted"); m.evaluate(x, y, verbose=0); print("evaluated")
run()
"""

SEVERAL_STEPS = """
def run():
    m = network(steps_per_execution=3)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8).map(lambda a, b: (a * 2, b)).prefetch(2)
    m.fit(data, epochs=5, verbose=0, callbacks=[Epochs()], validation_data=data.take(2)); print("fitted")
run()
"""

GENERATORS = """
def batches():
    for _ in range(20): a = np.ones((8, 8), "float32"); yield a, a[:, :1]
def run():
    m = network()
    data = tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec((8, 8)), tf.TensorSpec((8, 1))))
    m.fit(data, epochs=4, verbose=0, callbacks=[Epochs()]); print("fitted")
    given = batches(); tell(given, "generator")
    m.fit(given, epochs=1, verbose=0, callbacks=[Epochs()]); del given; print("fitted with a generator")
run()
"""

OWN_LOOP = """
class Mine: pass
def run():
    w, optimizer = tf.Variable(tf.ones((8, 1))), keras.optimizers.SGD(0.01)
    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape: loss = tf.reduce_mean((a @ w - b) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)]); return loss
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    for epoch in range(5):
        for a, b in data:
            own = Mine(); tell(own, "own"); tell(a, "batch"); loss = step(a, b); tell(loss, "loss")
        print("epoch", epoch)
    it = iter(data)
    for k in range(9): print(k); a, b = next(it); tell(a, "batch"); loss = step(a, b)
    del it; print("deleted")
run()
"""

WINDOWS = ("--lines", "run", "--window", "lines=4:9", "--window", "tfprof=14:6", "--window", "devices=22:4")

PROGRAMS = [
    Program("fit with arrays", WATCHED + ARRAYS, shows=b"- iterator 1\n", stderr="logs"),
    Program("fit with arrays, in windows", WATCHED + ARRAYS, options=WINDOWS, shows=b"- iterator 1\n", stderr="logs"),
    Program("fit with several steps a call", WATCHED + SEVERAL_STEPS, shows=b"- iterator 1\n", stderr="logs"),
    Program("fit with generators", WATCHED + GENERATORS, shows=b"+ generator 1\n", stderr="logs"),
    Program("a loop of its own", WATCHED + OWN_LOOP, options=WINDOWS, shows=b"- batch 1\n", stderr="logs"),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_freed_when_plain_python_frees_it(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
