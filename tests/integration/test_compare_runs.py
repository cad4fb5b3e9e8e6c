"""Real runs of a small script compared: the same thing twice, and once with a slow line planted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

SCRIPT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.SGD(0.01)
data = tf.data.Dataset.from_tensor_slices((tf.random.normal([512, 64]), tf.random.uniform([512], 0, 10, tf.int32)))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def prepare(x):
    return x


for x, y in data.repeat().batch(64).take(150):
    train_step(prepare(x), y)
"""
#: Some ten times the step itself, whatever else the machine does.
PLANTED = """\
    for _ in range(400_000):
        pass
    return x
"""


def record(tfperf: Tfperf, name: str, source: str) -> Path:
    tfperf.script(source, f"{name}/train.py")
    folder = tfperf.folder / f"run-{name}"
    done = tfperf("run", "--run-dir", folder, "--json", f"{name}.json", f"{name}/train.py")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tfperf, Path, Path]:
    tfperf = Tfperf(tmp_path_factory.mktemp("compare"), warm=True)
    slow = SCRIPT.replace("    return x\n", PLANTED)
    return tfperf, record(tfperf, "before", SCRIPT), record(tfperf, "after", slow)


def test_a_planted_slow_line_is_named(runs: tuple[Tfperf, Path, Path]) -> None:
    tfperf, before, after = runs
    done = tfperf("compare", before, after, "--json", "compared.json")
    assert (done.returncode, done.stderr) == (0, "")
    (compared,) = json.loads((tfperf.folder / "compared.json").read_text())["comparisons"]
    new = {each["where"]["line"] for each in compared["causes"] if (each["kind"], each["change"]) == ("line", "new")}
    assert new & {17, 18}
    assert compared["sources"][0]["added"] == 2
    if compared["culprit"]:  # on a busy machine these few steps need not show even this
        assert compared["culprit"]["where"]["line"] in (17, 18)
        assert "B is slower" in done.stdout and "Most of it at train.py:1" in done.stdout


def test_a_run_against_itself_differs_in_nothing(runs: tuple[Tfperf, Path, Path]) -> None:
    tfperf, before, _ = runs
    done = tfperf("compare", before, before)
    assert done.returncode == 0
    assert "No difference shown: a step takes as long" in done.stdout
    assert "why" not in done.stdout.split() and "Nothing that is known of both differs." in done.stdout


def test_json_reports_are_compared_as_far_as_they_go(runs: tuple[Tfperf, Path, Path]) -> None:
    tfperf, _, _ = runs
    done = tfperf("compare", "before.json", "after.json", "--json", "-")
    (compared,) = json.loads(done.stdout)["comparisons"]
    assert "no single steps" in compared["step"]["reason"] and compared["step"]["low"] is None


@pytest.mark.parametrize("wrong", ["nothing-here", "report.txt", "folder"])
def test_what_is_no_run_is_one_line(tfperf: Tfperf, wrong: str) -> None:
    (tfperf.folder / "report.txt").write_text("hello")
    (tfperf.folder / "folder").mkdir()
    assert wrong in tfperf.refuses("compare", wrong, wrong)


def test_one_run_is_not_enough(tfperf: Tfperf) -> None:
    assert "two runs or more" in tfperf.refuses("compare", "last")
