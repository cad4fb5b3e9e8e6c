"""Metric learning with class-balanced batches of small images."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf


def make_images(classes, per_class, size, seed):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for label in range(classes):
        base = rng.uniform(0, 255, size=(size, size, 3))
        for _ in range(per_class):
            noisy = base + rng.normal(scale=40, size=base.shape)
            images.append(np.clip(noisy, 0, 255).astype("float32"))
            labels.append(label)
    return images, np.array(labels)


class BalancedSampler:
    def __init__(self, images, labels, classes_per_batch, examples_per_class, seed):
        self.images = images
        self.labels = labels
        self.classes = np.unique(labels)
        self.index = {c: np.flatnonzero(labels == c) for c in self.classes}
        self.classes_per_batch = classes_per_batch
        self.examples_per_class = examples_per_class
        self.rng = np.random.default_rng(seed)

    def augment(self, image):
        if self.rng.random() < 0.5:
            image = image[:, ::-1]
        shift = self.rng.integers(-3, 4, size=2)
        return np.roll(image, shift, axis=(0, 1)) / 255.0

    def batch(self):
        x, y = [], []
        for c in self.rng.choice(self.classes, self.classes_per_batch, replace=False):
            for i in self.rng.choice(self.index[c], self.examples_per_class, replace=False):
                x.append(self.augment(self.images[i]))
                y.append(self.labels[i])
        images = tf.convert_to_tensor(np.asarray(x), dtype=tf.float32)
        return images, tf.convert_to_tensor(np.array(y, dtype="int32"))


def build_encoder(size, width):
    return keras.Sequential(
        [
            keras.Input((size, size, 3)),
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(width),
            keras.layers.UnitNormalization(),
        ]
    )


class Trainer:
    def __init__(self, encoder, learning_rate=0.05, margin=0.3):
        self.encoder = encoder
        self.margin = margin
        self.optimizer = keras.optimizers.SGD(learning_rate)
        self.optimizer.build(encoder.trainable_variables)

    def pair_loss(self, vectors, labels):
        distance = 1.0 - tf.matmul(vectors, vectors, transpose_b=True)
        same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
        positive = same * distance
        negative = (1.0 - same) * tf.nn.relu(self.margin - distance)
        return tf.reduce_mean(positive + negative)

    @tf.function(reduce_retracing=True)
    def step(self, images, labels):
        with tf.GradientTape() as tape:
            loss = self.pair_loss(self.encoder(images, training=True), labels)
        variables = self.encoder.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=16)
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()

    keras.utils.set_random_seed(9)
    images, labels = make_images(args.classes, args.per_class, args.image_size, seed=9)
    sampler = BalancedSampler(images, labels, 8, 8, seed=9)
    trainer = Trainer(build_encoder(args.image_size, 32))
    losses = [float(trainer.step(*sampler.batch())) for _ in range(args.steps)]
    print("first", round(losses[0], 5), "last", round(np.mean(losses[-10:]), 5))


if __name__ == "__main__":
    main()
