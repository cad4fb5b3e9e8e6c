"""Grade potatoes by picture with fit; flips and noise come from the pipeline."""
import argparse

import numpy as np
import tensorflow as tf

AUTO = tf.data.AUTOTUNE


def pictures(count, seed):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 3, count)
    images = rng.integers(0, 180, (count, 48, 48, 3)).astype("uint8")
    images[:, 12:36, 12:36, 1] += (grade * 30).astype("uint8")[:, None, None]
    return images, grade.astype("int32")


def augment(images, grade):
    images = tf.image.random_flip_left_right(tf.cast(images, tf.float32) / 255.0)
    return tf.image.random_flip_up_down(images), grade


def pipeline(images, grade, batch):
    ds = tf.data.Dataset.from_tensor_slices((images, grade)).shuffle(len(images), seed=2)
    return ds.batch(batch, drop_remainder=True).map(augment, num_parallel_calls=AUTO).prefetch(AUTO)


def grader():
    c = lambda filters: tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")  # noqa: E731
    return tf.keras.Sequential([
        tf.keras.layers.Input((48, 48, 3)),
        c(24), tf.keras.layers.MaxPooling2D(), c(48), c(48), tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(), tf.keras.layers.Dense(3),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    opts = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    model = grader()
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(pipeline(*pictures(1536, 4), 64), validation_data=tf.data.Dataset.from_tensor_slices(
        pictures(256, 5)).batch(128).map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)),
        epochs=opts.epochs, verbose=2)


if __name__ == "__main__":
    main()
