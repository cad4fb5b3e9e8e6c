import os
import tempfile

import numpy as np
import tensorflow as tf

IMG = 72
N_PER_CLASS = 130
SPECIES = ["ash", "beech", "lime", "oak"]
EPOCHS = 14
BATCH = 32


def write_photos(root):
    """Made-up leaf photos: coloured ellipses with veins, saved as JPEG folders."""
    rng = np.random.default_rng(12)
    yy, xx = np.mgrid[0:480, 0:640].astype("float32")
    for k, name in enumerate(SPECIES):
        os.makedirs(os.path.join(root, name))
        for i in range(N_PER_CLASS):
            cx, cy = rng.uniform(220, 420), rng.uniform(180, 300)
            a, b = rng.uniform(120, 180), rng.uniform(40, 60) + 18 * k
            inside = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
            veins = 20 * np.sin((xx + (k + 1) * yy) / 9)
            photo = np.full((480, 640, 3), 200, "float32")
            photo[inside] = (60, 130, 50)
            photo[..., 1] += np.where(inside, veins, 0)
            photo += rng.integers(-12, 12, (480, 640, 1))
            data = tf.io.encode_jpeg(photo.clip(0, 255).astype("uint8"), quality=90)
            tf.io.write_file(os.path.join(root, name, f"{i:04d}.jpg"), data)


def list_photos(root):
    paths, labels = [], []
    for k, name in enumerate(SPECIES):
        folder = os.path.join(root, name)
        for file in sorted(os.listdir(folder)):
            paths.append(os.path.join(folder, file))
            labels.append(k)
    order = np.random.default_rng(3).permutation(len(paths))
    return np.array(paths)[order], np.array(labels)[order]


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, [IMG, IMG], antialias=True)
    return image / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.1)
    return image, label


def make_dataset(paths, labels, training):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(paths), seed=1)
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.batch(BATCH, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


def build_model():
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Input((IMG, IMG, 3)),
        layers.Conv2D(12, 3, strides=2, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(len(SPECIES), activation="softmax"),
    ])


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(4)
    with tempfile.TemporaryDirectory() as root:
        write_photos(root)
        paths, labels = list_photos(root)
        cut = int(0.8 * len(paths))
        train = make_dataset(paths[:cut], labels[:cut], training=True)
        val = make_dataset(paths[cut:], labels[cut:], training=False)

        model = build_model()
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        history = model.fit(train, validation_data=val, epochs=EPOCHS, verbose=2)
    print("best validation accuracy", round(max(history.history["val_accuracy"]), 3))
