"""A repository as a CI job has it: five kinds of regression are each caught by ``tfperf check``, and a commit that
changes nothing is not. ``TFPERF_ROUNDS`` repeats all of them so many times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

SCRIPT = """\
import tensorflow as tf

tf.random.set_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.SGD(0.01)
images, labels = tf.random.normal([2048, 256]), tf.random.uniform([2048], 0, 10, tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(256).prefetch(2)


def prepare(x):
    return x


@tf.function
def train_step(x, y, scale):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)) * scale
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for number, (x, y) in enumerate(data.take(250)):
    loss = train_step(prepare(x), y, tf.constant(1.0))
print("last loss", float(loss))
"""
BUDGET = """\
[tool.tfperf.budget]
retraces = 0
eager_ops_per_step = 2
host_syncs_per_step = 0
graph_ops = 80
findings = ["RET*"]
slowdown = 0.5
"""
#: The planted change, (old, new), and the bound that has to fail.
PLANTED = {
    "a retrace": ("tf.constant(1.0))", "1.0 + number % 5)", "retraces"),
    "an eager loop": (
        "    return x\n",
        "    for row in range(8):\n        x = tf.tensor_scatter_nd_add(x, [[row, 0]], [0.0])\n    return x\n",
        "eager_ops_per_step",
    ),
    "a host sync": (
        "y, tf.constant(1.0))\n",
        "y, tf.constant(1.0))\n    if loss > 1e9:\n        break\n",
        "host_syncs_per_step",
    ),
    "more graph operations": (
        "        logits = model(x)\n",
        "        logits = model(x)\n        for power in range(20):\n            logits = logits + 1e-9 * logits\n",
        "graph_ops",
    ),
    "a slower step": (
        "    return x\n",
        "    for _ in range(400_000):\n        pass\n    return x\n",
        "slowdown",
    ),
}
ROUNDS = range(int(os.environ.get("TFPERF_ROUNDS", "1")))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "pyproject.toml").write_text(BUDGET)
    git(folder, "init", "-q")
    commit(folder, "the base")
    return folder


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


def check(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "TFPERF_RUNS": str(folder.parent / "runs"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    result = folder.parent / "checked.json"
    words = [sys.executable, "-m", "tfperfkit", "check", *options, "--json", str(result), "train.py"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1500)
    assert done.returncode in (0, 1, 3), done.stderr
    print(done.stderr, done.stdout)
    assert git(folder, "worktree", "list").count("\n") == 1
    return done.returncode, json.loads(result.read_text())


@pytest.mark.parametrize("turn", ROUNDS)
@pytest.mark.parametrize("kind", PLANTED)
def test_a_regression_is_caught(repository: Path, kind: str, turn: int) -> None:
    old, new, bound = PLANTED[kind]
    changed = SCRIPT.replace(old, new)
    assert changed != SCRIPT
    (repository / "train.py").write_text(changed)
    commit(repository, kind)
    status, checked = check(repository, *(["--base", "HEAD~1"] if bound == "slowdown" else []))
    assert status == 1
    assert bound in {each["name"] for each in checked["measures"] if each["outcome"] == "fail"}


@pytest.mark.parametrize("turn", ROUNDS)
def test_a_commit_that_changes_nothing_is_not(repository: Path, turn: int) -> None:
    """Undecided it may be, where the machine is too busy to tell."""
    (repository / "train.py").write_text(SCRIPT + "# a comment\n")
    commit(repository, "nothing")
    status, checked = check(repository, "--base", "HEAD~1", "--time-limit", "4m")
    assert status != 1, checked
    assert {each["outcome"] for each in checked["measures"] if each["name"] != "slowdown"} == {"pass"}
