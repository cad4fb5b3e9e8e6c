"""Leaf disease classifier with on-the-fly augmentation."""
import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
SIZE = 40
N_CLASSES = 5


class Config:
    n_images = 1024
    batch = 64
    epochs = 3
    lr = 1e-3


def fake_leaves(n, seed=9):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLASSES, n)
    images = rng.integers(0, 90, (n, SIZE, SIZE, 3)).astype(np.uint8)
    for i, k in enumerate(labels):
        for _ in range(k + 1):
            r, c = rng.integers(4, SIZE - 8, 2)
            images[i, r : r + 5, c : c + 5, 1] = 230
    return images, labels.astype(np.int32)


def augment(image):
    image = tf.cast(image, tf.float32) / 255.0
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    image = tf.image.random_brightness(image, 0.15)
    image = tf.image.random_contrast(image, 0.8, 1.25)
    image = tf.image.random_saturation(image, 0.8, 1.2)
    image = tf.image.random_crop(image, (SIZE - 8, SIZE - 8, 3))
    return tf.clip_by_value(image, 0.0, 1.0)


def load_train(image, label):
    image = tf.py_function(augment, [image], tf.float32)
    image = tf.ensure_shape(image, (SIZE - 8, SIZE - 8, 3))
    return image, label


def load_eval(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return tf.image.central_crop(image, (SIZE - 8) / SIZE), label


def input_fn(images, labels, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    if training:
        ds = ds.shuffle(len(images), seed=2)
        ds = ds.map(load_train, num_parallel_calls=AUTOTUNE)
    else:
        ds = ds.map(load_eval, num_parallel_calls=AUTOTUNE).cache()
    return ds.batch(cfg.batch).prefetch(AUTOTUNE)


def small_cnn():
    k = tf.keras
    return k.Sequential(
        [
            k.layers.Input((SIZE - 8, SIZE - 8, 3)),
            k.layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
            k.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
            k.layers.GlobalMaxPooling2D(),
            k.layers.Dense(32, activation="relu"),
            k.layers.Dense(N_CLASSES, activation="softmax"),
        ]
    )


def run(cfg):
    tf.keras.utils.set_random_seed(21)
    images, labels = fake_leaves(cfg.n_images)
    split = int(0.9 * len(images))
    train = input_fn(images[:split], labels[:split], cfg, True)
    val = input_fn(images[split:], labels[split:], cfg, False)
    model = small_cnn()
    opt = tf.keras.optimizers.Adam(cfg.lr)
    model.compile(opt, "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
    return model.evaluate(val, verbose=0)


if __name__ == "__main__":
    print("val loss/acc:", run(Config()))
