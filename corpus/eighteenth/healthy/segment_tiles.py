"""Segments a large scene tile by tile and blends the overlapping outputs."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf


def build_segmenter(tile, classes):
    inputs = keras.Input((tile, tile, 4))
    x = keras.layers.Conv2D(24, 3, padding="same", activation="relu")(inputs)
    skip = x
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    x = keras.layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    x = keras.layers.UpSampling2D()(x)
    x = keras.layers.Concatenate()([x, skip])
    x = keras.layers.Conv2D(24, 3, padding="same", activation="relu")(x)
    outputs = keras.layers.Conv2D(classes, 1, activation="softmax")(x)
    return keras.Model(inputs, outputs)


class Scene:
    """Rows of a raster that are produced on demand, as a reader would."""

    def __init__(self, height, width, seed):
        self.height, self.width = height, width
        self.rng = np.random.default_rng(seed)
        self.fields = self.rng.normal(size=(4, 6, 6)).astype("float32")

    def strip(self, top, rows):
        noise = self.rng.normal(scale=0.2, size=(rows, self.width, 4)).astype("float32")
        for band in range(4):
            line = self.fields[band, (top // 96) % 6]
            noise[..., band] += np.interp(np.arange(self.width), np.linspace(0, self.width, 6), line)
        return noise


class Blender:
    def __init__(self, tile, overlap, classes):
        self.tile, self.step, self.classes = tile, tile - overlap, classes
        ramp = np.minimum(np.arange(tile) + 1, np.arange(tile)[::-1] + 1) / tile
        self.window = (ramp[:, None] * ramp[None, :]).astype("float32")[..., None]

    def tiles(self, strip):
        starts = range(0, strip.shape[1] - self.tile + 1, self.step)
        return list(starts), np.stack([strip[:, s : s + self.tile] for s in starts])

    def merge(self, starts, probs, width):
        total = np.zeros((self.tile, width, self.classes), "float32")
        weight = np.zeros((self.tile, width, 1), "float32")
        for s, p in zip(starts, probs):
            total[:, s : s + self.tile] += p * self.window
            weight[:, s : s + self.tile] += self.window
        return np.argmax(total / np.maximum(weight, 1e-6), axis=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--height", type=int, default=2112)
    parser.add_argument("--width", type=int, default=1568)
    parser.add_argument("--tile", type=int, default=128)
    parser.add_argument("--overlap", type=int, default=32)
    parser.add_argument("--classes", type=int, default=5)
    args = parser.parse_args()

    keras.utils.set_random_seed(6)
    model = build_segmenter(args.tile, args.classes)
    segment = tf.function(lambda x: model(x, training=False))
    scene = Scene(args.height, args.width, seed=6)
    blender = Blender(args.tile, args.overlap, args.classes)
    histogram = np.zeros(args.classes, np.int64)
    for top in range(0, args.height - args.tile + 1, blender.step):
        starts, batch = blender.tiles(scene.strip(top, args.tile))
        probs = segment(tf.constant(batch)).numpy()
        classes = blender.merge(starts, probs, args.width)
        histogram += np.bincount(classes[: blender.step].ravel(), minlength=args.classes)
    print("class pixels", histogram.tolist())


if __name__ == "__main__":
    main()
