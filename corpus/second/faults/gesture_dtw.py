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


@tf.function
def warp_distance(a, b):
    n = tf.shape(a)[0]
    m = tf.shape(b)[0]
    width = m + 1
    table = tf.TensorArray(tf.float32, size=(n + 1) * width, clear_after_read=False)
    for k in tf.range(width):
        table = table.write(k, 1e9)
    table = table.write(0, 0.0)
    for i in tf.range(1, n + 1):
        table = table.write(i * width, 1e9)
        for j in tf.range(1, m + 1):
            cost = tf.abs(a[i - 1] - b[j - 1])
            above = table.read((i - 1) * width + j)
            left = table.read(i * width + j - 1)
            corner = table.read((i - 1) * width + j - 1)
            best = tf.minimum(tf.minimum(above, left), corner)
            table = table.write(i * width + j, cost + best)
    return table.read(n * width + m)


def all_distances(recordings, templates):
    out = np.zeros((len(recordings), len(templates)), dtype="float32")
    for r, recording in enumerate(recordings):
        for k, template in enumerate(templates):
            out[r, k] = warp_distance(tf.constant(recording), tf.constant(template))
    return out


def main():
    rng = np.random.default_rng(3)
    templates = make_gestures(rng, TEMPLATES)
    recordings = make_gestures(rng, RECORDINGS)
    distances = all_distances(recordings, templates)
    print("nearest", distances.argmin(axis=1), "mean %.3f" % distances.mean())


if __name__ == "__main__":
    main()
