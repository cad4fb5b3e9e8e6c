"""Segment blobs with a compact U-Net; keep the weights of the best epoch."""
import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.keras.utils.set_random_seed(31)


def scenes(n, size, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    cx, cy = rng.uniform(6, size - 6, (2, n, 1, 1))
    ax, ay = rng.uniform(3, 6, (2, n, 1, 1))
    mask = ((xx - cx) / ax) ** 2 + ((yy - cy) / ay) ** 2 < 1.0
    image = 0.4 * rng.normal(size=(n, size, size, 3))
    image[..., 0] += 0.6 * mask
    image[..., 2] -= 0.2 * mask
    return image.astype(np.float32), mask[..., None].astype(np.float32)


def flip(image, mask):
    if tf.random.uniform(()) > 0.5:
        image, mask = tf.reverse(image, [1]), tf.reverse(mask, [1])
    return image, mask


def get_data(args):
    train = tf.data.Dataset.from_tensor_slices(scenes(args.train, args.size, 1))
    train = train.shuffle(args.train).map(flip, num_parallel_calls=tf.data.AUTOTUNE)
    train = train.batch(args.batch_size).prefetch(tf.data.AUTOTUNE)
    valid = tf.data.Dataset.from_tensor_slices(scenes(args.valid, args.size, 2))
    valid = valid.batch(1).prefetch(tf.data.AUTOTUNE)
    return train, valid


def conv(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


def unet(size):
    inp = layers.Input((size, size, 3))
    skips, x = [], inp
    for filters in (4, 8, 12):
        x = conv(x, filters)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv(x, 16)
    for filters, skip in zip((12, 8, 4), reversed(skips)):
        x = layers.UpSampling2D()(x)
        x = conv(layers.Concatenate()([x, skip]), filters)
    return models.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(x))


def soft_dice(y_true, y_pred):
    """Dice of every image."""
    inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
    total = tf.reduce_sum(y_true + y_pred, axis=(1, 2, 3))
    return (2 * inter + 1.0) / (total + 1.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=24)
    parser.add_argument("--train", type=int, default=480)
    parser.add_argument("--valid", type=int, default=1200)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()

    train, valid = get_data(args)
    model = unet(args.size)
    model.compile(optimizer=tf.keras.optimizers.Adam(3e-3),
                  loss="binary_crossentropy", metrics=[soft_dice])
    with tempfile.TemporaryDirectory() as folder:
        best = os.path.join(folder, "best.weights.h5")
        model.fit(train, validation_data=valid, epochs=args.epochs, verbose=2, callbacks=[
            tf.keras.callbacks.ModelCheckpoint(best, monitor="val_soft_dice", mode="max",
                                               save_best_only=True, save_weights_only=True)])
        model.load_weights(best)
    loss, dice = model.evaluate(valid, verbose=0)
    print("best epoch: loss %.4f dice %.4f" % (loss, dice))


if __name__ == "__main__":
    main()
