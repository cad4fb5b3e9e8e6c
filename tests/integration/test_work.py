"""Work that trains nothing, in a real run: each loop has its iterations, its account and its findings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tfperf_runner import Tfperf

SCRIPT = """\
import time

begun = time.monotonic()
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
rows = np.arange(240, dtype="float32").reshape(60, 1, 4)


def answer(row):
    time.sleep(0.03)
    return model.predict(row, batch_size=1, verbose=0)


for row in rows:
    answer(row)


@tf.function
def total(x):
    return tf.reduce_sum(tf.linalg.matmul(x, x))


# On a busy machine the start takes long: each loop is to be a good part of the run all the same.
wait = max(0.05, 0.4 * (time.monotonic() - begun) / 60)
x, seen = tf.ones((10, 10)), 0.0
while seen < 60 * 1000:
    time.sleep(wait)
    seen += float(total(x))

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    held = tf.compat.v1.placeholder(tf.float32, [None])
    double = 2 * held
    for turn in range(60):
        time.sleep(wait)
        session.run(double, {held: [turn]})

table = [time.sleep(wait) for _ in range(60)]
print(len(table))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    run = Tfperf(tmp_path_factory.mktemp("work"), warm=True)
    done = run("run", "--full", "--json", "r.json", run.script(SCRIPT, "serve.py"))
    assert (done.returncode, done.stdout) == (0, "60\n"), done.stderr
    assert (
        f"loop at serve.py:{line('for row in rows')} · " in done.stderr and " · 60 iterations timed · " in done.stderr
    )
    found: dict[str, Any] = json.loads((run.folder / "r.json").read_text())
    return found


def line(source: str) -> int:
    return 1 + next(index for index, text in enumerate(SCRIPT.splitlines()) if text.startswith(source))


def test_the_loops_are_found_and_their_iterations_counted(report: dict[str, Any]) -> None:
    loops = {work["where"]["line"]: work for work in report["work"] if work["kind"] == "loop"}
    assert report["steps"]["count"] == 0
    assert loops[line("for row in rows")]["iterations"] == 60
    # The call that traced it is over before it is known that it updates nothing.
    assert loops[line("while seen")]["iterations"] in (59, 60)
    assert loops[line("    for turn")]["iterations"] == 60
    assert loops[line("table =")]["iterations"] is None  # no call of TensorFlow's tells them apart
    assert sum(work["share_of_run"] for work in report["work"]) < 1


def test_each_has_an_account_that_adds_up(report: dict[str, Any]) -> None:
    for work in report["work"]:
        steps = work["steps"]
        assert sum(steps["account"]["parts_ms"].values()) == pytest.approx(steps["mean_ms"])
        assert sum(work["spent_s"].values()) == pytest.approx(work["seconds"])
        assert 0 < work["seconds"] <= report["run"]["wall_s"]


def test_the_findings_say_of_which_work_they_are(report: dict[str, Any]) -> None:
    predicted = [item for item in report["findings"] if item["code"] == "EAG004"]
    assert [item["work"] for item in predicted] == [f"serve.py:{line('for row in rows')}"]
    assert predicted[0]["where"][0]["line"] == line("    return model.predict")
    assert all(item["work"] for item in report["findings"] if item["severity"] == "high")
