"""Match recorded gestures to templates with dynamic time warping."""
import numpy as np
import tensorflow as tf

LENGTH = 60
TEMPLATES = 6
RECORDINGS = 14


def make_gestures(rng, count):
    t = np.linspace(0, 1, LENGTH)
    rows = []
    for k in range(count):
        speed = rng.uniform(0.8, 1.2)
        rows.append(np.sin(2 * np.pi * (k % TEMPLATES + 1) * t ** speed)
                    + 0.05 * rng.normal(size=LENGTH))
    return np.asarray(rows, dtype="float32")


# Row d of SKEW holds the flat positions of anti-diagonal d (one past the end = outside).
D, I = np.meshgrid(np.arange(2 * LENGTH - 1), np.arange(LENGTH), indexing="ij")
INSIDE = (D - I >= 0) & (D - I < LENGTH)
SKEW = np.where(INSIDE, I * LENGTH + (D - I), LENGTH * LENGTH).astype("int32")


@tf.function
def warp_distances(a, b):
    pairs = tf.shape(a)[0]
    cost = tf.reshape(tf.abs(a[:, :, None] - b[:, None, :]), [pairs, LENGTH * LENGTH])
    cost = tf.concat([cost, tf.fill([pairs, 1], 1e9)], axis=1)
    diagonals = tf.transpose(tf.gather(cost, SKEW, axis=1), [1, 0, 2])
    wall = tf.fill([pairs, 1], 1e9)
    older = tf.fill([pairs, LENGTH], 1e9)
    newer = tf.concat([diagonals[0][:, :1], tf.fill([pairs, LENGTH - 1], 1e9)], axis=1)
    for d in tf.range(1, 2 * LENGTH - 1):
        above = tf.concat([wall, newer[:, :-1]], axis=1)
        corner = tf.concat([wall, older[:, :-1]], axis=1)
        best = tf.minimum(tf.minimum(above, newer), corner)
        older, newer = newer, tf.minimum(diagonals[d] + best, 1e9)
    return newer[:, -1]


def all_distances(recordings, templates):
    a = tf.repeat(tf.constant(recordings), len(templates), axis=0)
    b = tf.tile(tf.constant(templates), [len(recordings), 1])
    return warp_distances(a, b).numpy().reshape(len(recordings), len(templates))


def main():
    rng = np.random.default_rng(3)
    templates = make_gestures(rng, TEMPLATES)
    recordings = make_gestures(rng, RECORDINGS)
    distances = all_distances(recordings, templates)
    print("nearest", distances.argmin(axis=1), "mean %.3f" % distances.mean())


if __name__ == "__main__":
    main()
