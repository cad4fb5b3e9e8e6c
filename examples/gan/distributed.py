"""The compiled step on several replicas: on the devices of this machine, or on several workers.

Each replica takes its part of the batch, and both networks' gradients are added up over all of them in each update.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from digits import Source
from graph import GraphTrainer, SharedTrainer
from models import Networks

#: Replicas on a machine without two GPUs: as many logical CPUs.
LOGICAL_CPUS = 2


def make_strategy(name: str) -> Any:
    """The strategy; before anything else of TensorFlow is used."""
    if name == "multiworker":
        return tf.distribute.MultiWorkerMirroredStrategy()
    gpus = tf.config.list_physical_devices("GPU")
    devices = [f"GPU:{number}" for number in range(len(gpus))]
    if len(devices) < 2:
        cpu = tf.config.list_physical_devices("CPU")[0]
        parts = [tf.config.LogicalDeviceConfiguration()] * LOGICAL_CPUS
        tf.config.set_logical_device_configuration(cpu, parts)
        devices = [f"CPU:{number}" for number in range(LOGICAL_CPUS)]
    if name == "central":
        return tf.distribute.experimental.CentralStorageStrategy(devices, "CPU:0")
    return tf.distribute.MirroredStrategy(devices)


def with_means(make: Any, **given: Any) -> Any:
    """Return a variable creator: what replicas assign to a variable without saying how it is joined, as Keras' moving
    averages, is joined by its mean. Central storage refuses it otherwise."""
    if not given.get("trainable", True) and given.get("aggregation") in (None, tf.VariableAggregation.NONE):
        given["aggregation"] = tf.VariableAggregation.MEAN
    return make(**given)


class ReplicaRandom:
    """Random numbers of a step, others on each replica: ``uniform`` as of ``tf.random.Generator``."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.step: Any = 0
        self.drawn = 0

    def begin(self, step: Any) -> None:
        """Begin the random numbers of this step (int32 scalar)."""
        self.step, self.drawn = step, 0

    def uniform(self, shape: list[int], minval: Any = 0, maxval: Any = None, dtype: Any = tf.float32) -> Any:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        self.drawn += 1
        seed = tf.stack([self.seed + 1000 * tf.cast(replica, tf.int32), 100 * self.step + self.drawn])
        return tf.random.stateless_uniform(shape, seed, minval, maxval, dtype)


class _Distributed:
    """Runs ``train_step`` on all replicas. Mixed into a trainer."""

    def distribute(self: Any, strategy: Any, seed: int) -> None:
        """Make the step again for this strategy, in whose scope the networks were made."""
        self.strategy = strategy
        self.batch_size //= strategy.num_replicas_in_sync
        self.rng = ReplicaRandom(seed)
        self.steps = 0
        self.compiled = tf.function(self.all_replicas)

    def step(self: Any) -> dict[str, Any]:
        self.steps += 1
        results: dict[str, Any] = self.compiled(self.images, tf.constant(self.steps))
        return results

    def all_replicas(self: Any, images: Any, step: Any) -> dict[str, Any]:
        """One step everywhere; the means of what replicas return."""

        def one(images: Any) -> dict[str, Any]:
            self.rng.begin(step)
            results: dict[str, Any] = self.train_step(images)
            return results

        results = self.strategy.run(one, args=(images,))
        mean = tf.distribute.ReduceOp.MEAN
        return {name: self.strategy.reduce(mean, value, axis=None) for name, value in results.items()}

    def scale(self: Any, network: str, loss: Any) -> Any:
        """Gradients are added up over replicas: so each gives its part of the mean."""
        return loss / self.strategy.num_replicas_in_sync


class DistributedTrainer(_Distributed, GraphTrainer):
    """``GraphTrainer`` on several replicas."""


class DistributedSharedTrainer(_Distributed, SharedTrainer):
    """``SharedTrainer`` on several replicas."""


def make_distributed(
    strategy: Any, shared: bool, networks: Networks, source: Source, batch_size: int, seed: int
) -> _Distributed:
    """The trainer whose ``step()`` is one step on all replicas. ``batch_size``: of all together."""
    trainer = (DistributedSharedTrainer if shared else DistributedTrainer)(networks, source, batch_size, seed, False)
    trainer.distribute(strategy, seed)
    return trainer
