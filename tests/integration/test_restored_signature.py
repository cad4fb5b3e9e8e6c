"""The signature of a SavedModel, called in a loop: its calls are timed, and compute rather than load."""

from __future__ import annotations

import json
from pathlib import Path

from tfperf_runner import Tfperf

SCRIPT = """\
import tempfile, time

import tensorflow as tf


class Net(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, name="x")])
    def serve(self, x):
        return {"sum": tf.reduce_sum(x, 1)}


net, folder = Net(), tempfile.mkdtemp()
tf.saved_model.save(net, folder, signatures=net.serve)
infer = tf.saved_model.load(folder).signatures["serving_default"]
row, begun = tf.ones((1, 4)), time.monotonic()
while time.monotonic() < begun + 6:
    infer(x=row)
print("done")
"""


def test_its_calls_are_called_small(tmp_path: Path) -> None:
    run = Tfperf(tmp_path, warm=True)
    done = run("run", "--probes", "memory", "--json", "r.json", run.script(SCRIPT, "serve.py"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    line = 1 + next(index for index, text in enumerate(SCRIPT.splitlines()) if "infer(x=row)" in text)
    first = report["findings"][0]
    assert (first["code"], first["where"][0]["line"]) == ("EAG013", line), report["headline"]
