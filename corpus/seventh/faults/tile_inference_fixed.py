"""Sliding-window vessel probability map for large microscopy slides."""
import argparse
import json
import logging
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("tiles")


def make_slide(size, rng):
    """Smooth background with branching dark lines."""
    img = np.zeros((size, size), np.float32)
    for _ in range(12):
        y, x, ang = rng.uniform(0, size), rng.uniform(0, size), rng.uniform(0, 6.28)
        for _ in range(size * 2):
            ang += rng.normal(0, 0.08)
            y, x = (y + np.sin(ang)) % size, (x + np.cos(ang)) % size
            img[int(y) % size, int(x) % size] = 1.0
    img = tf.nn.avg_pool2d(img[None, ..., None], 5, 1, "SAME")[0].numpy()
    tint = np.array([0.8, 0.5, 0.6], np.float32)
    return np.clip(tint - 2.5 * img * tint + rng.normal(0, 0.05, (size, size, 3)), 0, 1).astype(np.float32)


def patch_net(tile):
    inp = keras.Input((tile, tile, 3))
    x = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
    down = layers.MaxPooling2D()(x)
    y = layers.Conv2D(24, 3, padding="same", activation="relu")(down)
    y = layers.UpSampling2D()(y)
    x = layers.Concatenate()([x, y])
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(x))


def tile_positions(size, tile, stride):
    edge = list(range(0, size - tile, stride)) + [size - tile]
    return [(r, c) for r in edge for c in edge]


def blend_window(tile):
    ramp = np.hanning(tile + 2)[1:-1]
    return np.outer(ramp, ramp)[..., None].astype(np.float32)


def predict_slide(model, slide, tile, stride):
    size = slide.shape[0]
    acc = np.zeros((size, size, 1), np.float32)
    norm = np.zeros_like(acc)
    window = blend_window(tile)
    positions = tile_positions(size, tile, stride)
    patches = np.stack([slide[r : r + tile, c : c + tile] for r, c in positions])
    probs = model.predict(patches, batch_size=64, verbose=0)
    for (r, c), prob in zip(positions, probs):
        acc[r : r + tile, c : c + tile] += prob * window
        norm[r : r + tile, c : c + tile] += window
    return acc / np.maximum(norm, 1e-6), len(positions)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--slides", type=int, default=3)
    ap.add_argument("--size", type=int, default=384)
    ap.add_argument("--tile", type=int, default=48)
    ap.add_argument("--stride", type=int, default=32)
    ap.add_argument("--threshold", type=float, default=0.5)
    args = ap.parse_args()
    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(3)
    model = patch_net(args.tile)
    report = []
    for i in range(args.slides):
        slide = make_slide(args.size, rng)
        t0 = time.time()
        prob, n = predict_slide(model, slide, args.tile, args.stride)
        area = float((prob > args.threshold).mean())
        report.append({"slide": i, "tiles": n, "area": round(area, 4), "mean": round(float(prob.mean()), 4)})
        log.info("slide %d: %d tiles in %.1fs", i, n, time.time() - t0)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
