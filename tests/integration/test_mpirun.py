"""Two real workers under a real ``mpirun``, which knows nothing of tfperf."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from contextlib import ExitStack

import pytest
from tfperf_runner import Tfperf
from warm_run import warm_tfperf

#: Finds the others as scripts under MPI do: by what the launcher says of the rank.
TRAIN = """
import json, os, sys, time
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
workers = [f"127.0.0.1:{port}" for port in sys.argv[1:]]
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
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
    if rank == 0:
        time.sleep(0.15)
    step(tf.ones([32, 64]))
print("rank", rank, "trained", n + 1, "steps", flush=True)
time.sleep(1)  # a worker that leaves takes its server along, from which the other may still read
"""


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun: apt-get install openmpi-bin")
def test_two_workers_under_mpirun(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.getuid() == 0 else {}
    # As for tfperf launch: gRPC reaches the other worker without a proxy.
    started, environment = warm_tfperf({**tfperf.environment, **root, "no_grpc_proxy": "127.0.0.1"})
    alone = ["--mca", "plm", "isolated"]  # else it wants ssh, though it starts nothing elsewhere
    words = ["mpirun", *alone, "--oversubscribe", "-n", "2", *started, "run", "--run-dir", "out"]
    done = subprocess.run(
        [*words, "train.py", *map(str, free_ports())],
        cwd=tfperf.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 trained 25 steps", "rank 1 trained 25 steps"]
    whole = json.loads(tfperf("report", "out", "--json", "-").stdout)
    assert [(part["rank"], part["size"], part["steps"]) for part in whole["parts"]] == [(0, 2, 25), (1, 2, 25)]
    assert (whole["missing"], whole["died"], whole["late"]) == ([], [], "rank 0")
    assert "sleeping" in whole["why"]
    known = json.loads((tfperf.folder / "out" / "rank-0001" / "run.json").read_text())["rank"]
    assert known["source"] == "OMPI_COMM_WORLD_RANK"


def free_ports() -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
