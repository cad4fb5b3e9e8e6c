"""The account of a real run that does more than train."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tfperf_runner import Tfperf

SCRIPT = """\
import subprocess
import sys
import numpy as np
import tensorflow as tf

def clean(rows):
    for _ in range(400_000):
        rows = rows * 1.0
    return rows

def grid(model, times):
    for _ in range(times):
        model.predict(data[:1], verbose=0)

data = clean(np.ones((64, 8), np.float32))
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(8)])
model.compile("sgd", "mse")
model.fit(data, data, batch_size=8, epochs=2, verbose=0)
model.evaluate(data, data, verbose=0)
grid(model, 30)
subprocess.run([sys.executable, "-c", "import time; time.sleep(4)"], check=True)
model.save("model.keras")
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    tfperf = Tfperf(tmp_path_factory.mktemp("account"))
    tfperf.script(SCRIPT)
    done = tfperf("run", "--full", "--run-dir", "kept", "--json", "report.json", "train.py")
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads((tfperf.folder / "report.json").read_text())


def line_of(report: dict[str, Any], part: str) -> tuple[int, str]:
    where = report["run_account"]["lines"][part][0]["where"]
    return where["line"], where["function"]


def test_the_parts_add_up_to_the_run(ran: tuple[str, dict[str, Any]]) -> None:
    report = ran[1]
    account = report["run_account"]
    assert sum(account["parts_s"].values()) == pytest.approx(account["total_s"])
    assert account["total_s"] == pytest.approx(report["run"]["wall_s"])
    assert account["imports_s"]["tensorflow"] > 0.3
    assert account["parts_s"].get("not sampled", 0.0) < 0.02 * account["total_s"]


def test_each_part_is_what_ran(ran: tuple[str, dict[str, Any]]) -> None:
    parts = ran[1]["run_account"]["parts_s"]
    # Only what holds on any machine: the child sleeps for four seconds, and thirty calls take longer than 16 steps.
    assert parts["children"] >= 3.9
    assert parts["prediction"] > parts["training"] > 0
    assert {"imports", "data", "building", "tracing", "validation", "saving", "ending", "tfperf"} <= set(parts)


def test_the_lines_are_those_that_asked_for_it(ran: tuple[str, dict[str, Any]]) -> None:
    report = ran[1]
    assert line_of(report, "prediction") == (13, "grid")
    assert line_of(report, "children") == (21, "<module>")
    assert line_of(report, "data") == (8, "clean")
    assert line_of(report, "validation") == (19, "<module>")
    saving = [(row["where"]["line"], row["where"]["function"]) for row in report["run_account"]["lines"]["saving"]]
    assert (22, "<module>") in saving  # Keras may load its savers sooner, at another line


def test_the_report_shows_it(ran: tuple[str, dict[str, Any]]) -> None:
    text, report = " ".join(ran[0].split()), ran[1]
    assert "waiting for child processes" in text
    assert "(train.py:13)" in text
    note = next(note for note in report["notes"] if "child processes" in note)
    assert "train.py:21 waits for child processes" in note
    assert note.endswith("They are not recorded: tfperf run --children does that.")
