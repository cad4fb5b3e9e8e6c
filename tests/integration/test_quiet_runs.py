"""Markers by C code and by Python tell the same of the same script: every step, those that raise and those in which a
function is traced again, next to a thread that trains too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

from tfperfkit.instruments.steps import quiet_calls

WARM = True
STEPS = 6000
SCRIPT = f"""
import sys, types
if sys.argv[1:] == ["python"]:
    sys.modules["tfperfkit.instruments.steps._quiet"] = None
if sys.argv[1:] == ["another ABI"]:
    sys.modules["tfperfkit.instruments.steps._quiet"] = old = types.ModuleType("_quiet")
    old.ABI = 0
import threading, traceback
import tensorflow as tf

def make(size):
    weights = tf.Variable(tf.zeros([size, size]))
    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.debugging.check_numerics(tf.reduce_mean((x @ weights) ** 2), "bad")
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss
    return train_step

def aside(step, x):
    while not done.is_set():
        step(x)
        done.wait(0.001)

done = threading.Event()
thread = threading.Thread(target=aside, args=(make(4), tf.ones([2, 4])))
step, good, bad, other = make(8), tf.ones([2, 8]), tf.fill([2, 8], float("nan")), tf.ones([3, 8])
raised = 0
batches = tf.data.Dataset.from_tensors(0).repeat({STEPS})
for i, _ in enumerate(batches):
    if i == 300:
        thread.start()
    try:
        step(bad if i % 1000 == 999 else other if i > {STEPS} // 2 else good)
    except tf.errors.InvalidArgumentError as error:
        raised += 1
        assert "tfperfkit" not in "".join(traceback.format_tb(error.__traceback__))
done.set()
thread.join()

from tfperfkit.recording.active import active_session
print(raised, active_session().markers._state.counted(id(step)))
"""


@pytest.mark.parametrize("way", ["c", "python", "another ABI"])
def test_every_step_is_counted(tfperf: Tfperf, way: str) -> None:
    if way == "c" and not quiet_calls.NATIVE:
        pytest.skip("_quiet.c could not be built where tfperfkit was installed")
    script = tfperf.script(SCRIPT)
    done = tfperf(
        "run", "--probes", "lines,retrace", "--full", "--json", "report.json", "--run-dir", "run", script, way
    )
    assert done.returncode == 0, done.stderr[-3000:]
    raised, by_c = map(int, done.stdout.splitlines()[0].split())
    report = json.loads((tfperf.folder / "report.json").read_text())
    assert raised == STEPS // 1000
    assert report["steps"]["count"] == STEPS
    assert (by_c > STEPS // 2) if way == "c" else by_c == 0
    why = {"c": "", "python": "not built for this Python"}.get(way, "it was built from another version's sources")
    assert why in report["overhead"]["by_python"] and bool(report["overhead"]["by_python"]) == bool(why)
    assert done.stderr.count("hooks ran in pure Python") == bool(why)
    assert not [note for note in report["run"].get("notes", []) if "_quiet" in note or "something is missing" in note]
    assert _traced(tfperf.folder / "run") == 3  # the step for two shapes, the other thread's


def _traced(run: Path) -> int:
    rows = [
        json.loads(line)
        for line in (run / "records.jsonl").read_text().splitlines()
        if line.startswith('["session/traces"')
    ]
    return len(rows)
