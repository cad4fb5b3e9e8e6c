# Band power table for multi-channel EEG recordings (synthetic), one row per window.
import numpy as np
import tensorflow as tf

FS = 128
WIN = 256
HOP = 128
CHANNELS = 16
BANDS = {"delta": (1, 4), "theta": (4, 8), "alpha": (8, 13), "beta": (13, 30)}


def make_recording(seed, seconds=600):
    rng = np.random.default_rng(seed)
    t = np.arange(seconds * FS) / FS
    sig = rng.standard_normal((CHANNELS, t.size)).cumsum(axis=1) * 0.02
    for ch in range(CHANNELS):
        f = rng.uniform(8, 12)
        sig[ch] += rng.uniform(0.5, 2) * np.sin(2 * np.pi * f * t + rng.uniform(0, 6))
    return (sig + 0.3 * rng.standard_normal(sig.shape)).astype(np.float32)


freqs = np.fft.rfftfreq(WIN, 1 / FS)
band_masks = tf.constant(
    np.stack([(freqs >= lo) & (freqs < hi) for lo, hi in BANDS.values()], axis=1).astype(np.float32))
window = tf.signal.hann_window(WIN)
ramp = tf.linspace(-1.0, 1.0, WIN)
ramp_norm = tf.reduce_sum(ramp ** 2)


def features_of_window(x):
    x = x - tf.reduce_mean(x)
    slope = tf.reduce_sum(x * ramp) / ramp_norm
    x = (x - slope * ramp) * window
    psd = tf.abs(tf.signal.rfft(x)) ** 2
    power = tf.linalg.matvec(band_masks, psd, transpose_a=True)
    total = tf.reduce_sum(psd) + 1e-9
    rel = power / total
    entropy = -tf.reduce_sum(rel * tf.math.log(rel + 1e-9))
    return tf.concat([tf.math.log(power + 1e-9), rel, entropy[None]], axis=0)


@tf.function(input_signature=[tf.TensorSpec([CHANNELS, None], tf.float32)])
def analyse(recording):
    frames = tf.signal.frame(recording, WIN, HOP)
    flat = tf.reshape(frames, [-1, WIN])
    table = tf.map_fn(features_of_window, flat)
    return tf.reshape(table, [CHANNELS, -1, 2 * len(BANDS) + 1])


summary = []
for seed in range(36):
    table = analyse(tf.constant(make_recording(seed)))
    summary.append(tf.reduce_mean(table, axis=1).numpy())
summary = np.stack(summary)

print("recordings x channels x features:", summary.shape)
for j, name in enumerate(BANDS):
    print(f"{name:6s} log power {summary[..., j].mean():7.3f}   relative {summary[..., 4 + j].mean():6.3f}")
print("entropy", summary[..., -1].mean())
