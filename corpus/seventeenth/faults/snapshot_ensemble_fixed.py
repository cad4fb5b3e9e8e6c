"""Score a held-out set with every snapshot of a training run and average the votes."""
import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
LAYERS = (32, 64, 64, 48, 10)


def write_snapshots(folder, count):
    rng = np.random.default_rng(2)
    centre = [rng.normal(0, 1 / np.sqrt(a), size=(a, b)) for a, b in zip(LAYERS, LAYERS[1:])]
    paths = []
    for i in range(count):
        params = []
        for w in centre:
            params.append((w + rng.normal(0, 0.05, w.shape)).astype("float32"))
            params.append(rng.normal(0, 0.05, w.shape[1]).astype("float32"))
        path = os.path.join(folder, f"snapshot_{i:04d}.npz")
        np.savez(path, *params)
        paths.append(path)
    return paths


class Network:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, LAYERS[0]], name="x")
        self.params = []
        h = self.x
        for i, (a, b) in enumerate(zip(LAYERS, LAYERS[1:])):
            w = tf.get_variable(f"w{i}", [a, b])
            bias = tf.get_variable(f"b{i}", [b])
            self.params += [w, bias]
            h = tf.matmul(h, w) + bias
            if i < len(LAYERS) - 2:
                h = tf.nn.relu(h)
        self.probs = tf.nn.softmax(h)


class SnapshotEvaluator:
    def __init__(self, network, batch_size):
        self.network = network
        self.batch_size = batch_size
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
        self.inputs = [tf.placeholder(p.dtype.base_dtype, p.shape) for p in network.params]
        self.assign_ops = [tf.assign(p, v) for p, v in zip(network.params, self.inputs)]

    def load(self, path):
        with np.load(path) as data:
            values = [data[k] for k in data.files]
        self.assign_params(values)

    def assign_params(self, values):
        self.sess.run(self.assign_ops, dict(zip(self.inputs, values)))

    def predict(self, x):
        out = []
        for start in range(0, len(x), self.batch_size):
            feed = {self.network.x: x[start:start + self.batch_size]}
            out.append(self.sess.run(self.network.probs, feed))
        return np.concatenate(out)

    def close(self):
        self.sess.close()


def ensemble_votes(evaluator, paths, x):
    total = np.zeros((len(x), LAYERS[-1]))
    agreement = []
    for path in paths:
        evaluator.load(path)
        probs = evaluator.predict(x)
        total += probs
        agreement.append((probs.argmax(1) == total.argmax(1)).mean())
    return total / len(paths), agreement


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--snapshots", type=int, default=85)
    parser.add_argument("--examples", type=int, default=4000)
    args = parser.parse_args()

    x = np.random.default_rng(7).normal(size=(args.examples, LAYERS[0])).astype("float32")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_snapshots(folder, args.snapshots)
        evaluator = SnapshotEvaluator(Network(), batch_size=1000)
        mean, agreement = ensemble_votes(evaluator, paths, x)
        evaluator.close()
    print(f"mean confidence {mean.max(1).mean():.5f}  agreement {np.mean(agreement):.5f}")


if __name__ == "__main__":
    main()
