"""Scripts that have one cause of slowness each, in one place of a program each: ``benchmarks.contexts`` records them.

A *computing* cause is a function ``work(x)`` of a batch: a graph runs it. A *calling* cause is a function ``job(i)``
of Python. A context is the rest of the script, which calls that function for some seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Cause(NamedTuple):
    """``codes``: of the findings that name it; ``text``: the function, ``shape`` of a batch that it gets. ``without``:
    contexts in which it makes no sense."""

    codes: tuple[str, ...]
    text: str
    shape: tuple[int, int] = (64, 64)
    without: tuple[str, ...] = ()


class Script(NamedTuple):
    """``helper``: the text of a module next to it, "" for none."""

    cause: str
    context: str
    text: str
    helper: str = ""

    @property
    def name(self) -> str:
        return f"{self.cause}-{self.context}"


#: Seconds that a script repeats its work.
SECONDS = 5.0
_BATCHES = 8

_HEAD = """\
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

ROWS, WIDTH = {rows}, {width}
rng = np.random.default_rng(0)
data = rng.normal(size=({batches} * ROWS, WIDTH)).astype(np.float32)
batches = data.reshape(-1, ROWS, WIDTH)
"""
_COUNT = """

def count(call):
    for number in range(2):
        call(number)
    begin = time.perf_counter()
    call(2)
    return max(int({seconds} / (time.perf_counter() - begin)), 10)


"""

COMPUTING: dict[str, Cause] = {
    "map_fn": Cause(
        ("GRF005",),
        """
def normalise(row):
    row = row - tf.reduce_mean(row)
    row = row / tf.maximum(tf.math.reduce_std(row), 1e-3)
    return tf.clip_by_value(row, -3.0, 3.0)


def work(x):
    return tf.map_fn(normalise, x)
""",
        (128, 48),
    ),
    "whole_sort": Cause(
        ("GRF013",),
        """
def work(x):
    return tf.sort(tf.abs(x), axis=-1, direction="DESCENDING")[:, :4]
""",
        (64, 8000),
    ),
    "decomposition": Cause(
        ("GRF007",),
        """
def work(x):
    return tf.linalg.svd(tf.reshape(x, [-1, 40, 40]), compute_uv=False)
""",
        (16, 1600),
    ),
    "two_passes": Cause(
        ("GRF001",),
        """
encoder = keras.Sequential([keras.Input((WIDTH,)), *(keras.layers.Dense(512, activation="relu") for _ in range(3))])


def work(x):
    return tf.concat([tf.nn.sigmoid(encoder(x)), tf.square(encoder(x))], axis=1)
""",
        (256, 256),
        ("session",),
    ),
    "unrolled": Cause(
        ("GRF008", "OPS001"),
        """
def work(x):
    return tf.stack([tf.reduce_sum(tf.square(x[:, i : i + 8]), axis=1) for i in range(0, WIDTH, 8)], axis=1)
""",
        (256, 1024),
    ),
    "float64": Cause(
        ("OPS003",),
        """
kernel = rng.normal(size=(WIDTH, WIDTH))


def work(x):
    y = tf.matmul(tf.cast(x, kernel.dtype), kernel)
    return tf.cast(tf.matmul(tf.nn.relu(y), kernel), tf.float32)
""",
        (128, 1024),
    ),
    "numpy_call": Cause(
        ("OPS004", "INP005"),
        """
def median(rows):
    return np.median(np.cumsum(rows, axis=1), axis=1, keepdims=True).astype(np.float32)


def work(x):
    return tf.ensure_shape(tf.numpy_function(median, [x], tf.float32), [None, 1])
""",
        (64, 4000),
        ("serving",),
    ),
    "elementwise": Cause(
        ("CMP002", "CMP006"),
        """
def work(x):
    for _ in range(16):
        x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
    return x
""",
        (64, 4000),
    ),
    "factorised": Cause(
        ("GRF016",),
        """
matrix = (np.eye(WIDTH) * WIDTH + rng.normal(size=(WIDTH, WIDTH))).astype(np.float32)


def work(x):
    return tf.transpose(tf.linalg.solve(tf.constant(matrix), tf.transpose(x)))
""",
        (32, 600),
    ),
    "all_differences": Cause(
        ("GRF012",),
        """
centres = rng.normal(size=(400, WIDTH)).astype(np.float32)


def work(x):
    return tf.reduce_sum(tf.square(x[:, None, :] - centres[None, :, :]), axis=-1)
""",
        (128, 128),
    ),
}

_WORK_LAYER = """
class Work(keras.layers.Layer):
    def call(self, x):
        return work(x)


"""

#: The rest of the script after the function ``work``, by context.
COMPUTING_CONTEXTS: dict[str, str] = {
    "step": """
scale = tf.Variable(1.0)
optimizer = keras.optimizers.SGD(1e-3)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(scale * work(x) - 1.0))
    optimizer.apply_gradients([(tape.gradient(loss, scale), scale)])
    return loss


for step in range(count(lambda i: train_step(tf.constant(batches[i])))):
    loss = train_step(tf.constant(batches[step % len(batches)]))
print(f"{loss.numpy():.3f}")
""",
    "fit": _WORK_LAYER
    + """
model = keras.Sequential([keras.Input((WIDTH,)), Work(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
labels = data[:, :1]
epochs = count(lambda i: model.fit(data, labels, batch_size=ROWS, verbose=0))
model.fit(data, labels, batch_size=ROWS, epochs=epochs, verbose=0)
""",
    "function": """
@tf.function
def compute(x):
    return work(x)


total = 0.0
for i in range(count(lambda i: compute(batches[i]).numpy())):
    total += float(compute(tf.constant(batches[i % len(batches)]))[0, 0])
print(f"{total:.3f}")
""",
    "map": """
dataset = tf.data.Dataset.from_tensor_slices(data).batch(ROWS).map(work).prefetch(1)


def read():
    seen = 0.0
    for y in dataset:
        seen += float(y[0, 0])
    return seen


total = 0.0
for epoch in range(count(lambda i: read())):
    total += read()
print(f"{total:.3f}")
""",
    "map_fit": """
def prepare(x, y):
    return work(x), y


dataset = tf.data.Dataset.from_tensor_slices((data, data[:, :1])).batch(ROWS).map(prepare).prefetch(1)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, epochs=count(lambda i: model.fit(dataset, verbose=0)), verbose=0)
""",
    "session": """
tf1 = tf.compat.v1
with tf.Graph().as_default(), tf1.Session() as session:
    x = tf1.placeholder(tf.float32, [None, WIDTH])
    y = work(x)
    total = 0.0
    for i in range(count(lambda i: session.run(y, {x: batches[i]}))):
        total += session.run(y, {x: batches[i % len(batches)]})[0, 0]
print(f"{total:.3f}")
""",
    "predict": _WORK_LAYER
    + """
model = keras.Sequential([keras.Input((WIDTH,)), Work(), keras.layers.Dense(1)])
total = 0.0
for i in range(count(lambda i: model.predict(data, batch_size=ROWS, verbose=0))):
    rows = data + np.float32(0.01 * i)
    total += model.predict(rows, batch_size=ROWS, verbose=0)[0, 0]
print(f"{total:.3f}")
""",
    "predict_on_batch": _WORK_LAYER
    + """
model = keras.Sequential([keras.Input((WIDTH,)), Work(), keras.layers.Dense(1)])
total = 0.0
for i in range(count(lambda i: model.predict_on_batch(batches[i]))):
    total += model.predict_on_batch(batches[i % len(batches)])[0, 0]
print(f"{total:.3f}")
""",
    "serving": """
class Served(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, WIDTH], tf.float32)])
    def serve(self, x):
        return {"y": work(x)}


served = Served()
for name in ("encoder", "kernel", "matrix", "centres"):
    if hasattr(globals().get(name), "variables"):
        setattr(served, name, globals()[name])
tf.saved_model.save(served, "served", signatures=served.serve)
serve = tf.saved_model.load("served").signatures["serving_default"]
total = 0.0
for i in range(count(lambda i: serve(x=tf.constant(batches[i])))):
    total += float(serve(x=tf.constant(batches[i % len(batches)]))["y"][0, 0])
print(f"{total:.3f}")
""",
    "callback": """
@tf.function
def compute(x):
    return tf.reduce_mean(work(x))


class Watch(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs["watched"] = float(np.mean([compute(tf.constant(x)) for x in batches]))


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
labels = data[:, :1]


def fit(epochs):
    model.fit(data, labels, batch_size=ROWS, epochs=epochs, callbacks=[Watch()], verbose=0)


fit(count(lambda i: fit(1)))
""",
    "metric": """
class Watched(keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="watched")
        self.total = self.add_weight(name="total")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_mean(work(y_true)))

    def result(self):
        return self.total


model = keras.Sequential([keras.Input((WIDTH,)), keras.layers.Dense(4), keras.layers.Dense(WIDTH)])
model.compile("sgd", "mse", metrics=[Watched()])
epochs = count(lambda i: model.fit(data, data, batch_size=ROWS, verbose=0))
model.fit(data, data, batch_size=ROWS, epochs=epochs, verbose=0)
""",
    "thread": """
import queue
import threading


@tf.function
def compute(x):
    return work(x)


results = queue.Queue(2)


def produce(times):
    for i in range(times):
        results.put(compute(tf.constant(batches[i % len(batches)])))


times = count(lambda i: compute(batches[i]).numpy())
threading.Thread(target=produce, args=(times,), daemon=True).start()
total = 0.0
for _ in range(times):
    total += float(results.get()[0, 0])
print(f"{total:.3f}")
""",
    "helper": """
total = 0.0
for i in range(count(lambda i: helper.compute(batches[i]).numpy())):
    total += float(helper.compute(tf.constant(batches[i % len(batches)]))[0, 0])
print(f"{total:.3f}")
""",
}

CALLING: dict[str, Cause] = {
    "eager_operations": Cause(
        ("EAG008", "EAG005", "EAG001", "EAG003", "EAG013"),
        """
def job(i):
    x = tf.constant(batches[i % len(batches)])
    for _ in range(40):
        x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
    return float(x[0, 0])
""",
        (8, 16),
    ),
    "list_to_tensor": Cause(
        ("EAG016",),
        """
rows = data.tolist()


def job(i):
    return float(tf.reduce_mean(tf.constant(rows)) + i)
""",
        (64, 64),
    ),
    "one_at_a_time": Cause(
        ("EAG011",),
        """
def job(i):
    x = tf.constant(batches[i % len(batches)])
    total = 0.0
    for row in x:
        for value in row:
            total += float(value)
    return total
""",
        (4, 32),
    ),
    "tiny_predict": Cause(
        ("EAG004",),
        """
model = keras.Sequential([keras.Input((WIDTH,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])


def job(i):
    return float(model.predict(batches[i % len(batches)][:1], verbose=0)[0, 0])
""",
        (4, 8),
    ),
    "python_value": Cause(
        ("RET001",),
        """
@tf.function
def compute(x, number):
    for _ in range(6):
        x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
    return tf.reduce_mean(x) * number


def job(i):
    return float(compute(tf.constant(batches[i % len(batches)]), i))
""",
        (8, 8),
    ),
    "shapes": Cause(
        ("RET003", "RET002"),
        """
@tf.function
def compute(x):
    for _ in range(6):
        x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
    return tf.reduce_mean(x)


def job(i):
    return float(compute(np.tile(batches[0], (1, i + 1))))
""",
        (8, 8),
    ),
    "made_again": Cause(
        ("RET008",),
        """
def job(i):
    @tf.function
    def compute(x):
        for _ in range(6):
            x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
        return tf.reduce_mean(x)

    return float(compute(tf.constant(batches[i % len(batches)])))
""",
        (8, 8),
    ),
    "file_again": Cause(
        ("INP002", "INP014"),
        """
np.savez_compressed("rows.npz", rows=np.round(rng.normal(size=(400, 400)), 2))


def job(i):
    return float(np.load("rows.npz")["rows"][i % 400].mean())
""",
    ),
    "dataset_again": Cause(
        ("INP012", "RET012", "MEM005"),
        """
def double(x):
    return tf.tanh(x) * 2.0


def job(i):
    dataset = tf.data.Dataset.from_tensor_slices(batches[i % len(batches)]).map(double).batch(4)
    return float(np.mean([x.numpy().mean() for x in dataset]))
""",
        (16, 8),
    ),
    "collected": Cause(
        ("STP005",),
        """
import gc


def job(i):
    gc.collect()
    return float(batches[i % len(batches)].mean())
""",
    ),
    "seeded": Cause(
        ("STP012",),
        """
@tf.function
def compute(x):
    for _ in range(20):
        x = tf.tanh(x + tf.random.normal(tf.shape(x))) * 0.5
    return tf.reduce_mean(x)


def job(i):
    tf.random.set_seed(i)
    return float(compute(tf.constant(batches[i % len(batches)])))
""",
        (8, 8),
    ),
    "model_again": Cause(
        ("EAG009", "RET014"),
        """
def job(i):
    model = keras.Sequential([keras.Input((WIDTH,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    return float(model(batches[i % len(batches)])[0, 0])
""",
        (4, 8),
    ),
    "xla_shapes": Cause(
        ("CMP001",),
        """
@tf.function(jit_compile=True, reduce_retracing=True, input_signature=[tf.TensorSpec([None, None], tf.float32)])
def compute(x):
    for _ in range(6):
        x = tf.tanh(x) * 0.5 + tf.sigmoid(x * 1.1) - 0.1
    return tf.reduce_mean(x)


def job(i):
    return float(compute(np.tile(batches[0], (1, i // 2 + 1))))
""",
        (8, 8),
    ),
    "eager_map_fn": Cause(
        ("EAG010",),
        """
def normalise(row):
    return (row - tf.reduce_mean(row)) / tf.maximum(tf.math.reduce_std(row), 1e-3)


def job(i):
    return float(tf.reduce_mean(tf.map_fn(normalise, tf.constant(batches[i % len(batches)]))))
""",
        (16, 16),
    ),
}

_SMALL_MODEL = """
model_of_all = keras.Sequential([keras.layers.Dense(1)])
model_of_all.compile("sgd", "mse")
"""

#: The rest of the script after the function ``job``, by context.
CALLING_CONTEXTS: dict[str, str] = {
    "loop": """
total = 0.0
for i in range(count(job)):
    total += job(i + 3)
print(f"{total:.3f}")
""",
    "step": """
scale = tf.Variable(1.0)
optimizer = keras.optimizers.SGD(1e-3)


@tf.function
def train_step(x, shift):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(scale * x - shift))
    optimizer.apply_gradients([(tape.gradient(loss, scale), scale)])
    return loss


for step in range(count(job)):
    shift = job(step + 3)
    loss = train_step(tf.constant(batches[step % len(batches)]), tf.constant(shift, tf.float32))
print(f"{loss.numpy():.3f}")
""",
    "batch_callback": _SMALL_MODEL
    + """

class Watch(keras.callbacks.Callback):
    calls = 3

    def on_train_batch_end(self, batch, logs=None):
        self.last = job(self.calls)
        self.calls += 1


epochs = max(count(job) // len(batches), 2)
model_of_all.fit(data, data[:, :1], batch_size=ROWS, epochs=epochs, callbacks=[Watch()], verbose=0)
""",
    "epoch_callback": _SMALL_MODEL
    + """

class Watch(keras.callbacks.Callback):
    calls = 3

    def on_epoch_end(self, epoch, logs=None):
        for _ in range(8):
            self.last = job(self.calls)
            self.calls += 1


epochs = max(count(job) // 8, 2)
model_of_all.fit(data, data[:, :1], batch_size=ROWS, epochs=epochs, callbacks=[Watch()], verbose=0)
""",
    "sequence": _SMALL_MODEL
    + """

class Rows(keras.utils.PyDataset):
    calls = 3

    def __len__(self):
        return len(batches)

    def __getitem__(self, index):
        self.calls += 1
        return batches[index], batches[index][:, :1] + job(self.calls)


epochs = max(count(job) // len(batches), 2)
model_of_all.fit(Rows(), epochs=epochs, shuffle=False, verbose=0)
""",
    "generator": _SMALL_MODEL
    + """

def rows():
    for i in range(times):
        yield batches[i % len(batches)], batches[i % len(batches)][:, :1] + np.float32(job(i + 3))


times = count(job)
signature = (tf.TensorSpec([None, WIDTH], tf.float32), tf.TensorSpec([None, 1], tf.float32))
dataset = tf.data.Dataset.from_generator(rows, output_signature=signature).prefetch(2)
model_of_all.fit(dataset, verbose=0)
""",
    "py_function": """
def call(i):
    return np.float32(job(int(i) + 3))


dataset = tf.data.Dataset.range(count(job)).map(lambda i: tf.py_function(call, [i], tf.float32)).prefetch(2)
total = 0.0
for value in dataset:
    total += float(value)
print(f"{total:.3f}")
""",
    "thread": """
import queue
import threading

results = queue.Queue(2)


def produce(times):
    for i in range(times):
        results.put(job(i + 3))


times = count(job)
threading.Thread(target=produce, args=(times,), daemon=True).start()
total = 0.0
for _ in range(times):
    total += results.get()
print(f"{total:.3f}")
""",
    "executor": """
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(2) as pool:
    total = sum(pool.map(job, range(3, count(job) + 3)))
print(f"{total:.3f}")
""",
    "helper": """
total = 0.0
for i in range(count(helper.job)):
    total += helper.job(i + 3)
print(f"{total:.3f}")
""",
}


def list_scripts() -> Iterator[Script]:
    """Yield a script for each cause in each context in which it makes sense."""
    for causes, contexts in ((COMPUTING, COMPUTING_CONTEXTS), (CALLING, CALLING_CONTEXTS)):
        for name, cause in causes.items():
            for context, text in contexts.items():
                if context not in cause.without:
                    yield _write_script(name, cause, context, text)


def _write_script(name: str, cause: Cause, context: str, text: str) -> Script:
    rows, width = cause.shape
    head = _HEAD.format(rows=rows, width=width, batches=_BATCHES)
    count = _COUNT.format(seconds=SECONDS)
    if context != "helper":
        return Script(name, context, f"{head}\n{cause.text}{count}{text.lstrip()}")
    compute = "" if "def job(" in cause.text else "\n\n@tf.function\ndef compute(x):\n    return work(x)\n"
    return Script(name, context, f"{head}\nimport helper\n{count}{text.lstrip()}", f"{head}\n{cause.text}{compute}")
