"""Score an archive of sensor traces with a trained 1-D convnet and write a report."""
import argparse
import os

import numpy as np
import tensorflow as tf

LENGTH, CHANNELS = 256, 4
STATES = ["idle", "running", "worn", "faulty"]


def load_model(path):
    tf.keras.utils.set_random_seed(9)
    L = tf.keras.layers
    model = tf.keras.Sequential([
        L.Input((LENGTH, CHANNELS)),
        L.Conv1D(64, 7, strides=2, activation="relu"),
        L.Conv1D(128, 5, strides=2, activation="relu"),
        L.Conv1D(128, 5, activation="relu"),
        L.GlobalAveragePooling1D(),
        L.Dense(64, activation="relu"),
        L.Dense(len(STATES), activation="softmax"),
    ])
    if path and os.path.exists(path):
        model.load_weights(path)
    return model


def read_shard(index, n):
    """One shard of the archive: n traces and their annotated state."""
    rng = np.random.default_rng(index)
    t = np.linspace(0, 1, LENGTH, dtype="float32")
    state = rng.integers(0, len(STATES), n)
    freq = (5 + 6 * state)[:, None, None] + rng.uniform(0, 2, (n, 1, CHANNELS))
    x = np.sin(2 * np.pi * freq.astype("float32") * t[None, :, None])
    x += rng.normal(0, 0.5, x.shape).astype("float32")
    return x.astype("float32"), state


class Report:
    def __init__(self):
        self.confusion = np.zeros((len(STATES), len(STATES)), int)
        self.confidence = []

    def add(self, truth, probs):
        np.add.at(self.confusion, (truth, probs.argmax(1)), 1)
        self.confidence.append(probs.max(1))

    def show(self):
        conf = np.concatenate(self.confidence)
        print("traces:", conf.size, " mean confidence %.4f" % conf.mean())
        for name, row in zip(STATES, self.confusion):
            print(f"{name:8s}", row)
        print("accuracy %.4f" % (np.trace(self.confusion) / self.confusion.sum()))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--weights")
    ap.add_argument("--shards", type=int, default=20)
    ap.add_argument("--per-shard", type=int, default=2500)
    args = ap.parse_args()

    model = load_model(args.weights)

    @tf.function(input_signature=[tf.TensorSpec([None, LENGTH, CHANNELS], tf.float32)])
    def score(x):
        return model(x, training=False)

    report = Report()
    for shard in range(args.shards):
        traces, truth = read_shard(shard, args.per_shard)
        probs = np.concatenate([score(traces[i:i + 250]).numpy()
                                for i in range(0, len(traces), 250)])
        report.add(truth, probs)
    report.show()


if __name__ == "__main__":
    main()
