"""A second phase that runs operation by operation after compiled steps: it is traced too, and has a predicted gain."""

from __future__ import annotations

import json

from tfperf_runner import Tfperf

WARM = True

SCRIPT = """\
import glob
import time

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal((16, 4))


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def refine(point):
    for _ in range(20):
        point = point - 0.01 * tf.tanh(point) / (tf.norm(point) + 1.0)
    return point


for _ in range(400):
    step()
point, enough = tf.ones((8, 8)), None
while enough is None or time.process_time() < enough:
    point = refine(point)
    if enough is None and len(glob.glob("r/trace/plugins/profile/*/*.xplane.pb")) == 2:  # of the steps, and of this
        enough = time.process_time() + 2
print("refined")
"""


def test_the_second_phase_is_traced_and_priced(tfperf: Tfperf) -> None:
    done = tfperf("run", "--run-dir", "r", "--json", "r.json", tfperf.script(SCRIPT, "two_phases.py"))
    assert (done.returncode, done.stdout) == (0, "refined\n"), done.stderr
    report = json.loads((tfperf.folder / "r.json").read_text())
    assert report["steps"]["count"] == 400
    (trace,) = (probe for probe in report["probes"] if probe["name"] == "tfprof")
    assert trace["data"]["steps"] > 0
    assert any("traced after the steps" in note for note in trace["notes"])
    found = next(item for item in report["findings"] if item["code"] == "EAG008")
    assert (found["predicted_speedup"] or found["at_least"]) > 1  # how much more depends on the machine
    assert "eager operations" in [item["name"] for item in found["evidence"]]
