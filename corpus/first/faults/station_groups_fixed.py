"""Report the signal power of each station in a folder of CSV lines."""
import numpy as np
import tensorflow as tf

STATIONS, LINES = 10, 24000


def make_lines():
    rng = np.random.default_rng(120)
    who = rng.integers(0, STATIONS, size=LINES)
    vals = rng.normal(size=(LINES, 4)) * (1 + who[:, None])
    return ["%d,%.4f,%.4f,%.4f,%.4f" % (w, *v) for w, v in zip(who, vals)]


def parse(line):
    fields = tf.io.decode_csv(line, [0, 0.0, 0.0, 0.0, 0.0])
    return fields[0], tf.stack(fields[1:], axis=1)


def readings(lines):
    return tf.data.Dataset.from_tensor_slices(lines).batch(1024).map(parse)


def report(ds):
    power = {}
    total, n = np.zeros(STATIONS), np.zeros(STATIONS)
    for who, v in ds.as_numpy_iterator():
        total += np.bincount(who, weights=(v * v).sum(axis=1), minlength=STATIONS)
        n += np.bincount(who, minlength=STATIONS)
    return {station: total[station] / n[station] for station in range(STATIONS)}


power = report(readings(make_lines()))
print("stations", len(power), "loudest %.3f quietest %.3f" % (max(power.values()), min(power.values())))
