"""Gait descriptors from ankle tracks.

Each recording is cut into strides (fixed 64 samples, x/y/z); for each stride we
want path length, mean speed, curvature, jerk and three spectral amplitudes.
"""
import numpy as np
import tensorflow as tf

RECORDINGS = 48
STRIDES = 6000
SAMPLES = 64
RATE = 100.0


def synthetic_recording(seed):
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 2 * np.pi, (STRIDES, 1))
    t = np.arange(SAMPLES)[None] / RATE
    cadence = rng.normal(1.8, 0.15, (STRIDES, 1))
    x = 1.2 * t + 0.15 * np.sin(2 * np.pi * cadence * t + phase)
    y = 0.04 * np.sin(4 * np.pi * cadence * t)
    z = 0.10 * np.maximum(np.sin(2 * np.pi * cadence * t), 0)
    track = np.stack([x, y, z], -1) + rng.normal(0, 0.002, (STRIDES, SAMPLES, 3))
    return track.astype("float32")


def describe(stride):
    """stride: [SAMPLES, 3] -> [8] descriptor."""
    velocity = (stride[1:] - stride[:-1]) * RATE
    acceleration = (velocity[1:] - velocity[:-1]) * RATE
    jerk = (acceleration[1:] - acceleration[:-1]) * RATE
    speed = tf.norm(velocity, axis=-1)
    cross = tf.linalg.cross(velocity[1:], acceleration)
    curvature = tf.norm(cross, axis=-1) / (speed[1:] ** 3 + 1e-3)
    spectrum = tf.abs(tf.signal.rfft(stride[:, 2] - tf.reduce_mean(stride[:, 2])))
    return tf.stack([
        tf.reduce_sum(speed) / RATE,
        tf.reduce_mean(speed),
        tf.math.reduce_std(speed),
        tf.reduce_mean(curvature),
        tf.sqrt(tf.reduce_mean(tf.square(jerk))),
        spectrum[1],
        spectrum[2],
        spectrum[3],
    ])


@tf.function(input_signature=[tf.TensorSpec([None, SAMPLES, 3], tf.float32)])
def descriptors(strides):
    return tf.vectorized_map(describe, strides)


def robust_summary(table):
    median = np.median(table, axis=0)
    mad = np.median(np.abs(table - median), axis=0) + 1e-9
    outliers = (np.abs(table - median) > 5 * mad).any(axis=1)
    return median, outliers.mean()


def main():
    names = ["path", "speed", "speed_sd", "curvature", "jerk", "amp1", "amp2", "amp3"]
    everything = []
    for rec in range(RECORDINGS):
        table = descriptors(synthetic_recording(rec)).numpy()
        median, outliers = robust_summary(table)
        print(f"recording {rec:2d}  speed {median[1]:.3f}  jerk {median[4]:.1f}  outliers {outliers:.3f}")
        everything.append(table)
    table = np.concatenate(everything)
    print("strides", len(table))
    for name, value in zip(names, np.median(table, axis=0)):
        print(f"  {name:10s}{value:10.4f}")


if __name__ == "__main__":
    main()
