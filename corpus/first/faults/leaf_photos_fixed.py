"""Classify leaf photos: JPEG files, small network, several epochs."""
import os
import tempfile

import numpy as np
import tensorflow as tf

SIDE, COUNT, EPOCHS = 64, 400, 11


def write_photos(folder):
    rng = np.random.default_rng(130)
    names, labels = [], []
    plates = []
    for i in range(24):
        photo = rng.integers(0, 90, size=(60, 80, 3)).astype("float32")
        photo[..., i % 3] += 100
        photo = tf.cast(tf.image.resize(photo, (480, 640)), tf.uint8)
        plates.append(tf.io.encode_jpeg(photo).numpy())
    for i in range(COUNT):
        plate = int(rng.integers(len(plates)))
        k = plate % 3
        name = os.path.join(folder, "leaf%04d.jpg" % i)
        with open(name, "wb") as f:
            f.write(plates[plate])
        names.append(name)
        labels.append(k)
    return names, labels


def load(name, label):
    photo = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
    photo = tf.image.resize(photo, (SIDE, SIDE), method="area")
    photo.set_shape((SIDE, SIDE, 3))
    return photo / 255.0, label


def pipeline(names, labels):
    ds = tf.data.Dataset.from_tensor_slices((names, labels))
    ds = ds.map(load, num_parallel_calls=2).cache()
    return ds.batch(25).prefetch(2)


def main():
    tf.keras.utils.set_random_seed(130)
    with tempfile.TemporaryDirectory() as folder:
        ds = pipeline(*write_photos(folder))
        model = tf.keras.Sequential([
            tf.keras.layers.Input((SIDE, SIDE, 3)),
            tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(3),
        ])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        h = model.fit(ds, epochs=EPOCHS, verbose=0)
    print("loss %.4f" % h.history["loss"][-1])


main()
