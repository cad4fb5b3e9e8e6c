"""
Point cloud autoencoder with Chamfer distance.

  python cloud_autoencoder.py --epochs 8
"""
import argparse
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model


def make_clouds(n, points, seed=0):
    """Spheres, boxes and cylinders, randomly stretched."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(n, points, 3))
    sphere = v / np.linalg.norm(v, axis=2, keepdims=True)
    box = sphere / np.abs(sphere).max(axis=2, keepdims=True)
    cyl = sphere.copy()
    cyl[:, :, :2] /= np.linalg.norm(cyl[:, :, :2], axis=2, keepdims=True)
    kind = rng.integers(0, 3, n)[:, None, None]
    out = np.where(kind == 0, sphere, np.where(kind == 1, box, cyl))
    return (out * rng.uniform(0.4, 1.0, (n, 1, 3))).astype(np.float32)


def chamfer(a, b):
    """Symmetric Chamfer distance of clouds, (N, P, 3) and (N, Q, 3)."""
    d = (tf.reduce_sum(a * a, 2)[:, :, None] - 2.0 * tf.matmul(a, b, transpose_b=True)
         + tf.reduce_sum(b * b, 2)[:, None, :])
    return tf.reduce_mean(tf.reduce_min(d, 2), 1) + tf.reduce_mean(tf.reduce_min(d, 1), 1)


def chamfer_loss(y_true, y_pred):
    return tf.reduce_mean(chamfer(y_true, y_pred))


def build(points, code):
    cloud = layers.Input((points, 3))
    h = layers.Conv1D(32, 1, activation="relu")(cloud)
    h = layers.Conv1D(64, 1, activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    z = layers.Dense(code, name="code")(h)
    h = layers.Dense(128, activation="relu")(z)
    h = layers.Dense(points * 3)(h)
    return Model(cloud, layers.Reshape((points, 3))(h))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clouds", type=int, default=12800)
    parser.add_argument("--points", type=int, default=48)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=8)
    opt = parser.parse_args()

    tf.random.set_seed(5)
    clouds = make_clouds(opt.clouds, opt.points)
    ae = build(opt.points, 24)
    ae.compile(tf.keras.optimizers.Adam(2e-3), loss=chamfer_loss, jit_compile=False)
    ae.fit(clouds, clouds, batch_size=opt.batch, epochs=opt.epochs, verbose=2)

    test = make_clouds(256, opt.points, seed=1)
    rebuilt = ae.predict(test, batch_size=256, verbose=0)
    print("spread of rebuilt clouds:", rebuilt.std(axis=(0, 1)).round(3))
    print("spread of test clouds:   ", test.std(axis=(0, 1)).round(3))
