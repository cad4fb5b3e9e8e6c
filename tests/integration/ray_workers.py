"""A program for ``test_ray.py``: two workers of Ray Train, of which the second is late at each step."""

import sys
import time

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.tensorflow import TensorflowTrainer

from tfperfkit.integrations.ray import profiled


def loop(config):
    import tensorflow as tf
    from ray import train

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weights = tf.Variable(tf.zeros([16, 1]))
        optimizer = tf.keras.optimizers.SGD(0.01)
        optimizer.build([weights])

    @tf.function
    def train_step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ weights - y) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
            return loss

        return strategy.reduce("MEAN", strategy.run(replica, args=(x, y)), axis=None)

    late = train.get_context().get_world_rank() == 1
    for _ in range(config["steps"]):
        x = tf.random.normal([32, 16])
        if late:
            time.sleep(0.02)
        loss = train_step(x, tf.reduce_sum(x, 1, keepdims=True))
    train.report({"loss": float(loss)})


if __name__ == "__main__":
    out, store = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False)
    trainer = TensorflowTrainer(
        profiled(loop, run_dir=out),
        train_loop_config={"steps": 150},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=store, name="tried"),
    )
    print("error", trainer.fit().error)
