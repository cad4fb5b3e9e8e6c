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
    return fields[0], tf.stack(fields[1:])


def readings(lines):
    return tf.data.Dataset.from_tensor_slices(lines).map(parse)


def report(ds):
    power = {}
    for station in range(STATIONS):
        mine = ds.filter(lambda who, v: who == station).map(lambda who, v: tf.reduce_sum(v * v))
        total, n = mine.reduce((0.0, 0.0), lambda acc, p: (acc[0] + p, acc[1] + 1.0))
        power[station] = float(total / n)
    return power


power = report(readings(make_lines()))
print("stations", len(power), "loudest %.3f quietest %.3f" % (max(power.values()), min(power.values())))
