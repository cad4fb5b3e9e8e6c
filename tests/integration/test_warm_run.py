"""A script that begins in a fork of a warm interpreter is recorded as one that has a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfperf_runner import Tfperf

SCRIPT = """
import os, sys
known = "tensorflow", "keras", "sitecustomize", "warm_begin"
before = [name for name in sys.modules if name in known]
import keras
import tensorflow as tf
print(__file__, __name__, sys.argv, sys.orig_argv[1:], sys.path[0], sys.flags, sys.stdin.read(), os.getcwd(), before)
print(sys.modules["__main__"].__dict__ is globals(), __spec__, sorted(os.environ))
print([type(finder).__name__ for finder in sys.meta_path], tf.__spec__.name, keras.__spec__.name, tf.keras.__name__)
print(sorted(name for name in os.listdir("/proc/self/fd") if len(name) < 3), flush=True)  # ours have high numbers
keras.utils.set_random_seed(1)

@tf.function
def doubled(x):
    return 2 * x

for rows in (2, 3, 3):
    doubled(tf.ones([rows]))
model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile("sgd", "mse")
print(model.fit(tf.ones([320, 8]), tf.ones([320, 1]), batch_size=8, verbose=0).history["loss"][0].hex(), flush=True)
if sys.argv[1:] == ["signalled"]:
    os.kill(os.getpid(), 15)
raise SystemExit(3)
"""


def ran(folder: Path, warm: bool, *arguments: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status, output and report."""
    tfperf = Tfperf(folder, warm=warm, cold=not warm)
    words = ("--probes", "retrace,ops", "--run-dir", f"run-{warm}", "--json", "report.json")
    done = tfperf("run", *words, tfperf.script(SCRIPT), *arguments)
    return done.returncode, done.stdout, json.loads((folder / "report.json").read_text())


def test_a_fork_is_recorded_as_a_process_of_its_own(tmp_path: Path) -> None:
    own, forked = (ran(tmp_path, warm) for warm in (False, True))
    assert forked[:2] == own[:2]
    assert own[0] == 3 and own[1].count("\n") == 5
    reports = own[2], forked[2]
    assert [report["steps"]["count"] for report in reports] == [40, 40]
    rows = [{probe["name"]: (probe["status"], probe["notes"]) for probe in report["probes"]} for report in reports]
    assert rows[0] == rows[1]
    traced = [report["probes"][0]["data"]["functions"] for report in reports]
    named = [[(row["function"], row["line"], len(row["traces"])) for row in rows] for rows in traced]
    assert named[0] == named[1] != []


def test_a_signal_ends_a_fork_as_it_ends_a_process(tmp_path: Path) -> None:
    """The last records may be lost: how many is a matter of moments."""
    own, forked = (ran(tmp_path, warm, "signalled") for warm in (False, True))
    assert forked[:2] == own[:2]
    assert own[0] == 128 + 15 and own[1].count("\n") == 5
