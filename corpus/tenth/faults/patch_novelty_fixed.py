"""Novelty map of a scanned fabric: distance of each patch to a PCA model of clean patches."""
import argparse
import numpy as np
import tensorflow as tf


def weave(h, w, seed, flaws=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:h, 0:w].astype("float32")
    img = 0.5 + 0.2 * np.sin(0.9 * xx) * np.sin(0.9 * yy)
    img += 0.05 * rng.normal(size=img.shape)
    for _ in range(flaws):
        r, c = rng.integers(20, h - 20), rng.integers(20, w - 20)
        img[r - 4:r + 4, c - 6:c + 6] += rng.uniform(0.3, 0.6)
    return tf.constant(np.clip(img, 0, 1), tf.float32)


def extract_patches(image, size, stride):
    """Returns (n_rows, n_cols, size*size)."""
    return tf.image.extract_patches(
        image[None, :, :, None], sizes=[1, size, size, 1],
        strides=[1, stride, stride, 1], rates=[1, 1, 1, 1], padding="VALID")[0]


def standardise(patches):
    mean = tf.reduce_mean(patches, axis=-1, keepdims=True)
    std = tf.math.reduce_std(patches, axis=-1, keepdims=True)
    return (patches - mean) / (std + 0.05)


class PatchPCA:
    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, patches):
        x = tf.reshape(patches, [-1, patches.shape[-1]])
        self.mean = tf.reduce_mean(x, axis=0)
        centred = x - self.mean
        cov = tf.matmul(centred, centred, transpose_a=True) / float(x.shape[0])
        _, vectors = tf.linalg.eigh(cov)
        self.basis = vectors[:, -self.n_components:]
        return self

    def residual(self, patches):
        centred = patches - self.mean
        code = tf.linalg.matmul(centred, self.basis)
        back = tf.linalg.matmul(code, self.basis, transpose_b=True)
        return tf.reduce_mean(tf.square(centred - back), axis=-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=16)
    ap.add_argument("--stride", type=int, default=4)
    ap.add_argument("--components", type=int, default=12)
    ap.add_argument("--scans", type=int, default=3)
    ap.add_argument("--height", type=int, default=320)
    ap.add_argument("--width", type=int, default=480)
    args = ap.parse_args()

    clean = weave(args.height, args.width, seed=0)
    model = PatchPCA(args.components).fit(
        standardise(extract_patches(clean, args.size, args.stride)))
    limit = float(tf.reduce_max(model.residual(
        standardise(extract_patches(clean, args.size, args.stride)))))
    print(f"clean limit {limit:.4f}")

    for k in range(args.scans):
        scan = weave(args.height, args.width, seed=100 + k, flaws=k)
        patches = standardise(extract_patches(scan, args.size, args.stride))
        score = model.residual(patches)
        flagged = tf.reduce_sum(tf.cast(score > 1.2 * limit, tf.int32))
        where = np.unravel_index(int(tf.argmax(tf.reshape(score, [-1]))), score.shape)
        print(f"scan {k}: max {float(tf.reduce_max(score)):.4f} at {tuple(map(int, where))} "
              f"flagged {int(flagged)}")


if __name__ == "__main__":
    main()
