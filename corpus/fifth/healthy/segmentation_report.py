"""Evaluates a segmentation model: confusion matrix, IoU and accuracy over a test set."""

import numpy as np
import tensorflow as tf

CLASSES = 6
rng = np.random.default_rng(7)


def scenes():
    for _ in range(160):
        yield (rng.random((64, 64, 3), dtype=np.float32), rng.integers(0, CLASSES, (64, 64), dtype=np.int32))


ds = tf.data.Dataset.from_generator(
    scenes, output_signature=(tf.TensorSpec((64, 64, 3), tf.float32), tf.TensorSpec((64, 64), tf.int32))
)
ds = ds.batch(16).cache().prefetch(tf.data.AUTOTUNE)

inp = tf.keras.Input((64, 64, 3))
a = tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
b = tf.keras.layers.Conv2D(64, 3, strides=2, padding="same", activation="relu")(a)
c = tf.keras.layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu")(b)
net = tf.keras.Model(inp, tf.keras.layers.Conv2D(CLASSES, 1)(tf.keras.layers.Concatenate()([a, c])))


@tf.function
def confusion(images, truth):
    guess = tf.argmax(net(images, training=False), axis=-1, output_type=tf.int32)
    return tf.math.confusion_matrix(tf.reshape(truth, [-1]), tf.reshape(guess, [-1]), CLASSES)


for name in ("as is", "flipped", "dark"):
    table = tf.zeros((CLASSES, CLASSES), tf.int32)
    for _ in range(8):
        for images, truth in ds:
            if name == "flipped":
                images, truth = images[:, :, ::-1], truth[:, :, ::-1]
            elif name == "dark":
                images = images * 0.4
            table += confusion(images, truth)
    m = table.numpy().astype(float)
    iou = np.diag(m) / (m.sum(0) + m.sum(1) - np.diag(m))
    print(f"{name}: accuracy {np.trace(m) / m.sum():.4f}, mean IoU {np.nanmean(iou):.4f}")
