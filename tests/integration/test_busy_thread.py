"""A thread of the script's that spins next to the training, in a real run."""

from __future__ import annotations

import json
import sys

import pytest
from tfperf_runner import Tfperf

WARM = True
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system tells what a thread does on Linux")

SPINS = """
import threading, time
import tensorflow as tf
done = threading.Event()
weight = tf.Variable(tf.ones((8, 8)))
def watch():
    while not done.is_set():
        pass
def wait():
    done.wait()
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.tanh(x @ weight))
    weight.assign_sub(0.01 * tape.gradient(loss, weight))
    return loss
for target in (watch, wait):
    threading.Thread(target=target, daemon=True).start()
x, end = tf.ones((4, 8)), time.monotonic() + 8
while time.monotonic() < end:
    step(x)
done.set()
"""


def test_a_thread_that_spins_is_named_with_its_loop(tfperf: Tfperf) -> None:
    done = tfperf("run", "--probes", "memory", "--json", "report.json", tfperf.script(SPINS))
    assert done.returncode == 0, done.stderr[-3000:]
    findings = json.loads((tfperf.folder / "report.json").read_text())["findings"]
    (found,) = [finding for finding in findings if finding["code"] == "STP015"]
    line = SPINS.splitlines().index("    while not done.is_set():") + 1
    assert found["where"][0]["line"] == line and "Polling thread watch" in found["title"]
