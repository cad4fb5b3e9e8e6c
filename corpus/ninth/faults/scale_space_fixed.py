"""Blob candidates for the moth-wing scans: difference of Gaussians over a few octaves."""
import argparse
import math

import numpy as np
import tensorflow as tf


def synth_scans(n, side, seed=3):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:side, 0:side].astype("float32")
    out = np.empty((n, side, side, 3), "float32")
    for i in range(n):
        img = 0.05 * rng.standard_normal((side, side, 3)).astype("float32")
        for _ in range(12):
            cy, cx = rng.uniform(10, side - 10, 2)
            r = rng.uniform(2, 9)
            blob = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))
            img += blob[..., None] * rng.uniform(0.3, 1.0, 3).astype("float32")
        out[i] = img
    return out


def gaussian_1d(sigma):
    radius = int(math.ceil(3.0 * sigma))
    x = tf.range(-radius, radius + 1, dtype=tf.float32)
    g = tf.exp(-0.5 * tf.square(x / sigma))
    return g / tf.reduce_sum(g)


def blur(images, sigma):
    g = gaussian_1d(sigma)
    rows = tf.tile(g[:, None, None, None], [1, 1, 3, 1])
    cols = tf.tile(g[None, :, None, None], [1, 1, 3, 1])
    images = tf.nn.depthwise_conv2d(images, rows, [1, 1, 1, 1], "SAME")
    return tf.nn.depthwise_conv2d(images, cols, [1, 1, 1, 1], "SAME")


class BlobDetector(tf.Module):
    def __init__(self, sigma0=1.6, scales=5, ratio=1.45, threshold=0.04):
        super().__init__()
        self.sigmas = [sigma0 * ratio ** i for i in range(scales)]
        self.threshold = threshold

    @tf.function(reduce_retracing=True)
    def __call__(self, images):
        levels = [blur(images, s) for s in self.sigmas]
        dogs = tf.stack([tf.reduce_mean(a - b, axis=-1) for a, b in zip(levels, levels[1:])], axis=-1)
        peak = tf.nn.max_pool2d(dogs, 5, 1, "SAME")
        strongest = tf.reduce_max(peak, axis=-1, keepdims=True)
        hits = (dogs >= strongest) & (dogs > self.threshold)
        return tf.where(hits), tf.boolean_mask(dogs, hits)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--scans", type=int, default=160)
    ap.add_argument("--side", type=int, default=200)
    ap.add_argument("--batch", type=int, default=8)
    args = ap.parse_args()

    scans = synth_scans(args.scans, args.side)
    detector = BlobDetector()
    per_scale = np.zeros(4, int)
    strengths = []
    for lo in range(0, args.scans, args.batch):
        where, strength = detector(tf.constant(scans[lo:lo + args.batch]))
        per_scale += np.bincount(where[:, 3].numpy(), minlength=4)
        strengths.append(strength.numpy())
    strengths = np.concatenate(strengths)
    print("blobs per scale", per_scale, "total", len(strengths))
    print("median strength %.4f" % np.median(strengths))


if __name__ == "__main__":
    main()
