"""Work that trains nothing and computes in a compiled function: its lines are seen, also of a model that is wrapped."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tfperf_runner import Tfperf

SCRIPT = """\
import time

import tensorflow as tf


class Ranker(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(8)

    def call(self, x):
        spread = self.dense(x)
        return tf.sort(tf.reshape(spread, [-1])) + tf.sort(tf.reshape(-spread, [-1]))


rank = tf.function(Ranker(), reduce_retracing=True)
x, begun = tf.random.normal((50_000, 8)), time.monotonic()
while time.monotonic() < begun + 7:
    rank(x)
print("done")
"""


def test_lines_and_graph_of_work_without_steps(tmp_path: Path) -> None:
    run = Tfperf(tmp_path, warm=True)
    done = run("run", "--json", "r.json", run.script(SCRIPT, "rank.py"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    sorting = 1 + next(index for index, text in enumerate(SCRIPT.splitlines()) if "tf.sort" in text)
    rows = {row["name"]: row for row in report["probes"]}
    (function,) = rows["lines"]["data"]["graph_functions"]
    assert (function["function"], function["where"], function["matched_share"] > 0.9) == ("call", "stretch", True)
    assert max(function["lines"], key=lambda row: row["ms"])["line"] == sorting
    assert [each["function"] for each in rows["ops"]["data"]["functions"]] == ["call"]
    assert " traced on " in done.stderr and "a step on" not in done.stderr
    # A remark or a finding, by its share of the run: how long that took before is a matter of the machine.
    assert re.search(rf"rank\.py:{sorting}: TopKV2|TopKV2 \(rank\.py:{sorting}\)", report["headline"])
