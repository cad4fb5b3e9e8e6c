"""A probe written for version 1 of the contract still runs: ``version_1`` is ``examples/probe_hello`` as it was then,
before options and offers, and is never changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm_run import warm_tfperf

FROZEN = Path(__file__).parent / "version_1"
POINTS = """\
[tfperfkit.probes]
hello = probe_hello:HelloProbe

[tfperfkit.rules]
hello = probe_hello.rules:RULES
"""
SCRIPT = """\
import gc
import tensorflow as tf

weights = tf.Variable(tf.ones([8, 8]))

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, weights) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))

for step in range(12):
    train_step(tf.ones([4, 8]))
    gc.collect()
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make an environment with the frozen package installed."""
    library = tmp_path_factory.mktemp("library")
    shutil.copytree(FROZEN / "probe_hello", library / "probe_hello")
    facts = library / "probe_hello-0.1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: probe-hello\nVersion: 0.1.0\n")
    (facts / "entry_points.txt").write_text(POINTS)
    given = {"PYTHONPATH": str(library), "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**os.environ, **given}


def python(environment: dict[str, str], *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, cwd=cwd, capture_output=True, text=True, timeout=250
    )


def test_it_keeps_to_the_contract(environment: dict[str, str], tmp_path: Path) -> None:
    check = "import pathlib, probe_hello, tfperfkit.testing as t; t.check_probe(probe_hello.HelloProbe, pathlib.Path())"
    done = python(environment, "-c", check, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_it_records_and_tells_as_ever(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    tfperf, asked = warm_tfperf(environment)
    words = [*tfperf, "run", "--probes", "hello", "--json", "report.json", "--run-dir", "run", "train.py"]
    done = subprocess.run(words, env=asked, cwd=tmp_path, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    (row,) = report["probes"]
    assert (row["name"], row["status"], row["reason"]) == ("hello", "ok", None)
    assert row["data"]["collections"] >= 12 and row["tables"]
    codes = {finding["code"] for finding in report["findings"]}
    assert {"HEL001", "HEL002"} <= codes  # of the probe itself, and of its rule, which asks for it by name


def test_options_that_it_states_none_of_are_refused(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.tfperf.hello]\nmin_share = 0.5\n")
    done = python(environment, "-m", "tfperfkit", "run", "train.py", cwd=tmp_path)
    assert done.returncode == 2 and "[tool.tfperf.hello]: the probe has no option 'min_share'" in done.stderr
