"""Permutation importance of the columns of a churn model (inference only).

The network was trained elsewhere; here its weights are made with a fixed seed, and the
"labels" are its own noisy answers, so that the importances are meaningful.
"""
import numpy as np
import tensorflow as tf
import keras

ROWS = 30_000
FEATURES = ["tenure", "calls", "bill", "age", "visits", "roaming",
            "tickets", "discount", "data_gb", "night", "weekend", "devices"]
REPEATS = 1


def load_network():
    keras.utils.set_random_seed(123)
    net = keras.Sequential([
        keras.Input((len(FEATURES),)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    w = net.get_weights()
    # some columns matter more than others
    w[0] *= np.linspace(0.1, 2.0, len(FEATURES))[:, None]
    w[-2] *= 4.0
    net.set_weights(w)
    return net


def log_loss(y, p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


def scores(net, x):
    return net.predict(x, verbose=0)[:, 0]


def permutation_importance(net, x, y, repeats, rng):
    base = log_loss(y, scores(net, x))
    print("base log loss %.5f" % base)
    result = {}
    for j, name in enumerate(FEATURES):
        drops = []
        for _ in range(repeats):
            shuffled = x.copy()
            shuffled[:, j] = rng.permutation(shuffled[:, j])
            drops.append(log_loss(y, scores(net, shuffled)) - base)
        result[name] = np.mean(drops)
        print("  %-10s %+.5f" % (name, result[name]))
    return result


if __name__ == "__main__":
    rng = np.random.default_rng(77)
    x = rng.normal(size=(ROWS, len(FEATURES))).astype(np.float32)
    net = load_network()
    with tf.device("/CPU:0"):
        p = scores(net, x)
        y = (rng.uniform(size=ROWS) < p).astype(np.float64)
        imp = permutation_importance(net, x, y, REPEATS, rng)
    best = max(imp, key=imp.get)
    print("most important column:", best)
