# U-Net segmenting bright cells from noise. Standard keras fit with EarlyStopping.
import numpy as np
import tensorflow as tf
import keras
from keras.layers import (Conv2D, Conv2DTranspose, Concatenate, Input, MaxPooling2D)

SIDE = 96
keras.utils.set_random_seed(8)


def cells(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    img = np.zeros((n, SIDE, SIDE, 1), np.float32)
    for i in range(n):
        for _ in range(rng.integers(2, 6)):
            cy, cx = rng.uniform(5, SIDE - 5, 2)
            r = rng.uniform(4, 12)
            img[i, ..., 0][(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1.0
    noisy = img * 0.7 + rng.normal(0, 0.5, img.shape)
    return noisy.astype(np.float32), img


def double_conv(x, f):
    x = Conv2D(f, 3, padding="same", activation="relu")(x)
    return Conv2D(f, 3, padding="same", activation="relu")(x)


def unet(base=12):
    inp = Input((SIDE, SIDE, 1))
    skips, x = [], inp
    for f in (base, 2 * base, 4 * base):
        x = double_conv(x, f)
        skips.append(x)
        x = MaxPooling2D()(x)
    x = double_conv(x, 8 * base)
    for f, s in zip((4 * base, 2 * base, base), reversed(skips)):
        x = Conv2DTranspose(f, 2, strides=2, padding="same")(x)
        x = double_conv(Concatenate()([x, s]), f)
    return keras.Model(inp, Conv2D(1, 1)(x))


def soft_dice(y, logits):
    p = tf.sigmoid(logits)
    inter = tf.reduce_sum(y * p, axis=(1, 2, 3))
    total = tf.reduce_sum(y + p, axis=(1, 2, 3))
    return 1.0 - (2.0 * inter + 1.0) / (total + 1.0)


def loss(y, logits):
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(bce, axis=(1, 2, 3)) + soft_dice(y, logits)


x, y = cells(256, 0)
xv, yv = cells(64, 1)
net = unet()
print("parameters:", net.count_params())
net.compile(keras.optimizers.Adam(2e-3), loss,
            metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.0, name="iou")])
net.fit(x, y, batch_size=16, epochs=3, verbose=2, validation_data=(xv, yv),
        validation_batch_size=32,
        callbacks=[keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)])
mask = net.predict(xv, batch_size=32, verbose=0) > 0
print("cell area, true %.4f found %.4f" % (yv.mean(), mask.mean()))
