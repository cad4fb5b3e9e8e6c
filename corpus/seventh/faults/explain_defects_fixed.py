"""Integrated-gradients attributions for a defect classifier; writes a summary per class."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

DEFECTS = ["none", "scratch", "dent", "stain"]


def surface(label, size, rng):
    img = rng.normal(0.5, 0.05, (size, size, 1))
    yy, xx = np.mgrid[0:size, 0:size]
    cx, cy = rng.uniform(size * 0.25, size * 0.75, 2)
    if label == 1:
        img[np.abs((yy - cy) - rng.uniform(-1, 1) * (xx - cx)) < 1.2] += 0.4
    elif label == 2:
        img[..., 0] -= 0.4 * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 12)
    elif label == 3:
        img[..., 0] += 0.2 * (np.hypot(xx - cx, (yy - cy) * 1.5) < 6)
    return img.astype("float32")


def build(size):
    inp = keras.Input((size, size, 1))
    x = inp
    for width in (16, 32, 48):
        x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(len(DEFECTS))(x))


class IntegratedGradients:
    def __init__(self, model, steps):
        self.model = model
        self.compute = tf.function(self.gradients)
        self.alphas = tf.reshape(tf.linspace(0.0, 1.0, steps + 1), (-1, 1, 1, 1))

    def gradients(self, images, target):
        with tf.GradientTape() as tape:
            tape.watch(images)
            score = self.model(images, training=False)[:, target]
        return tape.gradient(score, images)

    def attribute(self, image, baseline, target):
        path = baseline[None] + self.alphas * (image - baseline)[None]
        grads = self.compute(path, tf.constant(target))
        trapezoid = (grads[:-1] + grads[1:]) / 2.0
        return (image - baseline) * tf.reduce_mean(trapezoid, axis=0)


def concentration(attr, share=0.5):
    """Fraction of pixels which hold `share` of the absolute attribution."""
    flat = np.sort(np.abs(attr).ravel())[::-1]
    return float((np.searchsorted(np.cumsum(flat), share * flat.sum()) + 1) / flat.size)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", type=int, default=36)
    ap.add_argument("--size", type=int, default=32)
    ap.add_argument("--ig-steps", type=int, default=32)
    args = ap.parse_args()
    keras.utils.set_random_seed(14)
    rng = np.random.default_rng(14)
    model = build(args.size)
    ig = IntegratedGradients(model, args.ig_steps)
    baseline = tf.fill((args.size, args.size, 1), 0.5)
    summary = {d: [] for d in DEFECTS}
    gap, t0 = [], time.time()
    for i in range(args.images):
        label = i % len(DEFECTS)
        image = tf.constant(surface(label, args.size, rng))
        attr = ig.attribute(image, baseline, label)
        pair = model(tf.stack([image, baseline]), training=False)[:, label]
        gap.append(abs(float(tf.reduce_sum(attr) - (pair[0] - pair[1]))))
        summary[DEFECTS[label]].append(concentration(attr.numpy()))
    print(f"{args.images} attributions in {time.time() - t0:.1f}s, completeness gap {np.mean(gap):.2e}")
    for name, values in summary.items():
        print(f"  {name:8s} 50% of attribution in {100 * np.mean(values):.1f}% of pixels")


if __name__ == "__main__":
    main()
