"""Compares the checkpoints kept from one run on the validation photographs and reports the best."""
import argparse
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
CLASSES = 4


def write_photos(folder, count, side):
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[0:side, 0:side].astype("float32") / side
    names, labels = [], []
    for i in range(count):
        label = i % CLASSES
        f = 3 + 4 * label
        wave = np.sin(f * (xx + rng.random())) * np.cos(f * (yy + rng.random()))
        img = np.stack([wave, wave * xx, wave * yy], -1) * 90 + 128 + rng.normal(size=(side, side, 1)) * 8
        data = tf.io.encode_jpeg(tf.constant(img.clip(0, 255).astype("uint8")), quality=92)
        name = folder / f"{i:04d}.jpg"
        name.write_bytes(data.numpy())
        names.append(str(name))
        labels.append(label)
    return names, labels


def load(name, label):
    img = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
    img = tf.image.resize(tf.cast(img, tf.float32), (64, 64), method="area")
    return tf.image.per_image_standardization(img), label


def validation_set(names, labels):
    ds = tf.data.Dataset.from_tensor_slices((names, labels))
    ds = ds.map(load, num_parallel_calls=AUTOTUNE)
    return ds.batch(32).cache().prefetch(AUTOTUNE)


def make_model():
    L = tf.keras.layers
    return tf.keras.Sequential([
        L.Input((64, 64, 3)),
        L.Conv2D(12, 5, strides=2, activation="relu"),
        L.Conv2D(16, 3, strides=2, activation="relu"),
        L.GlobalAveragePooling2D(),
        L.Dense(CLASSES),
    ])


def store_checkpoints(model, folder, n):
    files = []
    final = model.get_weights()
    rng = np.random.default_rng(1)
    for k in range(n):
        model.set_weights([w + rng.normal(scale=0.02 * (n - k), size=w.shape) for w in final])
        files.append(str(folder / f"step{k:02d}.weights.h5"))
        model.save_weights(files[-1])
    return files


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--photos", type=int, default=160)
    ap.add_argument("--side", type=int, default=640)
    ap.add_argument("--checkpoints", type=int, default=36)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(0)

    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        names, labels = write_photos(folder, args.photos, args.side)
        model = make_model()
        model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy"])
        files = store_checkpoints(model, folder, args.checkpoints)
        val = validation_set(names, labels)
        rows = []
        for f in files:
            model.load_weights(f)
            loss, acc = model.evaluate(val, verbose=0)
            rows.append((loss, acc, pathlib.Path(f).name))
    for loss, acc, name in rows:
        print(f"{name:<24} loss {loss:.4f}  accuracy {acc:.3f}")
    print("best:", min(rows)[2])


if __name__ == "__main__":
    main()
