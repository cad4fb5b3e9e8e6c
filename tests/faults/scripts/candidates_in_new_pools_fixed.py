"""Each round rates its candidates in processes that are started once and import no TensorFlow."""

import concurrent.futures
import multiprocessing

import numpy as np


def rate(seed):
    """Candidates and what they are worth, by a simulation in NumPy."""
    rng = np.random.default_rng(seed)
    candidates = rng.normal(size=(400, 6))
    return candidates, np.square(candidates).sum(axis=1)


def search(rounds):
    import tensorflow as tf

    surrogate = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(1)])
    surrogate.compile("adam", "mse")
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as executor:
        for number in range(rounds):
            rated = list(executor.map(rate, range(4 * number, 4 * number + 4)))
            candidates, worth = (np.concatenate(part).astype("float32") for part in zip(*rated))
            surrogate.fit(candidates, worth, epochs=2, verbose=0)
    return surrogate.evaluate(candidates, worth, verbose=0)


if __name__ == "__main__":
    print("loss", round(float(search(4)), 2))
