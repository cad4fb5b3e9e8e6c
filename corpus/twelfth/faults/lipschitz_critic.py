import argparse
import time
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

# 1-Lipschitz scorer for tabular anomaly detection: every hidden matrix has to keep
# its largest singular value below `bound`.


class SpectralBound(keras.constraints.Constraint):
    def __init__(self, bound=1.0):
        self.bound = bound

    def __call__(self, w):
        w = tf.convert_to_tensor(w)
        s, _, _ = tf.linalg.svd(w)
        largest = tf.reduce_max(s)
        return w / tf.maximum(1.0, largest / self.bound)

    def get_config(self):
        return {"bound": self.bound}


def scorer(n_in, width, depth, bound):
    inp = keras.Input((n_in,))
    x = inp
    for i in range(depth):
        x = layers.Dense(width, name=f"hidden{i}", kernel_initializer="orthogonal",
                         kernel_constraint=SpectralBound(bound))(x)
        x = layers.LeakyReLU(negative_slope=0.2)(x)
    out = layers.Dense(1, name="score")(x)
    return keras.Model(inp, out)


def table(n, d, seed):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d)) / np.sqrt(d)
    normal = rng.normal(size=(n // 2, d)) @ mix
    odd = rng.normal(size=(n - n // 2, d)) * 1.3
    x = np.concatenate([normal, odd]).astype("float32")
    y = np.concatenate([np.zeros(len(normal)), np.ones(len(odd))]).astype("float32")
    p = rng.permutation(n)
    return x[p], y[p]


class Clock(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print("epoch %d loss %.4f acc %.3f  %.2f s" % (
            epoch, logs["loss"], logs["accuracy"], time.perf_counter() - self.t), flush=True)


def run(args):
    keras.utils.set_random_seed(args.seed)
    x, y = table(args.rows, args.width, args.seed)
    net = scorer(args.width, args.width, args.depth, args.bound)
    net.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
    )
    net.fit(x, y, batch_size=args.batch, epochs=args.epochs, verbose=0, callbacks=[Clock()])
    for i in range(args.depth):
        w = net.get_layer(f"hidden{i}").kernel.numpy()
        print("layer", i, "spectral norm", round(float(np.linalg.norm(w, 2)), 3))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=2048)
    ap.add_argument("--width", type=int, default=384)
    ap.add_argument("--depth", type=int, default=2)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=18)
    ap.add_argument("--bound", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=21)
    run(ap.parse_args())
