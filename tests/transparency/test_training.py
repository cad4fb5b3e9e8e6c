"""Programs that train: losses bit for bit, exceptions, signals, children and files, with all probes on and without."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same
from training import COMMON

FIT = (
    COMMON
    + """
import pickle
assert not tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
print(len(tf.config.list_logical_devices()))
tf.keras.utils.set_random_seed(1)
x = np.random.rand(320, 4).astype("float32")
class Noisy(tf.keras.layers.Layer):
    def call(self, x, training=None): return x + tf.random.normal(tf.shape(x)) if training else x
class Stop(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if self.model.optimizer.iterations.numpy() == 95: raise LookupError("stop here")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8), Noisy(), tf.keras.layers.Dropout(.3),
                             tf.keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
history = model.fit(x, x.sum(1), epochs=2, batch_size=8, verbose=0)
print(hexed(history.history["loss"]), hexed(history.history["mae"]), [l.name for l in model.layers])
print(hexed(model.predict(x[:9], verbose=0).ravel()), fingerprint())
model.save_weights("w.weights.h5")
pickle.dump(history.history, open("history.pickle", "wb"))
os.remove("w.weights.h5")  # HDF5 keeps the time
def train(): model.fit(x, x.sum(1), epochs=2, batch_size=8, verbose=0, callbacks=[Stop()])
train()
"""
)

LOOP = (
    COMMON
    + """
import atexit, multiprocessing, signal, time
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.nn.dropout(model(x), .1) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

def in_child(n):
    return n * 2

def read(path):
    return np.float32(len(open(path).read()))

if __name__ == "__main__":
    atexit.register(lambda: print("at the end", len(tf.config.list_logical_devices())))
    tf.random.set_seed(5); np.random.seed(5)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(.05)
    data = tf.data.Dataset.from_tensor_slices(np.random.rand(400, 3).astype("f")).shuffle(50).batch(8)
    data = data.map(lambda x: (x, tf.numpy_function(lambda v: v.sum(1, keepdims=True), [x], tf.float32)))
    losses, children = [], []
    got = []
    signal.signal(signal.SIGALRM, lambda n, f: got.append(n))
    for epoch in range(2):
        for number, (x, y) in enumerate(data):
            losses.append(step(x, tf.reshape(y, [-1, 1])))
            if number == 30 and epoch == 0:
                pid = os.fork()
                if pid == 0:
                    print("child", len(losses), flush=True); os._exit(3)
                children.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                with multiprocessing.get_context("fork").Pool(1) as pool: children += pool.map(in_child, [1, 2])
            if number == 40:
                signal.raise_signal(signal.SIGALRM)
    print(hexed(losses), children, got)
    class Eager:
        def __call__(self, x):
            with tf.GradientTape() as tape: loss = tf.reduce_sum(model(x) ** 2)
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
            return loss
    print(hexed([Eager()(tf.random.normal([2, 3])) for _ in range(20)]), fingerprint())
    tf.saved_model.save(tf.Module(), "saved"); print(sorted(os.listdir("saved")))
    import shutil; shutil.rmtree("saved")
    @tf.function
    def broken(x): return tf.matmul(x, x)
    def outer(): broken(tf.ones([2, 3]))
    outer()
"""
)

HARD_EXIT = (
    COMMON
    + """
import importlib.util
print(importlib.util.find_spec("tensorflow").name)
v = tf.Variable([1., 2.])
optimizer = tf.keras.optimizers.Adam(.1)
for n in range(60):
    with tf.GradientTape() as tape: loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
print(float(loss).hex(), flush=True)
print("never seen", end="")
os._exit(11)
"""
)

TERMINATED = (
    COMMON
    + """
import signal
def save(number, frame):
    print("saved", number); sys.exit(21)
signal.signal(signal.SIGTERM, save)
class Kill(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 45: os.kill(os.getpid(), signal.SIGTERM)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
try:
    model.fit(np.ones((800, 2)), np.ones(800), batch_size=8, verbose=0, callbacks=[Kill()])
finally:
    print("finally")
"""
)

INTERRUPTED = (
    COMMON
    + """
import signal, threading
tf.random.set_seed(2)
def in_thread():
    v = tf.Variable([1., 2.])
    optimizer = tf.keras.optimizers.Adam(.1)
    @tf.function
    def step():
        with tf.GradientTape() as tape: loss = tf.reduce_sum(v * v * tf.random.uniform([2]))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss
    print(hexed([step() for _ in range(60)]), threading.current_thread().name)
thread = threading.Thread(target=in_thread)
thread.start(); thread.join()
class Interrupt(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 45: signal.raise_signal(signal.SIGINT)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse", run_eagerly=True)
try:
    model.fit(np.ones((800, 2)), np.ones(800), batch_size=8, verbose=0, callbacks=[Interrupt()])
except KeyboardInterrupt:
    print("interrupted", model.get_weights())
model.fit(np.ones((800, 2)), np.ones(800), batch_size=8, verbose=0, callbacks=[Interrupt()])
"""
)

PROGRAMS = [
    Program("interrupted", INTERRUPTED, status=-2, shows=b"interrupted", stderr="logs"),
    Program("fit", FIT, status=1, shows=b"LookupError: stop here", stderr="logs"),
    Program("loop", LOOP, own_import=True, status=1, shows=b"Dimensions must be equal", stderr="logs"),
    Program("hard exit", HARD_EXIT, status=11, shows=b"tensorflow\n", stderr="logs"),
    Program("terminated", TERMINATED, status=21, shows=b"saved 15\nfinally", stderr="logs"),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    _, ours = assert_same(program, tmp_path, imports=program.name in ("fit", "loop"))
    assert "steps" in ours.report and "Traceback" not in ours.report
