"""The probe ``memory`` on real runs: what is kept is found with its line, what is not kept is no growth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

from tfperfkit.storage.run_directory import RunDirectory

WARM = True

#: Memory is sampled, and containers are looked at, by the number of the step: by time, a run of a second may have too
#: few of both.
KEEPS = """
import gc, sys
import numpy as np
import tensorflow as tf
from tfperfkit_probes.memory import record

record._LOOK_PART, record._STEP_NS, record._STEP_PART = 0, 0, 1 << 62
KEEP = sys.argv[1] == "keep"
weights = tf.Variable(tf.random.normal([128, 32]))
optimizer = tf.keras.optimizers.SGD(0.01)
outputs = []

class Trainer:
    def __init__(self):
        self.history = {"loss": []}
        self.made = []

    @tf.function
    def step(self, x, n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ weights)) * n
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    def train(self):
        rows = []
        x = tf.random.normal([64, 128])
        for i in range(120):
            loss = self.step(x, i if KEEP else tf.constant(float(i)))
            self.history["loss"].append(float(loss))
            made = tf.random.normal([512, 512])
            if KEEP:
                outputs.append(made)
                rows.append(np.ones(1000))
                self.made.append(tf.Variable(tf.zeros([10])))
            else:
                rows[:] = [np.ones(1000)]

Trainer().train()
print(sum("tfperfkit" in str(getattr(c, "__module__", "")) for c in gc.callbacks), "callback")
"""


def run(tfperf: Tfperf, *arguments: str) -> tuple[dict[str, Any], Path]:
    script = tfperf.script(KEEPS)
    done = tfperf("run", "--probes", "memory", "--json", "report.json", "--run-dir", "kept", script.name, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 ")  # the callback is there, and told in docs/transparency.md
    report = json.loads((tfperf.folder / "report.json").read_text())
    (row,) = [row for row in report["probes"] if row["name"] == "memory"]
    assert row["status"] == "ok", row["reason"]
    return row["data"], tfperf.folder / "kept/probes/memory"


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(KEEPS.splitlines(), 1) if text in line)


def test_what_a_script_keeps(tfperf: Tfperf) -> None:
    data, folder = run(tfperf, "keep")
    assert data["growth_is_significant"]
    assert data["growth_bytes_per_step"] > 512 * 512 * 4 * 0.8
    found = {row["name"]: row for row in data["growers"]}
    tensors = found["outputs"]
    assert (tensors["kind"], tensors["element"], tensors["per_step"]) == ("tensors", "EagerTensor", 1.0)
    assert (tensors["line"], tensors["function"]) == (line_of("outputs.append"), "train")
    assert tensors["bytes_per_step"] == pytest.approx(512 * 512 * 4, rel=0.01)
    assert (found["rows"]["kind"], found["rows"]["line"]) == ("arrays", line_of("rows.append"))
    assert found["self.made"]["kind"] == "variables"
    assert found["self.history['loss']"]["element"] == "float"
    (graphs,) = [row for row in data["growers"] if row["kind"] == "graphs"]
    assert (graphs["function"], graphs["per_step"]) == ("step", pytest.approx(1.0, abs=0.2))
    (variables,) = [row for row in data["growers"] if row["name"] == "variables"]
    assert (variables["line"], variables["bytes_per_step"]) == (line_of("self.made.append"), 40)
    assert data["rss_peak_bytes"] >= data["rss_last_bytes"] > data["rss_first_bytes"] > 0
    assert 0 < data["share_of_limit"] < 1 and data["steps_to_limit"] > 0
    assert {"train", "<module>"} <= {row["function"] for row in data["functions"]}
    rows = list(RunDirectory(folder.parents[1]).records("probes/memory/gc.jsonl"))
    assert rows and all(row[1] > row[0] and (row[2] == 2 or row[1] - row[0] >= 1_000_000) for row in rows)


def test_a_healthy_script_does_not_grow(tfperf: Tfperf) -> None:
    """Whether resident memory grows is the system's matter in a run of a second: on made and on recorded runs it is
    tested in ``unit/probes/memory`` and ``unit/ledger/test_recorded_runs.py``.
    """
    data, _ = run(tfperf, "drop")
    assert data["growth_bytes_per_step"] is not None
    assert [(row["name"], row["per_step"]) for row in data["growers"]] == [("self.history['loss']", 1.0)]
    assert data["explained_bytes_per_step"] < 200  # a float and its place in the list
