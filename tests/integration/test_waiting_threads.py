"""Threads of the script's that wait for each other while nobody works, in a real run."""

from __future__ import annotations

import json

from tfperf_runner import Tfperf

WARM = True
SERVES = """
import queue, threading
from concurrent.futures import Future
import tensorflow as tf
questions = queue.Queue()
weight = tf.Variable(tf.ones((8, 8)))
@tf.function
def score(x):
    return tf.reduce_sum(x @ weight)
def serve():
    while True:
        batch = [questions.get()]
        try:
            batch.append(questions.get(timeout=0.05))
        except queue.Empty:
            pass
        for asked in batch:
            asked.set_result(float(score(tf.ones((4, 8)))))
def client():
    for _ in range(160):
        asked = Future()
        questions.put(asked)
        asked.result()
threading.Thread(target=serve, daemon=True).start()
asking = threading.Thread(target=client)
asking.start()
asking.join()
"""


def test_a_wait_with_a_time_limit_is_named_where_nobody_works(tfperf: Tfperf) -> None:
    done = tfperf("run", "--probes", "memory", "--json", "report.json", tfperf.script(SERVES))
    assert done.returncode == 0, done.stderr[-3000:]
    findings = json.loads((tfperf.folder / "report.json").read_text())["findings"]
    (found,) = [finding for finding in findings if finding["code"] == "STP004"]
    line = SERVES.splitlines().index("            batch.append(questions.get(timeout=0.05))") + 1
    assert found["where"][0]["line"] == line and "serve waits with a time limit" in found["title"]
