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


def delay_of(echo, spectrum):
    echo = tf.convert_to_tensor(echo)
    echo = (echo - tf.reduce_mean(echo)) / (tf.math.reduce_std(echo) + 1e-6)
    correlation = tf.signal.irfft(tf.signal.rfft(echo) * spectrum)
    return tf.argmax(correlation)


ping, echoes = record(np.random.default_rng(3))
spectrum = tf.math.conj(tf.signal.rfft(tf.pad(ping, [[0, SAMPLES - 64]])))
delays = []
for echo in echoes:
    delays.append(int(delay_of(echo, spectrum)))  # FAULT
print("mean delay", np.mean(delays))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A loop works out one recording after another with eager operations, though no recording needs another"
# codes = ["EAG008"]
# families = ["eager"]
# source = "Stack Overflow questions on looping over samples in TensorFlow; class 'no batch API used' of arXiv 2112.01771"
# renamed = true
# ///
