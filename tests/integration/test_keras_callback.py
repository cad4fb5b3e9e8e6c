"""``tfperfkit.keras.Profile`` in a real ``fit``: its report, its scalars, a fit that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from warm import run_file_warm

SCRIPT = """
import json, sys
import numpy as np
import keras, tfperfkit.keras

class Last(keras.callbacks.Callback):
    def on_train_end(self, logs=None):
        self.seen = dict(logs or {})

class Fails(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise ValueError("mine")

x, y = np.ones((640, 8), "float32"), np.ones((640, 4), "float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4)])
model.compile("sgd", "mse")
profile, last = tfperfkit.keras.Profile(
    run_dir="run", html="report.html", track="prometheus=.,opentelemetry=http://127.0.0.1:1"), Last()
history = model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[profile, last])
report = profile.run.report
raised = ""
try:
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[tfperfkit.keras.Profile(run_dir="failing"), Fails()])
except ValueError as error:
    raised = str(error)
print(json.dumps({"steps": report.steps.count, "source": report.steps.source, "logs": profile.logs, "seen": last.seen,
                  "loss": history.history["loss"], "raised": raised, "status": report.run.status}))
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, str]:
    folder = tmp_path_factory.mktemp("fit")
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    done = run_file_warm(folder / "train.py", folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), folder, done.stderr


def test_every_batch_is_a_step_and_the_report_comes(fitted: tuple[dict[str, Any], Path, str]) -> None:
    told, folder, said = fitted
    assert (told["source"], told["status"]) == ("keras", "finished")
    assert 318 <= told["steps"] <= 320
    assert " steps, median " in said
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_account_and_findings_are_scalars_in_the_logs(fitted: tuple[dict[str, Any], Path, str]) -> None:
    told = fitted[0]
    assert told["logs"]["tfperf_step_ms"] > 0
    shares = [value for name, value in told["logs"].items() if name.startswith("tfperf_share_")]
    assert sum(shares) == pytest.approx(1.0)
    assert told["logs"].items() <= told["seen"].items() and len(told["loss"]) == 2


def test_a_fit_that_fails_fails_as_itself_and_is_reported_at_the_end(fitted: tuple[dict[str, Any], Path, str]) -> None:
    told, folder, _ = fitted
    assert told["raised"] == "mine"
    assert json.loads((folder / "failing" / "exit.json").read_text())["status"] in (0, 1)


def test_it_is_sent_to_trackers_and_one_that_is_not_there_is_a_line(fitted: tuple[dict[str, Any], Path, str]) -> None:
    _, folder, said = fitted
    told = [line for line in said.splitlines() if line.startswith("tfperf: ")]
    assert told[0].startswith("tfperf: prometheus: ") and (folder / "tfperf_train.prom").exists(), told
    assert told[1].startswith("tfperf: opentelemetry: not sent (http://127.0.0.1:1: Connection refused);"), told
