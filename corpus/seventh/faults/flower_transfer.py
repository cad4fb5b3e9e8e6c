"""Transfer learning: MobileNetV2 backbone (kept frozen) + new classification head on drawn flowers."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SPECIES = ["daisy", "tulip", "rose", "iris", "poppy"]
HUES = np.array([[1, 1, .8], [1, .3, .3], [.9, .1, .4], [.4, .2, .8], [1, .4, .1]], "float32")


def petals(label, size, rng):
    yy, xx = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
    cx, cy = rng.uniform(-0.2, 0.2, 2)
    r, th = np.hypot(xx - cx, yy - cy), np.arctan2(yy - cy, xx - cx)
    n = 3 + 2 * label
    shape = r < 0.35 + 0.25 * np.cos(n * th + rng.uniform(0, 6))
    img = np.full((size, size, 3), (0.1, 0.4, 0.1), "float32")
    img[shape] = HUES[(label + rng.integers(0, 2)) % 5]
    img[r < 0.12] = (0.8, 0.7, 0.1)
    return np.clip(img + rng.normal(0, 0.08, img.shape), 0, 1).astype("float32")


def load_images(n, size, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(SPECIES), n)
    return np.stack([petals(k, size, rng) for k in labels]), labels


def build(size):
    base = keras.applications.MobileNetV2(input_shape=(size, size, 3), include_top=False,
                                          weights=None, alpha=0.5, pooling="avg")
    base.trainable = False
    head = keras.Sequential([
        keras.Input((base.output_shape[-1],)),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(len(SPECIES), activation="softmax"),
    ], name="head")
    return base, head


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train", type=int, default=640)
    ap.add_argument("--test", type=int, default=160)
    ap.add_argument("--size", type=int, default=96)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    keras.utils.set_random_seed(6)
    x_train, y_train = load_images(args.train, args.size, 0)
    x_test, y_test = load_images(args.test, args.size, 1)
    x_train, x_test = x_train * 2 - 1, x_test * 2 - 1

    base, head = build(args.size)
    inputs = keras.Input((args.size, args.size, 3))
    model = keras.Model(inputs, head(base(inputs, training=False)))
    classifier = model
    classifier.compile(optimizer=keras.optimizers.Adam(2e-3),
                       loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    t0 = time.time()
    hist = classifier.fit(x_train, y_train, batch_size=args.batch, epochs=args.epochs, verbose=0)
    print(f"head trained in {time.time() - t0:.1f}s, accuracy {hist.history['accuracy'][-1]:.3f}")

    prob = model.predict(x_test, batch_size=64, verbose=0)
    pred = prob.argmax(1)
    print("test accuracy", round(float(np.mean(pred == y_test)), 3))
    for k, name in enumerate(SPECIES):
        print(f"  {name}: {np.sum(pred[y_test == k] == k)}/{np.sum(y_test == k)}")


if __name__ == "__main__":
    main()
