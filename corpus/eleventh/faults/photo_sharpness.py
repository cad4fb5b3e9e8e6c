#!/usr/bin/env python3
"""Rank a folder of scanned photos by sharpness and noise, to weed out the bad scans."""
import numpy as np
import tensorflow as tf

N_PHOTOS = 60


def fake_scan(rng):
    """Scans come cropped by hand, no two have quite the same size."""
    h, w = rng.integers(120, 240, 2)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
    f = rng.uniform(0.02, 0.25)
    base = 0.5 + 0.3 * np.sin(f * xx) * np.cos(0.7 * f * yy)
    img = base[..., None] * rng.uniform(0.6, 1.0, 3) + rng.normal(0, rng.uniform(0.0, 0.08), (h, w, 3))
    return (np.clip(img, 0, 1) * 255).astype(np.uint8)


def gaussian_kernel(sigma, size=7):
    r = np.arange(size) - size // 2
    g = np.exp(-r ** 2 / (2 * sigma ** 2))
    k = np.outer(g, g)
    return tf.constant((k / k.sum())[:, :, None, None], tf.float32)


SIGMAS = [0.8, 1.6, 2.4]
KERNELS = [gaussian_kernel(s) for s in SIGMAS]
LAPLACE = tf.constant(np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])[:, :, None, None], tf.float32)


@tf.function
def quality(photo):
    img = tf.image.convert_image_dtype(photo, tf.float32)
    grey = tf.image.rgb_to_grayscale(img)[None]
    feats = []
    level = grey
    for _ in range(4):
        lap = tf.nn.conv2d(level, LAPLACE, 1, "VALID")
        feats.append(tf.math.reduce_variance(lap))
        dy, dx = tf.image.image_gradients(level)
        mag = tf.sqrt(dx * dx + dy * dy + 1e-8)
        feats.append(tf.reduce_mean(mag))
        feats.append(tf.reduce_max(mag))
        for k in KERNELS:
            blur = tf.nn.conv2d(level, k, 1, "SAME")
            feats.append(tf.reduce_mean(tf.abs(level - blur)))
            feats.append(tf.reduce_mean(tf.square(level - blur)) / tf.math.reduce_variance(level))
        level = tf.nn.avg_pool2d(level, 2, 2, "VALID")
    hsv = tf.image.rgb_to_hsv(img)
    feats.append(tf.reduce_mean(hsv[..., 1]))
    feats.append(tf.math.reduce_std(hsv[..., 2]))
    return tf.stack(feats)


def main():
    rng = np.random.default_rng(12)
    table = []
    for _ in range(N_PHOTOS):
        photo = fake_scan(rng)
        table.append(quality(tf.constant(photo)).numpy())
    table = np.array(table)
    z = (table - table.mean(0)) / (table.std(0) + 1e-9)
    score = z[:, 0] + z[:, 1] - z[:, 3]
    order = np.argsort(-score)
    print("features per photo:", table.shape[1])
    print("sharpest:", order[:8].tolist())
    print("candidates for rescanning:", order[-8:].tolist())


if __name__ == "__main__":
    main()
