"""Work that trains nothing and computes in a compiled function: its lines are seen, also of a model that is wrapped."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tfperf_runner import Tfperf

SCRIPT = """\
import time

import tensorflow as tf


class Ranker(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(8)

    def call(self, x):
        spread = self.dense(x)
        return tf.sort(tf.reshape(spread, [-1])) + tf.sort(tf.reshape(-spread, [-1]))


rank = tf.function(Ranker(), reduce_retracing=True)
x, begun = tf.random.normal((50_000, 8)), time.monotonic()
while time.monotonic() < begun + 7:
    rank(x)
print("done")
"""


def test_lines_and_graph_of_work_without_steps(tmp_path: Path) -> None:
    run = Tfperf(tmp_path, warm=True)
    done = run("run", "--full", "--json", "r.json", run.script(SCRIPT, "rank.py"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    sorting = 1 + next(index for index, text in enumerate(SCRIPT.splitlines()) if "tf.sort" in text)
    rows = {row["name"]: row for row in report["probes"]}
    (function,) = rows["lines"]["data"]["graph_functions"]
    assert (function["function"], function["where"], function["matched_share"] > 0.9) == ("call", "stretch", True)
    assert max(function["lines"], key=lambda row: row["ms"])["line"] == sorting
    assert [each["function"] for each in rows["ops"]["data"]["functions"]] == ["call"]
    assert " traced on " in done.stderr and "a step on" not in done.stderr
    # A remark or a finding, by its share of the run: how long that took before is a matter of the machine.
    assert re.search(rf"rank\.py:{sorting}: TopKV2|TopKV2 \(rank\.py:{sorting}\)", report["headline"])


ONE_CALL = """\
import tensorflow as tf


@tf.function
def search(values, seconds):
    best, begun = values[0], tf.timestamp()
    while tf.timestamp() < begun + seconds:
        spread = values + best
        best = tf.sort(spread)[0]
    return best


print(search(tf.random.stateless_normal([300_000], (1, 2)), 9.0).shape)
"""


def test_lines_of_one_call_that_is_all_of_the_work(tmp_path: Path) -> None:
    run = Tfperf(tmp_path, warm=True)
    done = run("run", "--json", "r.json", run.script(ONE_CALL, "search.py"))
    assert (done.returncode, done.stdout) == (0, "()\n"), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    sorting = 1 + next(index for index, text in enumerate(ONE_CALL.splitlines()) if "tf.sort" in text)
    rows = {row["name"]: row for row in report["probes"]}
    (function,) = rows["lines"]["data"]["graph_functions"]
    assert (function["function"], function["where"], function["matched_share"] > 0.9) == ("search", "stretch", True)
    assert max(function["lines"], key=lambda row: row["ms"])["line"] == sorting
    assert [window["name"] for window in report["windows"]][:1] == ["tfprof"]


EPOCH = """\
import time

import tensorflow as tf


def doubled(x, y):
    return tf.py_function(late, [x], tf.float32), y


def late(x):
    time.sleep(0.002)
    return x * 2


x, y = tf.random.normal([4800, 8]), tf.random.uniform([4800], 0, 2, tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).map(doubled).batch(32)
model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(4)])
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def train():
    for x, y in ds:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(tf.ensure_shape(x, [None, 8])))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


train()
print("done")
"""


def test_training_in_one_call_is_told_from_within(tmp_path: Path) -> None:
    run = Tfperf(tmp_path, warm=True)
    done = run("run", "--json", "r.json", run.script(EPOCH, "epoch.py"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert "ran in one call: a step's time is its mean, from where its tracing ended" in report["steps"]["note"]
    parts = report["steps"]["breakdown_ms"]
    assert max(parts, key=parts.get) == "input"
    assert report["findings"][0]["where"][0]["line"] == 11  # the line within what the map calls
    assert report["steps"]["p90_ms"] is None and "p90" not in done.stderr
