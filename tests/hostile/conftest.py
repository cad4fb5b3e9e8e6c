"""A real run with all probes, recorded once per session of tests, that every test here damages a copy of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from mutations import MANY
from shared_run import recorded_once

settings.register_profile(
    "hostile",
    deadline=None,
    max_examples=1500 if MANY else 12,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)

_SCRIPT = """
import numpy as np
import tensorflow as tf
import keras

xs = np.random.default_rng(0).normal(size=(256, 8)).astype("float32")
ys = xs.sum(axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).map(lambda x, y: (x * 2.0, y)).batch(8)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()
model.build((None, 8))
optimizer.build(model.trainable_variables)

@tf.function
def step(x, y, scale):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) * scale
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss

def main():
    number = 0
    for epoch in range(8):
        for x, y in data:
            number += 1
            loss = step(x, y, number // 60)
            if number % 5 == 0:
                float(loss)

main()
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The run directory, never to be changed."""

    def record(folder: Path) -> None:
        (folder / "train.py").write_text(_SCRIPT)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TFPERF_")}
        environment |= {"CUDA_VISIBLE_DEVICES": "-1", "TFPERF_RUNS": str(folder / "runs")}
        command = [sys.executable, "-m", "tfperfkit", "run", "--probes", "all", "--run-dir", "run", "train.py"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=200)

    run = recorded_once(tmp_path_factory, worker_id, "recorded", record) / "run"
    assert list(run.glob("trace/plugins/profile/*/*.xplane.pb")), "the run has no trace to damage"
    return run


@pytest.fixture
def copied(recorded: Path, tmp_path: Path) -> Path:
    """Make a copy of the run to damage."""
    return Path(shutil.copytree(recorded, tmp_path / "run"))


@pytest.fixture
def fresh(recorded: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes the copy again, for each example of hypothesis."""

    def make() -> Path:
        for path in (tmp_path / "run", tmp_path / "scratch"):
            shutil.rmtree(path, ignore_errors=True)
        (tmp_path / "scratch").mkdir()
        return Path(shutil.copytree(recorded, tmp_path / "run"))

    return make
