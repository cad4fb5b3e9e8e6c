"""EAG001, LIN001 and INP002 fire on a planted fault and are silent on its healthy twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

SCRIPT = """
import sys
import numpy as np
import tensorflow as tf

FAULTY = sys.argv[1] == "faulty"
np.savez("data.npz", x=np.random.rand(512, 32).astype("float32"))
net = tf.keras.Sequential([tf.keras.layers.Input((32,))] + [tf.keras.layers.Dense(64, "relu") for _ in range(4)])
opt = tf.keras.optimizers.Adam()
opt.build(net.trainable_variables)
kept = np.load("data.npz")["x"]

def batch():
    return np.load("data.npz")["x"] if FAULTY else kept

def busy(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total

def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x, training=True) ** 2)
    opt.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
    return loss

step = train_step if FAULTY else tf.function(train_step)
for number in range(50 if FAULTY else 400):
    x = batch()
    busy(1_000_000 if FAULTY else 10)
    step(tf.constant(x))
"""


def findings(folder: Path, kind: str) -> dict[str, dict[str, Any]]:
    tfperf = Tfperf(folder, warm=True)
    words = ("--probes", "lines,tfprof", "--run-dir", kind, "--json", f"{kind}.json")
    done = tfperf("run", *words, tfperf.script(SCRIPT), kind)
    assert done.returncode == 0, done.stderr[-2000:]
    return {item["code"]: item for item in json.loads((folder / f"{kind}.json").read_text())["findings"]}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return findings(tmp_path_factory.mktemp("faulty"), "faulty")


def test_the_eager_step_is_named(faulty: dict[str, dict[str, Any]]) -> None:
    place = faulty["EAG001"]["where"][0]
    assert (place["line"], place["function"]) == (22, "train_step")
    assert faulty["EAG001"]["evidence"][0]["value"] > 30


def test_the_costly_python_line_is_named(faulty: dict[str, dict[str, Any]]) -> None:
    assert faulty["LIN001"]["where"][0]["line"] in {18, 19}


def test_the_healthy_twin_is_left_in_peace(tmp_path: Path) -> None:
    assert not {"EAG001", "LIN001", "INP002"} & set(findings(tmp_path, "healthy"))
