# star_finder.py - find round blobs in telescope frames with a difference-of-Gaussians
# stack, compiled with tf.function. Counts detections per scale.
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    height: int = 384
    width: int = 384
    frames: int = 24
    batch: int = 4
    sigmas: tuple = (2.0, 3.0, 4.2, 6.0, 8.4)
    threshold: float = 0.012
    seed: int = 8


def gauss(sigma):
    r = int(np.ceil(3 * sigma))
    x = np.arange(-r, r + 1)
    g = np.exp(-0.5 * (x / sigma) ** 2)
    return (g / g.sum()).astype("float32")


class StarFinder(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.kernels = []
        for s in cfg.sigmas:
            g = gauss(s)
            self.kernels.append(tf.constant(g[:, None, None, None]))

    def blur(self, x, kernel):
        x = tf.nn.conv2d(x, kernel, strides=1, padding="SAME")
        across = tf.transpose(kernel, [1, 0, 2, 3])
        return tf.nn.conv2d(x, across, strides=1, padding="SAME")

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 1], tf.float32)])
    def __call__(self, frames):
        levels = [self.blur(frames, k) for k in self.kernels]
        counts = []
        for fine, coarse in zip(levels[:-1], levels[1:]):
            dog = fine - coarse
            peak = tf.nn.max_pool2d(dog, 5, 1, "SAME")
            hit = tf.logical_and(tf.equal(dog, peak), dog > self.cfg.threshold)
            counts.append(tf.reduce_sum(tf.cast(hit, tf.int32), axis=[1, 2, 3]))
        return tf.stack(counts, axis=1)


def synth(cfg, rng, n):
    yy, xx = np.mgrid[0 : cfg.height, 0 : cfg.width].astype("float32")
    out = np.empty((n, cfg.height, cfg.width, 1), "float32")
    for i in range(n):
        f = rng.normal(0.1, 0.01, (cfg.height, cfg.width)).astype("float32")
        for _ in range(12):
            cy, cx = rng.uniform(20, cfg.height - 20), rng.uniform(20, cfg.width - 20)
            s = rng.uniform(1.5, 7)
            y0, x0 = int(cy) - 20, int(cx) - 20
            w = np.s_[y0 : y0 + 41, x0 : x0 + 41]
            f[w] += rng.uniform(0.2, 1) * np.exp(
                -((yy[w] - cy) ** 2 + (xx[w] - cx) ** 2) / (2 * s * s))
        out[i, :, :, 0] = f
    return out


def main():
    cfg = Config()
    rng = np.random.default_rng(cfg.seed)
    finder = StarFinder(cfg)
    total = np.zeros(len(cfg.sigmas) - 1, int)
    start = time.time()
    for b in range(cfg.frames // cfg.batch):
        frames = synth(cfg, rng, cfg.batch)
        counts = finder(tf.constant(frames)).numpy()
        total += counts.sum(axis=0)
        print(f"batch {b}: {counts.sum(axis=0).tolist()}  [{time.time() - start:.1f} s]", flush=True)
    print("detections per scale:", total.tolist())


if __name__ == "__main__":
    main()
