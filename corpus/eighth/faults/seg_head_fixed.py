# Light segmentation head over a coarse feature map, trained on synthetic blobs.
import sys
import time

import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
L = tf.keras.layers
tf.keras.utils.set_random_seed(1)

SIZE, CLASSES, STEPS = 128, 12, 28


def blobs(n, seed):
    """Images with coloured discs; the mask holds the class of each disc."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    img = rng.normal(0, 0.1, (n, SIZE, SIZE, 3)).astype("float32")
    msk = np.zeros((n, SIZE, SIZE), "int32")
    for i in range(n):
        for _ in range(5):
            c = rng.integers(1, CLASSES)
            cy, cx, r = rng.integers(0, SIZE, 2).tolist() + [int(rng.integers(6, 24))]
            disc = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
            msk[i][disc] = c
            img[i][disc] += [c / CLASSES, (c % 3) / 3, (c % 5) / 5]
    return img, msk


def build():
    inp = L.Input((SIZE, SIZE, 3))
    x = L.Conv2D(32, 4, strides=4, activation="relu")(inp)
    x = L.Conv2D(64, 2, strides=2, activation="relu")(x)
    x = L.Conv2D(256, 2, strides=2, activation="relu")(x)
    x = L.Conv2D(CLASSES, 1, name="logits")(x)
    x = L.UpSampling2D(16, interpolation="bilinear")(x)
    return tf.keras.Model(inp, x)


images, masks = blobs(64, seed=5)
ds = tf.data.Dataset.from_tensor_slices((images, masks)).shuffle(64).repeat().batch(8).prefetch(1)
net = build()
opt = tf.keras.optimizers.Adam(1e-3)
xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(img, msk):
    with tf.GradientTape() as tape:
        loss = xent(msk, net(img, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for step, (img, msk) in enumerate(ds.take(STEPS)):
    loss = train_step(img, msk)
    if step % 10 == 0:
        print("step %3d  loss %.4f" % (step, float(loss)))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
