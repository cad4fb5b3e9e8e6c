"""Builds a TFRecord data set of Lorenz-63 trajectories (ensemble, fourth-order Runge-Kutta)."""
import os
import tempfile

import numpy as np
import tensorflow as tf

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
MEMBERS = 64
DT = 0.002
SAVE_EVERY = 25
CHUNKS = 24
STEPS_PER_CHUNK = 500


def slope(state):
    x, y, z = tf.unstack(state, axis=1)
    return tf.stack([SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z], axis=1)


def rk4(state, dt):
    k1 = slope(state)
    k2 = slope(state + 0.5 * dt * k1)
    k3 = slope(state + 0.5 * dt * k2)
    k4 = slope(state + dt * k3)
    return state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@tf.function
def integrate(state, n_saved):
    saved = tf.TensorArray(tf.float64, size=n_saved, element_shape=state.shape)
    for i in tf.range(n_saved):
        for _ in tf.range(SAVE_EVERY):
            state = rk4(state, DT)
        saved = saved.write(i, state)
    return state, saved.stack()


def to_example(member, track):
    feature = {
        "member": tf.train.Feature(int64_list=tf.train.Int64List(value=[member])),
        "track": tf.train.Feature(bytes_list=tf.train.BytesList(value=[track.astype("float32").tobytes()])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def main():
    rng = np.random.default_rng(63)
    state = tf.constant(rng.normal(scale=0.5, size=(MEMBERS, 3)) + [1.0, 1.0, 25.0], tf.float64)
    path = os.path.join(tempfile.mkdtemp(), "lorenz.tfrecord")
    n_saved = STEPS_PER_CHUNK // SAVE_EVERY
    sums = np.zeros(3)
    crossings = 0
    n = 0
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(CHUNKS):
            state, block = integrate(state, n_saved)
            tracks = block.numpy().transpose(1, 0, 2)
            for member, track in enumerate(tracks):
                writer.write(to_example(member, track))
            sums += tracks.sum(axis=(0, 1))
            crossings += int((np.diff(np.sign(tracks[:, :, 0]), axis=1) != 0).sum())
            n += tracks.shape[0] * tracks.shape[1]
    stored = sum(1 for _ in tf.data.TFRecordDataset(path))
    print("examples", stored, "file size", os.path.getsize(path))
    print("lobe changes", crossings, "mean z %.2f" % (sums[2] / n))


if __name__ == "__main__":
    main()
