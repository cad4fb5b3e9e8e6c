"""The options of probes, given on the command line of a run or of a report."""

from __future__ import annotations

import re

import pytest
from tfperf_runner import Tfperf

WARM = True
TRAINS = """
import tensorflow as tf

weights = tf.Variable(tf.zeros([64, 64]))

@tf.function
def helper(x):
    return tf.reduce_mean((x @ weights) ** 2)

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        loss = helper(x)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss

x = tf.random.normal([256, 64])
for _ in range(STEPS):
    train_step(x)
print("trained")
"""


def test_a_gpu_that_is_required_and_not_there_ends_the_script_before_its_first_step(tfperf: Tfperf) -> None:
    tfperf.script(TRAINS.replace("STEPS", "5"))
    done = tfperf("run", "--require-gpu", "--probes", "devices", "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    told = [line for line in done.stderr.splitlines() if line.startswith("tfperf: --require-gpu: ")]
    assert len(told) == 1 and "GPU" in told[0]
    assert "Traceback" not in done.stderr and "DEV" in done.stderr
    done = tfperf("run", "--probes", "devices", "train.py")
    assert (done.returncode, done.stdout) == (0, "trained\n")


def test_autograph_shows_the_code_and_xla_is_asked_only_when_wanted(tfperf: Tfperf) -> None:
    tfperf.script(TRAINS.replace("STEPS", "5"))
    report = tfperf("run", "--ops-autograph", "train_step", "--ops-xla", "--probes", "ops", "train.py").stderr
    assert "train_step: source and AutoGraph's code" in report and "def tf__train_step(x):" in report
    assert re.search(r"XLA compiles it:\s+\d+\s+instructions", report)
    report = tfperf("run", "--probes", "ops", "--show", "ops", "train.py").stderr
    assert "tf__train_step" not in report and "XLA compiles it" not in report
    done = tfperf("run", "--ops-autograph", "no_such_function", "--probes", "ops", "train.py")
    assert done.returncode == 0 and "no_such_function" in done.stderr


@pytest.mark.parametrize(("depth", "deeper"), [("0", False), ("2", True)])
def test_lines_unfold_as_deep_as_asked(tfperf: Tfperf, depth: str, deeper: bool) -> None:
    tfperf.script(TRAINS.replace("STEPS", "3000"))
    run = tfperf("run", "--lines-depth", depth, "--probes", "lines,tfprof", "--run-dir", "r", "train.py").stderr
    again = tfperf("report", "r", "--lines-depth", depth).stdout
    for report in (run, again):
        assert "loss = helper(x)" in report
        assert ("  return tf.reduce_mean(" in report) is deeper
