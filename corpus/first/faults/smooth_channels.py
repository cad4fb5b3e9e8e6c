"""Exponential smoothing of EEG-like channels followed by band energy."""
import numpy as np
import tensorflow as tf

CHANNELS = 66
SAMPLES = 6000


def load_recording():
    rng = np.random.default_rng(13)
    t = np.arange(SAMPLES) / 250.0
    freq = rng.uniform(4, 30, size=(CHANNELS, 1))
    return (np.sin(2 * np.pi * freq * t) + rng.normal(size=(CHANNELS, SAMPLES))).astype("float32")


@tf.function
def smooth(signal, alpha):
    def update(level, value):
        return level + alpha * (value - level)

    return tf.scan(update, signal[1:], initializer=signal[0])


def smooth_all(recording, alpha):
    return tf.stack([smooth(channel, alpha) for channel in recording], axis=0)


rec = tf.constant(load_recording())
energies = []
for alpha in (0.05, 0.2):
    flat = smooth_all(rec, tf.constant(alpha))
    spectrum = tf.abs(tf.signal.rfft(flat[:, :4096]))
    energies.append(float(tf.reduce_mean(spectrum[:, 60:500])))
print("band energy", ["%.4f" % e for e in energies])
