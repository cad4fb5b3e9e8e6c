"""The probe ``input`` on real scripts, and that they don't feel it."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf
from warm import WarmPython

WARM = True

needs_stage_times = pytest.mark.skipif(
    importlib.metadata.version("tensorflow").startswith("2.16."), reason="TensorFlow 2.16 tells no times of stages"
)
MODEL = """
import time
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(.01)
x, y = np.random.rand(480, 8).astype("f"), np.random.rand(480, 1).astype("f")
@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
"""

LOOP = (
    MODEL
    + """
def slow(a, b):
    a = tf.numpy_function(lambda v: (time.sleep(.002), v)[1], [a], tf.float32)
    a.set_shape([8])
    return a, b
def load():
    time.sleep(.03)
    return np.load("weights.npy")
np.save("weights.npy", np.arange(1000.))
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50)
data = data.map(slow).batch(8)
for a, b in data:
    load()
    step(a, b)
    probe = next(iter(tf.data.Dataset.range(3)))
"""
)

FIT = (
    MODEL
    + """
import keras
class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 30
    def __getitem__(self, i):
        return x[i * 8:i * 8 + 8], y[i * 8:i * 8 + 8]
def prepare(a, b):
    return a + tf.random.normal([8]), b
model.compile("sgd", "mse")
model.fit(Batches(), validation_data=(x, y), verbose=0)
train = tf.data.Dataset.from_tensor_slices((x, y)).map(prepare, num_parallel_calls=2).batch(8).prefetch(1)
valid = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)
model.fit(train, validation_data=valid, epochs=2, verbose=0)
"""
)

GRAPH = (
    MODEL
    + """
import os
for i in range(2):
    with tf.io.TFRecordWriter(f"part{i}.tfr") as w:
        for _ in range(100): w.write(np.random.rand(9).astype("f").tobytes())
def parse(raw):
    v = tf.ensure_shape(tf.io.decode_raw(raw, tf.float32), [9])
    return v[:8], v[8:]
optimizer.build(model.trainable_variables)
@tf.function
def epoch():
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(16):
        step(a, b)
epoch()
@tf.function
def both(first, more):
    for a, b in first:
        step(a, b)
    for a, b in more["second"]:
        step(a, b)
scaled = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2, b)).batch(16)
both(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), {"second": scaled})
files = tf.data.Dataset.from_tensor_slices(["part0.tfr", "part1.tfr"])
data = files.interleave(lambda f: tf.data.TFRecordDataset(f).map(parse), num_parallel_calls=2).repeat().batch(8)
it = iter(data)
for _ in range(30):
    a, b = next(it)
    step(a, b)
"""
)


def run(tfperf: Tfperf, source: str) -> dict[str, Any]:
    done = tfperf("run", "--probes", "input", "--json", "report.json", tfperf.script(source))
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tfperf.folder / "report.json").read_text())["probes"]
    assert row["status"] == "ok", row
    return dict(row["data"])


def line(source: str, text: str) -> int:
    return next(number for number, row in enumerate(source.splitlines(), 1) if text in row)


def stage(pipeline: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(dict(item) for item in pipeline["stages"] if item["kind"] == kind)


@needs_stage_times
def test_an_eager_loop(tfperf: Tfperf) -> None:
    data = run(tfperf, LOOP)
    main, other = data["pipelines"]
    assert (main["role"], main["line"]) == ("training", line(LOOP, "for a, b in data"))
    assert main["fetch_window"] == "baseline" and main["fetch_ms_per_step"] > 0
    mapped = stage(main, "Map")
    assert main["stages"][main["bound_by"]] == mapped
    assert (mapped["line"], mapped["mapped"]["line"]) == (line(LOOP, ".map(slow)"), line(LOOP, "def slow"))
    assert mapped["is_python"] and mapped["self_ms_per_step"] > 0 and stage(main, "Batch")["fused"]
    assert (stage(main, "Shuffle")["buffer"], stage(main, "TensorSlice")["memory_bytes"]) == (50, 480 * 9 * 4)
    assert stage(main, "TensorSlice")["line"] == line(LOOP, "shuffle(50)")
    # One at every step, far more than the datasets that are described.
    assert other["line"] == line(LOOP, "probe =") and other["iterators"] >= 32
    (loader,) = data["loaders"]
    assert loader["path"].endswith("weights.npy") and loader["opens_per_step"] == pytest.approx(1, abs=0.1)
    assert loader["chain"][0]["line"] == line(LOOP, "np.load(")
    (same,) = data["constant_functions"]
    assert (same["function"], same["line"], same["returns"]) == ("load", line(LOOP, "def load"), "float64[1000]")


@needs_stage_times
def test_fit(tfperf: Tfperf) -> None:
    data = run(tfperf, FIT)
    roles = {(item["line"], item["role"]) for item in data["pipelines"]}
    first, second = line(FIT, "model.fit(Batches"), line(FIT, "model.fit(train")
    assert roles == {(first, "training"), (first, "validation"), (second, "training"), (second, "validation")}
    given = {(row["kind"], row["validation"]): row for row in data["keras"]}
    assert set(given) == {("PyDataset", False), ("arrays", True), ("tf.data", False), ("tf.data", True)}
    batches = given["PyDataset", False]
    assert (batches["cls"], batches["workers"]) == ("Batches", 1)
    assert batches["place"]["line"] == line(FIT, "def __getitem__")
    fed = data["pipelines"][batches["pipeline"]]
    assert stage(fed, "Generator")["mapped"]["line"] == line(FIT, "def __getitem__")
    assert fed["measured"] == "model"
    mapped = stage(data["pipelines"][given["tf.data", False]["pipeline"]], "ParallelMap")
    assert mapped["stateful_or_random"] and not mapped["is_python"] and mapped["parallelism"] == 2
    assert mapped["mapped"]["function"] == "prepare"


@needs_stage_times
def test_a_loop_in_a_graph_and_files_read_in_turn(tfperf: Tfperf) -> None:
    data = run(tfperf, GRAPH)
    inside = next(item for item in data["pipelines"] if item["in_graph"])
    assert (inside["in_graph"], inside["measured"]) == ("epoch", "")
    assert [item["kind"] for item in inside["stages"]] == ["Batch", "TensorSlice"]
    assert stage(inside, "TensorSlice")["memory_bytes"] == 480 * 9 * 4
    assert [item["in_graph"] for item in inside["stages"]] == [True, True]
    # The argument of a compiled function is the tensor that the script made.
    first, second = (item for item in data["pipelines"] if item["in_graph"] == "both")
    assert [item["kind"] for item in first["stages"]] == ["Batch", "TensorSlice"]
    assert [item["kind"] for item in second["stages"]] == ["Batch", "Map", "TensorSlice"]
    assert (stage(first, "Batch")["line"], stage(second, "Map")["line"]) == (
        line(GRAPH, "both(tf."),
        line(GRAPH, "scaled ="),
    )
    assert not any(item["in_graph"] for item in (*first["stages"], *second["stages"]))
    main = next(item for item in data["pipelines"] if item["role"] == "training")
    assert main["line"] == line(GRAPH, "it = iter(data)") and main["measured"] == "model"
    own = [item for item in main["stages"] if not item["added"]]
    assert [(item["kind"], item["nested"] is not None) for item in own] == [
        ("Batch", False),
        ("Repeat", False),
        ("ParallelInterleave", False),
        ("Map", True),
        ("TFRecord", True),
        ("TensorSlice", True),
        ("TensorSlice", False),
    ]
    assert stage(main, "Map")["mapped"]["function"] == "parse"


UNTOUCHED = (
    """
import gc, inspect, random, sys, traceback, weakref
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.keras.utils.set_random_seed(1)
"""
    + MODEL
    + """
from tensorflow.python.framework import ops
from tensorflow.python.data.ops import dataset_ops, iterator_ops
def show(*words): print(*words, flush=True)
class Broken(tf.data.Dataset):
    def __init__(self):
        super().__init__(None)
def failing():
    yield np.float32(1)
    raise LookupError("the script's own")
data = tf.data.Dataset.from_tensor_slices((x[:240], y[:240])).shuffle(40, seed=3).map(lambda a, b: (a * 2, b)).batch(8)
show([float(v).hex() for v in tf.data.Dataset.range(5).map(lambda v: tf.random.uniform([]))])
show(repr(data), type(data).__mro__, isinstance(data, tf.data.Dataset), sorted(vars(data)))
show(inspect.signature(dataset_ops.DatasetV2.__init__), [f.function for f in inspect.stack()])
for a, b in data:
    loss = step(a, b)
show(float(loss).hex(), ops.uid(), float(tf.random.uniform([])).hex(), random.random(), np.random.rand())
def inner():
    it = iter(data)
    gone = weakref.ref(it), weakref.ref(data)
    next(it)
    return gone
gc.collect(); gc.disable()
alive = inner()
show(alive[0]() is None, sys.getprofile(), sys.gettrace())
gone = weakref.ref(tf.data.Dataset.range(3).map(lambda v: v + 1))
show(gone() is None)
gc.enable()
with tf.Graph().as_default() as graph:
    d = tf.data.Dataset.range(4).batch(2)
    show([o.name for o in graph.get_operations()])
try:
    Broken()
except Exception:
    traceback.print_exc(file=sys.stdout)
try:
    list(tf.data.Dataset.from_generator(failing, output_signature=tf.TensorSpec([], tf.float32)))
except tf.errors.OpError as error:
    show("LookupError: the script's own" in str(error))
tf.data.Dataset.range(10).save("saved")
show([int(v) for v in tf.data.Dataset.load("saved")])
model.compile("sgd", "mse")
history = model.fit(data, validation_data=(x, y), epochs=2, verbose=0)
show([float(v).hex() for v in history.history["val_loss"]], ops.uid())
"""
)


def test_the_script_does_not_feel_it(tmp_path: Path) -> None:
    tfperf = Tfperf(tmp_path, warm=True)
    script = tfperf.script(UNTOUCHED)
    plain = WarmPython(script, tfperf.environment).run(environment=tfperf.environment)
    assert plain.returncode == 0, plain.stderr[-3000:]
    done = tfperf("run", "--probes", "input", "--json", "report.json", script)
    assert done.stdout == plain.stdout.decode()
    (row,) = json.loads((tfperf.folder / "report.json").read_text())["probes"]
    assert row["status"] == "ok" and row["data"]["pipelines"], row


# Freed while the late element is being computed for certain: an iterator whose worker has not begun it yet frees at
# once.
# It takes half as long as all before it, so that the wait is a good part of the run on a busy machine too.
FREED = (
    """
import time
started = time.monotonic()
"""
    + MODEL
    + """
import threading
begun = threading.Event()
def late(n):
    if n > 70:
        begun.set()
        time.sleep(max(3, (time.monotonic() - started) / 2))
    return n
def train():
    data = tf.data.Dataset.range(1000).map(lambda n: tf.numpy_function(late, [n], tf.int64)).prefetch(1)
    batches = iter(data)
    for n in range(60):
        next(batches); step(x[:8], y[:8]); time.sleep(.01)
    for n in range(11): next(batches)
    begun.wait()
train()  # frees the iterator, which waits for the function that runs
"""
)


def test_the_wait_for_an_iterator_that_is_freed_is_reported(tfperf: Tfperf) -> None:
    """Freed as a function returns, where no frame is that could tell."""
    script = tfperf.script(FREED)
    done = tfperf("run", "--probes", "input", "--json", "report.json", script)
    assert done.returncode == 0, done.stderr
    findings = json.loads((tfperf.folder / "report.json").read_text())["findings"]
    (found,) = [finding for finding in findings if finding["code"] == "INP013"]
    line = FREED.splitlines().index("train()  # frees the iterator, which waits for the function that runs") + 1
    assert [place["line"] for place in found["where"]] == [line]
    assert "after the last step" in found["title"]
    assert next(item["value"] for item in found["evidence"] if item["name"] == "longest wait for an iterator") > 1


#: The iterators' models are read as soon as there is something new, not after some time.
EVALUATE = (
    MODEL
    + """
from tfperfkit_probes.input import record
record._APART_NS = record._SOON_NS = record._COST_APART = 0
model.compile("sgd", "mse")
def slow(a, b):
    for _ in range(30):
        a = a + tf.reduce_sum(tf.linalg.matmul(tf.ones((20, 20)), tf.ones((20, 20)))) * 0
    return a, b
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(4).map(slow).batch(8)
model.evaluate(data, verbose=0)
print(model.predict(data.map(lambda a, b: a), verbose=0).shape)
"""
)


@needs_stage_times
def test_the_pipeline_of_evaluate_is_measured_without_a_step(tfperf: Tfperf) -> None:
    data = run(tfperf, EVALUATE)
    found = {item["way"]: item for item in data["pipelines"]}
    assert set(found) == {"evaluate", "predict"} and not data["steps"]
    for pipeline in found.values():
        assert pipeline["measured"] == "model" and pipeline["readings"] >= 2
        assert 2 <= pipeline["outputs_each"] <= 240
        assert stage(pipeline, "Map")["self_ms_per_output"] > 0
    assert found["evaluate"]["line"] == line(EVALUATE, "model.evaluate")


STEPS = (
    MODEL
    + """
model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(48)
held = data.repeat()
model.fit(data, steps_per_epoch=8, epochs=3, validation_data=held, validation_steps=20, verbose=0)
model.evaluate(data, verbose=0)
"""
)


def test_the_steps_that_keras_was_given_and_data_that_ran_out(tfperf: Tfperf) -> None:
    data = run(tfperf, STEPS)
    fit = {row["validation"]: row for row in data["keras"] if row["way"] == "fit"}
    assert (fit[False]["steps"], fit[True]["steps"]) == (8, 20)
    (short,) = data["ran_out"]
    assert (short["asked"], short["had"], short["way"], short["validation"]) == (8, 10, "fit", False)
    assert short["line"] == line(STEPS, "model.fit")


AGAIN = (
    MODEL
    + """
model.compile("sgd", "mse")
def asked(a):
    return model.predict(a, verbose=0)
for _ in range(3): asked(x)
x[7, 3] += 1; asked(x)
x[7, 3] -= 1
model.layers[0].kernel.assign_add(tf.ones((8, 4)) * .001); asked(x)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(48)
for _ in range(2): model.evaluate(data, verbose=0)
model.evaluate(tf.constant(x), tf.constant(y), verbose=0)
print(model.predict(x, verbose=0).shape)
for _ in range(2): model.predict(((x[i:i + 8],) for i in range(0, 480, 8)), verbose=0)
model.fit(x, y, epochs=2, validation_data=(x, y), verbose=0)
model.evaluate(data, verbose=0)
"""
)


def test_the_same_data_with_the_same_weights(tfperf: Tfperf) -> None:
    """Of five calls at the line two repeat the first: not the one after a number was written, nor after a weight was.
    Nor does evaluate after fit."""
    found = {(row["way"], row["line"]): row for row in run(tfperf, AGAIN)["asked_again"]}
    asked = found.pop(("predict", line(AGAIN, "    return model.predict")))
    assert (asked["calls"], asked["repeats"], asked["before"]) == (5, 2, None)
    assert 0 < asked["in_vain"] < asked["seconds"]
    data = found.pop(("evaluate", line(AGAIN, "for _ in range(2): model.evaluate")))
    assert (data["calls"], data["repeats"]) == (2, 1)
    later = found.pop(("predict", line(AGAIN, "print(model.predict")))
    assert later["before"]["line"] == asked["line"]
    assert not found
