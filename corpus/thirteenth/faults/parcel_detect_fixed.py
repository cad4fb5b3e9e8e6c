"""Parcel detection on conveyor pictures: network -> decode -> suppress overlapping boxes.

The network is a small stand-in with fixed weights; its candidates are what matters here.
"""
import time
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE = 160
STRIDE = 8
IMAGES = 48
BATCH = 16
KEEP = 40


def pictures(n, seed=0):
    rng = np.random.default_rng(seed)
    imgs = rng.normal(0, 0.05, (n, SIZE, SIZE, 3)).astype("float32")
    for im in imgs:
        for _ in range(rng.integers(8, 20)):
            y, x = rng.integers(0, SIZE - 24, 2)
            h, w = rng.integers(10, 24, 2)
            im[y:y + h, x:x + w] += rng.uniform(0.3, 1.0, 3)
    return imgs


def backbone(seed=3):
    ini = lambda k: tf.keras.initializers.HeNormal(seed=seed + k)
    inp = layers.Input((SIZE, SIZE, 3))
    x = inp
    for k, w in enumerate((16, 32, 64)):
        x = layers.Conv2D(w, 3, strides=2, padding="same", activation="relu", kernel_initializer=ini(k))(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu", kernel_initializer=ini(7))(x)
    return tf.keras.Model(inp, layers.Conv2D(5, 1, kernel_initializer=ini(9))(x))


@tf.function
def decode(raw):
    n = SIZE // STRIDE
    cy, cx = tf.meshgrid(tf.range(n, dtype=tf.float32), tf.range(n, dtype=tf.float32), indexing="ij")
    cy = (cy + 0.5) * STRIDE + 4.0 * tf.tanh(raw[..., 0])
    cx = (cx + 0.5) * STRIDE + 4.0 * tf.tanh(raw[..., 1])
    h = 14.0 * tf.exp(0.4 * tf.tanh(raw[..., 2]))
    w = 14.0 * tf.exp(0.4 * tf.tanh(raw[..., 3]))
    boxes = tf.stack([cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2], axis=-1)
    b = tf.shape(raw)[0]
    return tf.reshape(boxes, [b, -1, 4]), tf.reshape(tf.sigmoid(raw[..., 4]), [b, -1])


@tf.function
def suppress(boxes, scores, threshold=0.4):
    keep = tf.image.non_max_suppression(boxes, scores, KEEP, iou_threshold=threshold)
    return tf.gather(boxes, keep), tf.gather(scores, keep)


def main():
    tf.random.set_seed(1)
    net = backbone()
    forward = tf.function(net)
    imgs = pictures(IMAGES)
    t0 = time.time()
    total, checksum = 0, 0.0
    for s in range(0, IMAGES, BATCH):
        boxes, scores = decode(forward(tf.constant(imgs[s:s + BATCH]), training=False))
        for b, sc in zip(boxes, scores):
            kb, ks = suppress(b, sc)
            total += int(kb.shape[0])
            checksum += float(tf.reduce_sum(kb[:, 0]))
        print(f"{s + BATCH:4d} pictures  {total} parcels  {time.time() - t0:.1f}s")
    print(f"checksum {checksum:.2f}")


if __name__ == "__main__":
    main()
