"""A script that traces its first steps itself: our own trace comes once it is done, and its own is as without us."""

from __future__ import annotations

import json

from tfperf_runner import Tfperf

WARM = True

SCRIPT = """
import tensorflow as tf

@tf.function
def step(x, w):
    w.assign_sub(0.001 * tf.reduce_mean(tf.matmul(x, w)) * tf.ones_like(w))

data = iter(tf.data.Dataset.from_tensor_slices(tf.ones([6400, 16])).batch(64).repeat())
w = tf.Variable(tf.ones([16, 16]))
tf.profiler.experimental.start("logs")
for number in range(200):
    if number == 60:
        tf.profiler.experimental.stop()
    step(next(data), w)
print("done", tf.io.gfile.glob("logs/plugins/profile/*/*.xplane.pb") != [])
"""


def test_the_trace_comes_when_the_scripts_own_is_over(tfperf: Tfperf) -> None:
    done = tfperf("run", "--probes", "tfprof", "--steps-from", "step", "--json", "report.json", tfperf.script(SCRIPT))
    assert (done.returncode, done.stdout) == (0, "done True\n"), done.stderr
    report = json.loads((tfperf.folder / "report.json").read_text())
    (row,) = report["probes"]
    assert (row["status"], row["reason"]) == ("ok", None)
    assert row["data"]["first_step"] > 60 and row["data"]["steps"] >= 3
