"""Behaviour cloning of an inlining policy from logged compilation traces."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

FEATURES = [
    "callee_blocks", "callsite_height", "node_count", "call_users", "cost_estimate",
    "edge_count", "caller_users", "caller_blocks", "const_params", "loop_level",
    "callee_conditional", "caller_conditional",
]


def log_trace(rng, steps):
    feature_lists = {}
    total = np.zeros(steps)
    for i, name in enumerate(FEATURES):
        values = rng.integers(0, 200, size=steps)
        total += values * (0.5 if i % 2 else -0.5)
        feature_lists[name] = tf.train.FeatureList(
            feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[v])) for v in values]
        )
    decision = (total > 0).astype(np.int64)
    feature_lists["decision"] = tf.train.FeatureList(
        feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[v])) for v in decision]
    )
    return tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(feature_list=feature_lists)
    ).SerializeToString()


def collect(modules, steps, seed):
    rng = np.random.default_rng(seed)
    return [log_trace(rng, int(rng.integers(steps // 2, steps))) for _ in range(modules)]


class TraceDataset:
    def __init__(self, batch_size, sequence_length, shuffle_size):
        self.batch_size = batch_size
        self.sequence_length = sequence_length
        self.shuffle_size = shuffle_size
        self.spec = {
            name: tf.io.FixedLenSequenceFeature([], tf.int64)
            for name in FEATURES + ["decision"]
        }
        self.buckets = tf.constant(np.linspace(0, 200, 41), tf.float32)

    def parse(self, serialized):
        _, lists = tf.io.parse_single_sequence_example(serialized, sequence_features=self.spec)
        columns = []
        for name in FEATURES:
            raw = tf.cast(lists[name], tf.float32)
            rank = tf.cast(tf.searchsorted(self.buckets, raw), tf.float32) / 41.0
            columns += [rank, tf.sqrt(rank), tf.square(rank)]
        return tf.stack(columns, axis=-1), tf.cast(lists["decision"], tf.float32)

    def windows(self, observation, decision):
        ds = tf.data.Dataset.from_tensor_slices((observation, decision))
        return ds.batch(self.sequence_length, drop_remainder=True)

    def build(self, traces):
        ds = tf.data.Dataset.from_tensor_slices(traces)
        ds = ds.map(self.parse, num_parallel_calls=tf.data.AUTOTUNE)
        ds = ds.flat_map(self.windows)
        ds = ds.cache()
        ds = ds.shuffle(self.shuffle_size, seed=4)
        ds = ds.batch(self.batch_size, drop_remainder=True)
        return ds.prefetch(tf.data.AUTOTUNE)


def build_policy():
    policy = keras.Sequential(
        [
            keras.Input((None, 3 * len(FEATURES))),
            keras.layers.Dense(40, activation="relu"),
            keras.layers.Dense(20, activation="relu"),
            keras.layers.Dense(1),
            keras.layers.Reshape((-1,)),
        ]
    )
    policy.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        jit_compile=False,
    )
    return policy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=int, default=400)
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--iterations", type=int, default=30)
    args = parser.parse_args()

    keras.utils.set_random_seed(4)
    traces = collect(args.modules, args.steps, seed=4)
    dataset = TraceDataset(256, 16, 1024).build(traces)
    policy = build_policy()
    history = policy.fit(dataset, epochs=args.iterations, verbose=0)
    print("traces", len(traces), "loss", [round(v, 4) for v in history.history["loss"]][-3:])


if __name__ == "__main__":
    main()
