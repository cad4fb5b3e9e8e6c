"""Pollen grain classifier: small ResNet with a hand-written training loop."""
import argparse
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def grains(n, size, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32) - size / 2
    label = rng.integers(0, 6, n).astype(np.int32)
    rad = np.hypot(xx, yy)[None]
    ang = np.arctan2(yy, xx)[None] + rng.uniform(0, 6.28, (n, 1, 1))
    edge = size * (0.28 + 0.05 * np.cos((label[:, None, None] + 2) * ang))
    img = 1 / (1 + np.exp((rad - edge) / 1.5)) + rng.normal(0, 0.15, (n, size, size))
    tint = rng.uniform(0.6, 1.0, (n, 1, 1, 3))
    return (img[..., None] * tint).astype(np.float32), label


def residual(x, filters, stride):
    y = layers.Conv2D(filters, 3, stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, 1, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride != 1 or x.shape[-1] != filters:
        x = layers.Conv2D(filters, 1, stride, use_bias=False)(x)
    return layers.ReLU()(layers.Add()([x, y]))


def resnet(size):
    inp = layers.Input((size, size, 3))
    x = layers.Conv2D(32, 3, 2, padding="same", activation="relu")(inp)
    for filters, stride in ((32, 1), (64, 2), (128, 2)):
        x = residual(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inp, layers.Dense(6)(x))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", type=int, default=3000)
    ap.add_argument("--size", type=int, default=48)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(9)
    x, y = grains(args.images, args.size, 0)
    xv, yv = grains(512, args.size, 1)
    train = (tf.data.Dataset.from_tensor_slices((x, y)).shuffle(args.images)
             .batch(args.batch, drop_remainder=True)
             .map(lambda a, b: (tf.image.random_flip_left_right(a), b), num_parallel_calls=tf.data.AUTOTUNE)
             .prefetch(tf.data.AUTOTUNE))
    val = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(256)

    net = resnet(args.size)
    steps = args.images // args.batch
    opt = tf.keras.optimizers.SGD(
        tf.keras.optimizers.schedules.CosineDecay(0.05, steps * args.epochs), momentum=0.9, nesterov=True)
    opt.build(net.trainable_variables)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    mean_loss = tf.keras.metrics.Mean()
    val_acc = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, net(images, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        mean_loss.update_state(loss)

    @tf.function
    def val_step(images, labels):
        val_acc.update_state(labels, net(images, training=False))

    for epoch in range(args.epochs):
        mean_loss.reset_state()
        val_acc.reset_state()
        for images, labels in train:
            train_step(images, labels)
        for images, labels in val:
            val_step(images, labels)
        print("epoch %d loss %.4f val acc %.3f" % (epoch + 1, mean_loss.result(), val_acc.result()))


if __name__ == "__main__":
    main()
