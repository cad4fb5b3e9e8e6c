"""Real parameter servers and workers, in one process: which of them holds what."""

from __future__ import annotations

import json

import pytest
from tfperf_runner import Tfperf

WARM = True

TRAIN = """
import socket
import tensorflow as tf

def port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]

jobs = {"worker": [f"127.0.0.1:{port()}"], "ps": [f"127.0.0.1:{port()}" for _ in range(2)]}
cluster = tf.train.ClusterSpec(jobs)
config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=4)  # with fewer the servers wait for one another
servers = [
    tf.distribute.Server(cluster, job_name=job, task_index=index, config=config)
    for job, tasks in jobs.items()
    for index in range(len(tasks))
]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
PARTITIONER = None
strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=PARTITIONER)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    table = tf.Variable(tf.ones((50_000, 32)))
    dense = tf.Variable(tf.ones((32, 1)))

@tf.function
def step():
    def one():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, tf.range(64)) @ dense))
        dense.assign_sub(1e-3 * tape.gradient(loss, dense))
        return loss
    return strategy.run(one)

for _ in range(20):
    loss = coordinator.schedule(step)
coordinator.join()
print("loss", float(loss.fetch()))
"""
DIVIDED = "tf.distribute.experimental.partitioners.MinSizePartitioner(max_shards=2)"


@pytest.mark.parametrize(("partitioner", "codes"), [("None", ["DST006"]), (DIVIDED, [])])
def test_a_table_on_one_of_two_servers(tfperf: Tfperf, partitioner: str, codes: list[str]) -> None:
    tfperf.script(TRAIN.replace("PARTITIONER = None", f"PARTITIONER = {partitioner}"))
    done = tfperf("run", "--probes", "ops", "--json", "report.json", "train.py")
    assert done.returncode == 0, done.stderr
    findings = json.loads((tfperf.folder / "report.json").read_text())["findings"]
    assert [found["code"] for found in findings if found["code"].startswith("DST")] == codes
