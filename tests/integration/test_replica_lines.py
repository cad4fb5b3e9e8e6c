"""Lines that a strategy's replicas ran, under the call of ``strategy.run`` that started them, on logical CPUs."""

from __future__ import annotations

import json
from typing import Any

from tfperf_runner import Tfperf

WARM = True

TRAIN = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w = tf.Variable(tf.ones([128, 128]) / 128)
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([w])

def product(x):
    for _ in tf.range(4):
        x = tf.tanh(x @ w)  # product
    return x

def one(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(product(x))  # loss
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

def score(x):
    return tf.reduce_sum(product(x))  # score

@tf.function
def step(x):
    losses = strategy.run(one, (x,))  # train
    scores = strategy.run(score, (2.0 * x,))  # again
    return losses, scores

for _ in range(60):
    step(tf.ones([128, 128]))
"""


def marked(word: str) -> int:
    return next(n for n, line in enumerate(TRAIN.strip().splitlines(), 1) if line.endswith(f"# {word}"))


def test_lines_of_replicas_stand_below_the_call_that_started_them(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN.strip())
    done = tfperf("run", "--window", "tfprof=15:20", "--probes", "lines,tfprof", "--json", "report.json", "train.py")
    assert done.returncode == 0, done.stderr
    report = json.loads((tfperf.folder / "report.json").read_text())
    data = next(probe["data"] for probe in report["probes"] if probe["name"] == "lines")
    (function,) = [each for each in data["graph_functions"] if each["function"] == "step"]
    assert paths(function["lines"], marked("product")) == {
        (marked("train"), marked("loss"), marked("product")),
        (marked("again"), marked("score"), marked("product")),
    }


def paths(rows: list[dict[str, Any]], line: int, above: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    """The ways of lines that lead to a line."""
    found: set[tuple[int, ...]] = set()
    for row in rows:
        here = (*above, row["line"]) if row["kind"] == "line" else above
        found |= {here} if row["kind"] == "line" and row["line"] == line else paths(row["children"], line, here)
    return found
