"""Two real workers over gRPC on this machine, each with a part of the same folder."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tfperf_runner import Tfperf

from tfperfkit.ranks.part import read_part

WARM = True

TRAIN = """
import json, os, sys, time
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    w = tf.Variable(tf.ones([64, 64]))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([w])

@tf.function
def step(x):
    def one(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(one, (x,)), axis=None)

for n in range(25):
    if rank == 1:
        time.sleep(0.15)
    step(tf.ones([32, 64]))
"""


def test_two_workers_and_the_late_one(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN)
    done = tfperf("launch", "-n", "2", "--run-dir", "out", "--window", "tfprof=15:40", "train.py")
    assert done.returncode == 0, done.stderr
    # The profiler is not ended at the exit of a process that others still call: TensorFlow may crash there.
    assert "trains together with other processes" in tfperf("report", "out/rank-0001", "--full").stdout
    whole = json.loads(tfperf("report", "out", "--json", "-").stdout)
    assert [(part["rank"], part["size"], part["steps"]) for part in whole["parts"]] == [(0, 2, 25), (1, 2, 25)]
    assert (whole["missing"], whole["died"], whole["late"]) == ([], [], "rank 1")
    assert "STP004" in whole["why"] and "sleeping" in whole["why"]
    kept = sorted((tfperf.folder / "out").glob("rank-*/rank.json"))
    assert [file.parent.name for file in kept] == ["rank-0000", "rank-0001"]
    for file in kept:  # the same from the records alone
        file.unlink()
    assert json.loads(tfperf("report", "out", "--json", "-").stdout) == whole
    for part in whole["parts"]:  # in brief: the same but for findings and graphs
        in_brief = msgspec.to_builtins(read_part(tfperf.folder / "out", part["name"], looked=False))
        graphs = [{**each, "operations": None, "jit_compile": None} for each in part["functions"]]
        assert json.loads(json.dumps(in_brief)) == {**part, "functions": graphs, "findings": [], "looked": False}
    records = tfperf.folder / "out" / "rank-0001" / "records.jsonl"
    records.write_bytes(records.read_bytes()[: records.stat().st_size // 2])
    (records.parent / "rank.json").unlink()
    cut = json.loads(tfperf("report", "out", "--json", "-").stdout)
    assert [bool(part["problem"]) for part in cut["parts"]] == [False, False] and 0 < cut["parts"][1]["steps"] <= 25
    again = tfperf("launch", "-n", "2", "--run-dir", "out", "train.py")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)


def test_ranks_that_are_watched(tfperf: Tfperf) -> None:
    """Samples stand alone, each with its processor time; steps in between are dropped, and minutes tell who is last."""
    tfperf.script(TRAIN.replace("range(25)", "range(100)"))
    plan = {"TFPERF_WATCH_PLAN": "block_s=0.1 details_mb=0.03"}
    done = tfperf("launch", "-n", "2", "--run-dir", "out", "--long-run", "--probes", "retrace", "train.py", env=plan)
    assert done.returncode == 0, done.stderr
    whole = json.loads(tfperf("report", "out", "--json", "-").stdout)
    assert [(part["steps"], bool(part["own_ms"])) for part in whole["parts"]] == [(100, False), (100, False)]
    assert (whole["late"], whole["lateness"]["unit"]) == ("rank 1", "stretches of the run")
    assert len(whole["over_time"]) >= 5 and {row["last"] for row in whole["over_time"]} == {"rank 1"}
    waiting = whole["parts"][0]["moments"]
    computing = [row["compute_ms"] for row in waiting if row["compute_ms"] is not None]
    assert computing and max(computing) < max(row["turn_ms"] for row in waiting)
    for part in whole["parts"]:
        folder = tfperf.folder / "out" / part["name"]
        assert sum(file.stat().st_size for file in (folder / "details").iterdir()) < 60_000
        in_brief = msgspec.to_builtins(read_part(tfperf.folder / "out", part["name"], looked=False))
        assert json.loads(json.dumps(in_brief["moments"])) == part["moments"]
    assert "Who came last, over the run" in tfperf("report", "out").stdout


ALONE = """
import json, os, time
import tensorflow as tf
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
w = tf.Variable(tf.ones([64, 64]))
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build([w])

@tf.function
def step(x, number):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w))) + number
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

for n in range(60):
    if rank == 1:
        time.sleep(0.1)
    step(tf.ones([32, 64]), n if rank == 1 and n < 7 else 0)
"""


def test_windows_begin_at_the_same_steps_on_all_ranks(tfperf: Tfperf) -> None:
    """Of one the steps take some ms; of the other a tenth of a second, and its first seven trace."""
    tfperf.script(ALONE)
    done = tfperf("launch", "-n", "2", "--run-dir", "out", "train.py")
    assert done.returncode == 0, done.stderr
    windows = [
        [
            (event["probe"], event["step"], event["steps"])
            for event in events(tfperf.folder / "out" / f"rank-000{rank}")
            if event["kind"] == "window"
        ]
        for rank in (0, 1)
    ]
    assert windows[0] == windows[1] == [("lines", 12, 10), ("tfprof", 22, 12), ("devices", 34, 10)]


def events(part: Path) -> list[dict[str, Any]]:
    head = '["session/events",'
    lines = (part / "records.jsonl").read_text().splitlines()
    return [json.loads(line)[1] for line in lines if line.startswith(head)]


def test_traces_on_demand(tfperf: Tfperf) -> None:
    """The workers exchange nothing: TensorFlow may kill one that does as a trace ends."""
    tfperf.script(ALONE.replace("for n in range(60)", "for n in iter(lambda: os.path.exists('stop'), True)"))
    out = tfperf.folder / "out"
    launched = tfperf.start(
        "launch", "-n", "2", "--run-dir", "out", "--probes", "none", "--profiler-service", "train.py"
    )
    services = [out / f"rank-000{rank}" / "service.json" for rank in (0, 1)]
    while launched.poll() is None and not all(map(Path.exists, services)):
        time.sleep(0.1)
    ports = [json.loads(service.read_text())["port"] for service in services]
    for port in ports:
        socket.create_connection(("127.0.0.1", port), 5).close()
        for address in other_addresses():
            with pytest.raises(OSError):
                socket.create_connection((address, port), 2)
    poked = tfperf("poke", "out", "--seconds", "0.5")
    (tfperf.folder / "stop").touch()
    _, errors = launched.communicate(timeout=100)
    assert (launched.returncode, errors.count("tfperf: --profiler-service: TensorFlow may crash")) == (0, 2), errors
    assert poked.stdout == "2 traces of 0.5 s: tfperf report out/on-demand\n", poked.stderr
    read = tfperf("report", "out/on-demand")
    assert read.returncode == 0, read.stderr
    assert tfperf.refuses("poke", "out").count("has ended") == 2


def other_addresses() -> list[str]:
    """Return this machine's addresses, except the loopback's."""
    told = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    return [address for address in told if "." in address]


def test_a_rank_that_is_killed(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN.replace("range(25)", "range(100_000)").replace("sleep(0.15)", "sleep(0.01)"))
    out = tfperf.folder / "out"
    launched = tfperf.start("launch", "-n", "2", "--run-dir", "out", "--probes", "retrace", "train.py")
    victim = killed_at_random(out / "rank-0001", launched)
    assert victim > 0
    _, errors = launched.communicate(timeout=300)
    # That of the first to end: the one that lost its partner may be done with its report before the other's tfperf is.
    assert launched.returncode in (1, 128 + signal.SIGKILL), errors
    whole = json.loads(tfperf("report", "out", "--json", "-").stdout)
    assert whole["endings"][0].startswith("rank 1 was ended by SIGKILL after ")
    assert [part["name"] for part in whole["parts"]] == ["rank-0000", "rank-0001"]
    assert all(part["steps"] > 0 for part in whole["parts"])
    shown = tfperf("report", "out").stdout
    assert "rank 1 was ended by SIGKILL" in " ".join(shown.split())
    set_clock(out / "rank-0000", hours=-3)
    set_clock(out / "rank-0001", hours=5)
    assert tfperf("report", "out").stdout == shown


def set_clock(part: Path, hours: float) -> None:
    """As if the calendar of its machine had been so many hours ahead; what was kept of the part is made again."""
    run = json.loads((part / "run.json").read_text())
    run["started_wall_s"] += hours * 3600
    (part / "run.json").write_text(json.dumps(run))
    (part / "rank.json").unlink(missing_ok=True)


def killed_at_random(part: Path, launched: subprocess.Popen[str]) -> int:
    """The process of a part, killed at a random moment of its training."""
    wanted = random.randrange(5, 60)
    while launched.poll() is None:
        records = part / "records.jsonl"
        if records.exists() and records.read_bytes().count(b'["session/markers",') > wanted:
            pid = json.loads((part / "agent.json").read_text())["pid"]
            os.kill(pid, signal.SIGKILL)
            return int(pid)
        time.sleep(0.05)
    return 0


def test_the_first_that_fails_ends_the_others(tfperf: Tfperf) -> None:
    tfperf.script("import os, sys, time\nif '1}' in os.environ['TF_CONFIG']:\n    sys.exit(7)\ntime.sleep(120)\n")
    done = tfperf("launch", "-n", "2", "--run-dir", "out", "train.py")
    assert done.returncode == 7
    assert {path.name for path in (tfperf.folder / "out").glob("rank-*") if path.is_dir()} == {"rank-0000", "rank-0001"}


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["--output", "text", "--run-dir", "here", "run.py"], "here"),
        (["run.py", "--run-dir", "local://{}/run"], "local://{}/run"),
    ],
)
def test_the_folder_is_where_the_line_says(tfperf: Tfperf, words: list[str], place: str) -> None:
    """Among the options of ``tfperf run``, after the script, at an address."""
    tfperf.script("print('done')", name="run.py")
    done = tfperf("launch", "-n", "2", *(word.format(tfperf.folder) for word in words))
    assert done.returncode == 0, done.stderr
    where = done.stderr.splitlines()[-1].removeprefix("tfperf: the report of all 2: tfperf report ")
    assert where.endswith(place.format(tfperf.folder))
    assert len(json.loads(tfperf("report", where, "--json", "-").stdout)["parts"]) == 2
