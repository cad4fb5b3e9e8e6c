"""Goes once through a month of turbine readings and writes per-channel normalisation constants."""
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

CHANNELS = ["rpm", "power", "wind", "pitch", "yaw", "temp_oil", "temp_gear", "vib_x", "vib_y", "hum"]
HOURS, PER_HOUR = 30, 2000


def write_recordings(folder):
    rng = np.random.default_rng(3)
    for h in range(HOURS):
        base = rng.normal(size=(1, len(CHANNELS))) * 3
        block = (base + rng.normal(size=(PER_HOUR, len(CHANNELS)))).astype("float32")
        np.savez(os.path.join(folder, f"hour_{h:03d}.npz"),
                 **{c: block[:, i] for i, c in enumerate(CHANNELS)})


def recordings(folder):
    for name in sorted(os.listdir(folder)):
        with np.load(os.path.join(folder, name)) as z:
            yield {c: z[c] for c in CHANNELS}


def make_dataset(folder):
    def readings():
        for hour in recordings(folder):
            for i in range(PER_HOUR):
                yield {c: hour[c][i] for c in CHANNELS}

    spec = {c: tf.TensorSpec((), tf.float32) for c in CHANNELS}
    ds = tf.data.Dataset.from_generator(readings, output_signature=spec)
    return ds.batch(500).prefetch(tf.data.AUTOTUNE)


@tf.function
def update(batch, total, total_sq, low, high):
    x = tf.stack([batch[c] for c in CHANNELS], axis=1)
    x64 = tf.cast(x, tf.float64)
    return (total + tf.reduce_sum(x64, 0), total_sq + tf.reduce_sum(x64 * x64, 0),
            tf.minimum(low, tf.reduce_min(x, 0)), tf.maximum(high, tf.reduce_max(x, 0)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_recordings(folder)
        k = len(CHANNELS)
        total = tf.zeros([k], tf.float64)
        total_sq = tf.zeros([k], tf.float64)
        low = tf.fill([k], np.float32(np.inf))
        high = tf.fill([k], np.float32(-np.inf))
        rows = 0
        for batch in make_dataset(folder):
            total, total_sq, low, high = update(batch, total, total_sq, low, high)
            rows += int(batch["rpm"].shape[0])
        mean = total.numpy() / rows
        std = np.sqrt(total_sq.numpy() / rows - mean ** 2)
        out = {c: dict(mean=round(float(mean[i]), 4), std=round(float(std[i]), 4),
                       low=round(float(low[i]), 3), high=round(float(high[i]), 3))
               for i, c in enumerate(CHANNELS)}
        with open(os.path.join(folder, "norm.json"), "w") as f:
            json.dump(out, f)
    print(rows, "readings")
    for c in CHANNELS[:4]:
        print(c, out[c])


if __name__ == "__main__":
    main()
