"""The delay of each echo by its correlation with the ping that was sent; trains nothing."""

import numpy as np
import tensorflow as tf

SAMPLES, ECHOES = 512, 9000


def record(rng):
    ping = np.sin(np.linspace(0, 40, 64) ** 1.3)
    echoes = rng.normal(scale=0.2, size=(ECHOES, SAMPLES))
    for echo, delay in zip(echoes, rng.integers(0, SAMPLES - 64, ECHOES), strict=True):
        echo[delay : delay + 64] += ping
    return ping.astype("float32"), echoes.astype("float32")


def delays_of(echoes, spectrum):
    echoes = tf.convert_to_tensor(echoes)
    spread = tf.math.reduce_std(echoes, axis=1, keepdims=True)
    echoes = (echoes - tf.reduce_mean(echoes, axis=1, keepdims=True)) / (spread + 1e-6)
    correlation = tf.signal.irfft(tf.signal.rfft(echoes) * spectrum)
    return tf.argmax(correlation, axis=1)


ping, echoes = record(np.random.default_rng(3))
spectrum = tf.math.conj(tf.signal.rfft(tf.pad(ping, [[0, SAMPLES - 64]])))
delays = delays_of(echoes, spectrum).numpy()
print("mean delay", np.mean(delays))
