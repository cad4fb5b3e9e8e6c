"""Real workers over gRPC on this machine: how the data is divided among them."""

from __future__ import annotations

import json

import pytest
from tfperf_runner import Tfperf

WARM = True

TRAIN = """
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
data = tf.data.Dataset.from_tensor_slices(tf.ones((640, 8)))SHARD.repeat().batch(32, drop_remainder=True)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.POLICY
batches = iter(strategy.experimental_distribute_dataset(data.with_options(options)))
with strategy.scope():
    w = tf.Variable(tf.ones([8, 8]))

@tf.function
def step(x):
    def one(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w))
        gradient = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, w))
        w.assign_sub(1e-3 * gradient)
        return loss
    return strategy.run(one, (x,))

for _ in range(25):
    step(next(batches))
"""


@pytest.mark.parametrize(
    ("policy", "shard", "title"),
    [
        ("OFF", "", "Dataset is not sharded correctly among 2 workers: all train on all examples, in the same order"),
        (
            "DATA",
            ".shard(2, 0)",
            "Dataset is not sharded correctly among 2 workers: by shard() and again by the strategy",
        ),
        ("DATA", "", None),
    ],
)
def test_how_workers_divide_the_data(tfperf: Tfperf, policy: str, shard: str, title: str | None) -> None:
    tfperf.script(TRAIN.replace("POLICY", policy).replace("SHARD", shard))
    done = tfperf("launch", "-n", "2", "--run-dir", "out", "--probes", "ops,input", "train.py")
    assert done.returncode == 0, done.stderr
    findings = json.loads(tfperf("report", "out/rank-0001", "--json", "-").stdout)["findings"]
    found = [each["title"] for each in findings if each["code"].startswith("DST")]
    # Divided by the strategy it costs only where the tiny step waits for its data, as it may.
    assert found in (
        [[title]]
        if title
        else [[], ["Dataset is not sharded correctly among 2 workers: each makes all examples and drops most"]]
    )
