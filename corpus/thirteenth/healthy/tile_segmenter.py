"""Segment roofs in aerial tiles with a small U-Net."""
import argparse
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def tiles(n, side, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.25, (n, side, side, 3)).astype("float32")
    y = np.zeros((n, side, side, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(2, 6)):
            r, c = rng.integers(0, side - 20, 2)
            h, w = rng.integers(8, 20, 2)
            y[i, r:r + h, c:c + w] = 1.0
        x[i] += y[i] * rng.uniform(0.3, 0.8, 3)
    return x, y


def double_conv(x, width):
    for _ in range(2):
        x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    return x


def unet(side, widths=(16, 32, 64)):
    inp = layers.Input((side, side, 3))
    x, skips = inp, []
    for w in widths[:-1]:
        x = double_conv(x, w)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = double_conv(x, widths[-1])
    for w, s in zip(reversed(widths[:-1]), reversed(skips)):
        x = layers.Conv2DTranspose(w, 2, strides=2)(x)
        x = double_conv(layers.concatenate([x, s]), w)
    return tf.keras.Model(inp, layers.Conv2D(1, 1)(x))


def flip(x, y):
    both = tf.concat([x, y], axis=-1)
    both = tf.image.random_flip_left_right(both, seed=1)
    both = tf.image.random_flip_up_down(both, seed=2)
    return both[..., :3], both[..., 3:]


def dice_bce(y, logits):
    p = tf.sigmoid(logits)
    inter = tf.reduce_sum(p * y, axis=[1, 2, 3])
    dice = 1 - (2 * inter + 1) / (tf.reduce_sum(p + y, axis=[1, 2, 3]) + 1)
    bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits), axis=[1, 2, 3])
    return dice + bce


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tiles", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=3)
    a = ap.parse_args()
    tf.keras.utils.set_random_seed(8)
    x, y = tiles(a.tiles, 96, 0)
    xv, yv = tiles(64, 96, 1)
    train = (tf.data.Dataset.from_tensor_slices((x, y)).shuffle(a.tiles, seed=3)
             .batch(16).map(flip, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
    val = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(16).prefetch(2)
    m = unet(96)
    m.compile(tf.keras.optimizers.Adam(2e-3), loss=dice_bce)
    m.fit(train, validation_data=val, epochs=a.epochs, verbose=2)


if __name__ == "__main__":
    main()
