"""The probe ``lines`` in whole runs: hot functions, named ones, kernprof's, the whole run, modules, .lprof."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf
from warm import run_file_warm

SCRIPT = """
import time
import numpy as np
import tensorflow as tf
import helper

w = tf.Variable(tf.zeros([4, 1]))
opt = tf.keras.optimizers.SGD(0.1)

def fetch(n):
    data = np.load("data.npz")["x"]
    return data[:n] / 2.0

def compute_loss(x):
    return tf.reduce_mean((x @ w) ** 2)

@tf.function
def graph_step(x):
    with tf.GradientTape() as tape:
        loss = compute_loss(x)
    opt.apply(tape.gradient(loss, [w]), [w])
    return loss

def train(steps):
    for step in range(steps):
        x = tf.constant(fetch(8), tf.float32)
        helper.busy(30000)
        loss = graph_step(x)
    return loss

if __name__ == "__main__":
    np.savez_compressed("data.npz", x=np.random.rand(40000, 4))
    print("loss", float(train(120)) >= 0)
"""
HELPER = """
def busy(n):
    total = 0
    for i in range(n):
        total += i
    return total

def unused():
    return 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lines")
    (path / "train.py").write_text(SCRIPT)
    (path / "helper.py").write_text(HELPER)
    kernprof = SCRIPT.replace("def fetch(n):", "@profile\ndef fetch(n):")
    (path / "marked.py").write_text(kernprof)
    return path


def run(folder: Path, name: str, *arguments: str) -> dict[str, Any]:
    tfperf = Tfperf(folder, warm=True)
    done = tfperf("run", "--run-dir", name, "--json", f"{name}.json", *arguments, env={"COLUMNS": "120"})
    assert (done.returncode, done.stdout) == (0, "loss True\n"), done.stderr[-3000:]
    report: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    report["console"] = done.stderr
    return report


def functions(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    probe = next(probe for probe in report["probes"] if probe["name"] == "lines")
    assert probe["status"] == "ok", probe
    return {item["function"]: item for item in probe["data"]["python_functions"]}


@pytest.fixture(scope="module")
def hot(folder: Path) -> dict[str, Any]:
    return run(folder, "hot", "train.py", "--probes", "lines")


def test_hot_functions_are_found_and_measured(hot: dict[str, Any]) -> None:
    found = functions(hot)
    assert {"fetch", "busy", "train"} <= set(found)
    window = next(window for window in hot["windows"] if window["name"] == "lines")
    load = next(row for row in found["fetch"]["lines"] if row["line"] == 11)
    assert load["hits"] == window["steps"]
    loop = next(row for row in found["busy"]["lines"] if row["line"] == 4)
    assert loop["hits"] == 30001 * window["steps"]


def test_the_calling_loop_takes_the_whole_window(hot: dict[str, Any]) -> None:
    lines = functions(hot)["train"]["lines"]
    assert 0.9 <= sum(row["share"] for row in lines) <= 1.01
    assert {row["line"] for row in lines if row["hits"]} >= {26, 27, 28}


def test_a_compiled_function_is_said_to_be_compiled(hot: dict[str, Any]) -> None:
    probe = next(probe for probe in hot["probes"] if probe["name"] == "lines")
    assert [item["function"] for item in probe["data"]["graph_functions"]] == ["graph_step"]
    assert "graph_step" not in functions(hot)
    assert "ran only while tracing" in hot["console"]


def test_the_reload_is_the_first_finding(hot: dict[str, Any]) -> None:
    first = hot["findings"][0]
    assert (first["code"], first["family"]) == ("INP002", "input")
    assert (Path(first["where"][0]["file"]).name, first["where"][0]["line"]) == ("train.py", 26)
    assert [place["line"] for place in first["where"]] == [26, 11]
    # If the reload takes nearly all of the step, the gain has a lower bound only.
    assert first["evidence"] and (first["predicted_speedup"] or first["at_least"]) > 1


def test_line_profiler_reads_the_lprof(folder: Path, hot: dict[str, Any]) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "line_profiler", str(folder / "hot" / "probes" / "lines" / "lines.lprof")],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    ).stdout
    assert "Function: fetch at line 10" in shown and "Line Contents" in shown


def test_named_functions_and_paths(folder: Path) -> None:
    report = run(folder, "named", "--probes", "lines", "--lines", "busy,nowhere", "--lines-in", "helper.py", "train.py")
    assert set(functions(report)) - {"<module>", "train"} == {"busy"}
    assert "no function named nowhere was found" in report["console"]


def test_kernprof_scripts_run_and_their_functions_are_taken(folder: Path) -> None:
    plain = run_file_warm(folder / "marked.py", folder=folder)
    assert "NameError" in plain.stderr  # that is what kernprof is for
    found = functions(run(folder, "marked", "--probes", "lines", "marked.py"))
    assert "fetch" in found and "busy" not in found


def test_the_whole_run(folder: Path) -> None:
    report = run(folder, "whole", "--probes", "lines", "--window", "lines=all", "train.py")
    found = functions(report)
    assert next(row for row in found["fetch"]["lines"] if row["line"] == 11)["hits"] == 120
    assert report["steps"]["count"] == 120
    assert "no step ran clean" in report["steps"]["note"]
