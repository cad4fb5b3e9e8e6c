"""Progressive resizing: the same network on 32, 48 and 64 pixel crops, head first."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CLASSES = 4


def make_images(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, CLASSES, n)
    yy, xx = np.mgrid[:64, :64] / 64.0
    images = np.empty((n, 64, 64, 3), np.uint8)
    for i, label in enumerate(labels):
        angle = label * np.pi / CLASSES + rng.normal(0, 0.1)
        wave = np.sin(2 * np.pi * rng.uniform(4, 7) * (xx * np.cos(angle) + yy * np.sin(angle)))
        image = 128 + 50 * wave[..., None] + rng.normal(0, 25, (64, 64, 3))
        images[i] = np.clip(image, 0, 255)
    return images, labels.astype(np.int32)


def dataset(images, labels, size, training):
    resized = tf.image.resize(images, (size, size)).numpy() / 255.0
    ds = tf.data.Dataset.from_tensor_slices((resized.astype(np.float32), labels))
    if training:
        ds = ds.shuffle(len(labels), seed=1)
    ds = ds.batch(64)
    if training:
        ds = ds.map(lambda x, y: (tf.image.random_flip_left_right(tf.image.random_flip_up_down(x, seed=2), seed=3), y),
                    num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def build():
    inputs = tf.keras.Input((None, None, 3))
    x = inputs
    for filters in (16, 32, 48):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling2D()(x)
    body = tf.keras.Model(inputs, x, name="body")
    x = layers.GlobalAveragePooling2D()(body.output)
    outputs = layers.Dense(CLASSES)(x)
    return tf.keras.Model(inputs, outputs), body


def compile_(model, rate):
    model.compile(optimizer=tf.keras.optimizers.Adam(rate),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], jit_compile=False)


def main():
    tf.keras.utils.set_random_seed(8)
    train, test = make_images(500, 0), make_images(128, 1)
    model, body = build()
    folder = tempfile.mkdtemp()
    for size, epochs, frozen in ((32, 1, True), (32, 3, False), (48, 2, False), (64, 2, False)):
        body.trainable = not frozen
        compile_(model, 1e-2 if frozen else 2e-3)
        history = model.fit(dataset(*train, size, True), epochs=epochs, verbose=0,
                            validation_data=dataset(*test, size, False))
        print(size, "val accuracy %.3f" % history.history["val_accuracy"][-1])
        model.save_weights(os.path.join(folder, "stage%d%d.weights.h5" % (size, frozen)))


if __name__ == "__main__":
    main()
