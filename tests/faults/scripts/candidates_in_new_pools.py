"""Each round rates its candidates in processes of their own, which a new executor spawns."""

import concurrent.futures
import multiprocessing

import numpy as np
import tensorflow as tf  # FAULT

surrogate = tf.keras.Sequential(  # FAULT
    [tf.keras.Input((6,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(1)]
)
surrogate.compile("adam", "mse")
SPAWN = multiprocessing.get_context("spawn")


def rate(seed):
    """Candidates and what they are worth, by a simulation in NumPy."""
    rng = np.random.default_rng(seed)
    candidates = rng.normal(size=(400, 6))
    return candidates, np.square(candidates).sum(axis=1)


def rate_all(seeds):
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=SPAWN) as executor:  # FAULT
        return list(executor.map(rate, seeds))  # FAULT


def search(rounds):
    for number in range(rounds):
        rated = rate_all(range(4 * number, 4 * number + 4))
        candidates, worth = (np.concatenate(part).astype("float32") for part in zip(*rated))
        surrogate.fit(candidates, worth, epochs=2, verbose=0)
    return surrogate.evaluate(candidates, worth, verbose=0)


if __name__ == "__main__":
    print("loss", round(float(search(4)), 2))

# /// fault
# style = "fit"
# kind = "time"
# cause = "Each round spawns a new pool, whose workers import the script, TensorFlow and the model again"
# codes = ["STP016"]
# families = ["step"]
# source = "docs.python.org, multiprocessing, 'Safe importing of main module'; questions on TensorFlow that is imported again in each worker on Windows and macOS"
# renamed = true
# ///
