"""``tfperf export`` on real runs: what is in the files, that times agree, bad input."""

from __future__ import annotations

import gzip
import json
import os
import pty
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf
from viewed import run as run

WARM = True


def timeline(file: Path) -> dict[str, Any]:
    with gzip.open(file) as data:
        document: dict[str, Any] = json.load(data)
    return document


def slices(document: dict[str, Any], group: str, track: str = "") -> list[dict[str, Any]]:
    """The slices of a group, or of one of its tracks, in order of time."""
    events = document["traceEvents"]
    groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    found = [
        {"args": {}, **event}
        for event in events
        if event["ph"] == "X" and groups[event["pid"]].startswith(group) and tracks[event["tid"]].startswith(track)
    ]
    return sorted(found, key=lambda event: float(event["ts"]))


def test_one_timeline_of_the_gan(tfperf: Tfperf, run: Path) -> None:
    done = tfperf("export", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gan.trace.json.gz" in done.stdout
    samples = tfperf("export", run, "--to", "speedscope")
    assert (samples.returncode, samples.stderr) == (0, "") and "gan.speedscope.json" in samples.stdout
    document = timeline(tfperf.folder / "gan.trace.json.gz")

    steps = slices(document, "tfperf", "steps")
    assert [step["name"] for step in steps] == [f"step {number}" for number in range(1, 31)]
    markers = [event for event in slices(document, "TensorFlow /host:CPU") if event["args"].get("tfperf") == 1]
    assert [marker["name"] for marker in markers] == [f"train {number}" for number in range(5, 11)]
    by_number = {step["name"].split()[1]: step for step in steps}
    for marker in markers:
        step = by_number[marker["name"].split()[1]]
        middle = marker["ts"] + marker["dur"] / 2
        assert step["ts"] < middle < step["ts"] + step["dur"]
        assert step["args"]["window"] == "tfprof"
    ends = [marker["ts"] - by_number[marker["name"].split()[1]]["ts"] for marker in markers]
    assert abs(statistics.median(ends)) < 1  # microseconds: that is how they were aligned

    # The call of the compiled function lies within its step, so its operations do.
    work = [event for event in slices(document, "TensorFlow /host:CPU", "tf_") if event["dur"] > 100]
    assert work and all(markers[0]["ts"] <= event["ts"] <= markers[-1]["ts"] + markers[-1]["dur"] for event in work)

    windows = [event["name"] for event in slices(document, "tfperf", "windows")]
    assert windows[0] == "warm-up" and "tfprof" in windows and windows[-1] == "clean"
    retraces = slices(document, "tfperf", "traces of tf.functions")
    assert any(event["name"].startswith("trace 1 of train_step (graph.py:") for event in retraces)
    stacks = slices(document, "Python samples")
    assert any(event["name"] == "main (train.py)" for event in stacks)
    assert min(step["ts"] for step in stacks) > 0

    speedscope = json.loads((tfperf.folder / "gan.speedscope.json").read_text())
    names = {frame["name"] for frame in speedscope["shared"]["frames"]}
    assert {"main (train.py)", "step (graph.py)"} <= names
    assert len(speedscope["profiles"]) == 1


def test_the_file_goes_where_it_is_asked_to(tfperf: Tfperf, run: Path) -> None:
    target = tfperf.folder / "other name.json.gz"
    assert tfperf("export", run, "-o", target).returncode == 0
    assert tfperf("export", run, "--to", "speedscope", "-o", "samples.json").returncode == 0
    assert {file.name for file in tfperf.folder.iterdir()} == {"other name.json.gz", "samples.json"}


def test_a_run_without_a_trace_still_gives_our_tracks(tfperf: Tfperf, run: Path) -> None:
    copy = shutil.copytree(run, tfperf.folder / "copy")
    shutil.rmtree(copy / "trace")
    done = tfperf("export", copy)
    assert done.returncode == 0 and "nothing from the probe tfprof: no trace was recorded" in done.stdout
    document = timeline(tfperf.folder / "copy.trace.json.gz")
    assert len(slices(document, "tfperf", "steps")) == 30 and not slices(document, "TensorFlow")


@pytest.mark.parametrize(("damage", "word"), [("empty", "is empty"), ("cut", "is damaged"), ("noise", "is damaged")])
def test_a_damaged_trace_is_a_line(tfperf: Tfperf, run: Path, damage: str, word: str) -> None:
    copy = shutil.copytree(run, tfperf.folder / "copy")
    trace = next(copy.glob("trace/plugins/profile/*/*.xplane.pb"))
    data = trace.read_bytes()
    trace.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "noise": os.urandom(5000)}[damage])
    done = tfperf("export", copy)
    assert done.returncode == 0 and word in done.stdout and done.stderr == ""
    assert len(slices(timeline(tfperf.folder / "copy.trace.json.gz"), "tfperf", "steps")) == 30


def test_bad_input_is_one_line_and_leaves_no_file(tfperf: Tfperf, run: Path) -> None:
    assert "no such run" in tfperf.refuses("export", "nowhere")
    (tfperf.folder / "folder").mkdir()
    assert "not a run directory" in tfperf.refuses("export", "folder")
    assert "is a folder" in tfperf.refuses("export", run, "-o", "folder")
    assert "can't write" in tfperf.refuses("export", run, "-o", "no/such/folder/file.json.gz")
    assert "is a device" in tfperf.refuses("export", run, "-o", "/dev/null")
    assert "can't write /dev/full/x" in tfperf.refuses("export", run, "-o", "/dev/full/x")
    nothing = shutil.copytree(run, tfperf.folder / "nothing")
    (nothing / "records.jsonl").unlink()
    shutil.rmtree(nothing / "trace")
    assert "holds nothing" in tfperf.refuses("export", nothing)
    assert {path.name for path in tfperf.folder.iterdir()} == {"folder", "nothing"}


def test_long_work_shows_a_line_on_a_terminal_and_takes_it_away(tfperf: Tfperf, run: Path) -> None:
    """Show a progress line at once, so that the test need not take long."""
    code = "import tfperfkit.export.command as c, tfperfkit.cli as cli\nc._PATIENCE_S = c._REFRESH_S = 0\ncli.main()"
    reader, writer = pty.openpty()
    done = subprocess.run(
        [tfperf.python, "-c", code, "export", str(run)],
        cwd=tfperf.folder,
        env=tfperf.environment,
        stderr=writer,
        stdout=subprocess.PIPE,
        text=True,
        timeout=200,
        check=True,
    )
    os.close(writer)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert "reading the trace: " in shown and shown.endswith("\r\x1b[K")
    assert "timeline" in done.stdout and "reading" not in done.stdout


def test_retraces_are_on_the_timeline(tfperf: Tfperf) -> None:
    script = tfperf.script(
        "import tensorflow as tf\n"
        "v = tf.Variable(0.0)\n"
        "class Trainer:\n"
        "    def __init__(self):\n"
        "        self.compiled = tf.function(self.update)\n"
        "    def update(self, x):\n"
        "        return v.assign_add(tf.reduce_sum(x))\n"
        "trainer = Trainer()\n"
        "for size in (1, 2, 3):\n"
        "    trainer.compiled(tf.ones([size]))\n"
    )
    assert tfperf("run", "--probes", "none", "--run-dir", "run", script).returncode == 0
    assert tfperf("export", "run").returncode == 0
    found = slices(timeline(tfperf.folder / "run.trace.json.gz"), "tfperf", "traces of tf.functions")
    names = [event["name"] for event in found[:2]]
    assert names == ["trace 1 of update (train.py:6)", "trace 2 of update (train.py:6)"]
