"""The running code decides, not its name: each mistake that names would suggest, with its twin, in real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

WARM = True

BEGIN = """
import numpy as np
import tensorflow as tf

class Agent:
    def __init__(self):
        self.generator = tf.keras.Sequential([tf.keras.layers.Dense(24) for _ in range(5)])
        self.layers = [tf.random.normal((16,)) for _ in range(24)]
        self.blocks = [tf.keras.layers.Dense(16) for _ in range(12)]

agent = Agent()
net = tf.keras.Sequential([tf.keras.layers.Input((24,)), tf.keras.layers.Dense(24), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD()
opt.build(net.trainable_variables)

@tf.function
def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
"""
#: A model called operation by operation next to the compiled update, and a function of the user's that is none.
MODEL = """
def planet_mask(x):
    return tf.abs(tf.sin(x)) + tf.cos(x) * tf.exp(-tf.abs(x))

for number in range(160):
    x = tf.ones((8, 24))
    for turn in range(4):
        x = {called}(x)
    update(x)
"""
#: A loop of the eager step over tensors, or over layers.
LOOP = """
dense = tf.keras.layers.Dense(16)
dense.build((None, 16))
for block in agent.blocks:
    block.build((None, 16))
slow = tf.keras.optimizers.SGD()
slow.build(dense.trainable_variables)

def train(header_rows):
    with tf.GradientTape() as tape:
        loss = tf.ones((1, 16))
        for item in {over}:
            loss = loss + {turn}
        loss = tf.reduce_mean(dense(loss))
    slow.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))

for number in range(120):
    train(agent.layers)
"""


def findings(tfperf: Tfperf, script: str) -> dict[str, dict[str, Any]]:
    tfperf.script(BEGIN + script)
    done = tfperf("run", "--probes", "lines,tfprof", "--json", "report.json", "train.py")
    assert done.returncode == 0, done.stderr
    rows = json.loads(Path(tfperf.folder, "report.json").read_text())["findings"]
    return {row["code"]: row for row in rows if row["severity"] != "info"}


def line_of(script: str, text: str) -> int:
    return next(number for number, line in enumerate((BEGIN + script).splitlines(), 1) if text in line)


@pytest.mark.parametrize(("called", "told"), [("agent.generator", True), ("planet_mask", False)])
def test_a_model_is_one_by_what_it_is(tfperf: Tfperf, called: str, told: bool) -> None:
    script = MODEL.format(called=called)
    found = findings(tfperf, script)
    assert ("EAG004" in found) == told, found
    if told:
        assert found["EAG004"]["where"][0]["line"] == line_of(script, f"x = {called}(x)")
        assert found["EAG004"]["title"].startswith("agent.generator called")


@pytest.mark.parametrize(
    ("over", "turn", "told"),
    [
        ("agent.layers", "dense(tf.reshape(item, (1, 16)))", True),
        ("header_rows", "dense(tf.reshape(item, (1, 16)))", True),
        ("agent.blocks", "item(loss)", False),
    ],
)
def test_a_loop_is_over_data_by_what_it_goes_over(tfperf: Tfperf, over: str, turn: str, told: bool) -> None:
    script = LOOP.format(over=over, turn=turn)
    found = findings(tfperf, script)
    assert ("EAG005" if told else "EAG001") in found and ("EAG005" in found) == told, found
    if told:
        assert found["EAG005"]["where"][0]["line"] == line_of(script, f"for item in {over}")


def test_an_apply_of_the_script_s_own_is_not_taken_for_pandas(tfperf: Tfperf) -> None:
    """The words about pandas are tested on recorded frames: Keras would import it in every test."""
    script = """

class Rows:
    def apply(self, what, axis=0):
        return [sum(ord(letter) for letter in str(row) * 20) + what(row) for row in range(4000)]

df = Rows()
for number in range(200):
    df.apply(lambda row: 1.0, axis=1)
    update(tf.ones((8, 24)))
"""
    found = findings(tfperf, script)
    assert "pandas" not in found["LIN001"]["advice"] and "pandas" not in found["LIN001"]["title"]
