"""Segment leaves with a small U-Net in a training loop of its own."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def double(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
    return x


def unet(side):
    inputs = keras.Input((side, side, 3))
    a = double(inputs, 16)
    b = double(layers.MaxPooling2D()(a), 32)
    c = double(layers.MaxPooling2D()(b), 64)
    b = double(layers.Concatenate()([layers.UpSampling2D()(c), b]), 32)
    a = double(layers.Concatenate()([layers.UpSampling2D()(b), a]), 16)
    return keras.Model(inputs, layers.Conv2D(1, 1)(a))


class Trainer:
    def __init__(self, model, rate):
        self.model, self.optimizer = model, keras.optimizers.Adam(rate)
        self.loss = keras.metrics.Mean()

    @tf.function
    def step(self, images, masks):
        with tf.GradientTape() as tape:
            logits = self.model(images, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(masks, logits))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss.update_state(loss)

    def fit(self, data, epochs):
        for epoch in range(epochs):
            self.loss.reset_state()
            for images, masks in data:
                self.step(images, masks)
            print(f"epoch {epoch + 1}: {float(self.loss.result()):.4f}")


def leaves(count, side):
    rng = np.random.default_rng(9)
    y, x = np.mgrid[:side, :side]
    middle = rng.integers(side // 4, 3 * side // 4, (count, 2, 1, 1))
    masks = ((x - middle[:, 0]) ** 2 + 3 * (y - middle[:, 1]) ** 2 < (side / 4) ** 2).astype("float32")[..., None]
    images = 0.3 * rng.random((count, side, side, 3)) + masks * [0.1, 0.6, 0.2]
    return images.astype("float32"), masks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=48)
    parser.add_argument("--count", type=int, default=480)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    keras.utils.set_random_seed(9)
    data = tf.data.Dataset.from_tensor_slices(leaves(args.count, args.side))
    data = data.shuffle(args.count).batch(16, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    Trainer(unet(args.side), 1e-3).fit(data, args.epochs)


if __name__ == "__main__":
    main()
