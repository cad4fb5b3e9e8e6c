"""Embed a product photo catalogue (JPEG files) with a convolutional backbone and find near-duplicates."""
import pathlib
import tempfile
import numpy as np
import tensorflow as tf

SIDE, BATCH = 96, 64


def write_catalogue(folder, n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    for i in range(n):
        a, b, c = np.random.default_rng(i // 2).uniform(0.03, 0.4, 3)
        img = np.stack([np.sin(a * xx), np.cos(b * yy), np.sin(c * (xx - yy))], -1) * 100 + 128
        img = (img + rng.normal(0, 4, img.shape)).clip(0, 255).astype(np.uint8)
        tf.io.write_file(str(folder / f"item_{i:05d}.jpg"), tf.io.encode_jpeg(img, quality=85))


def load(path):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.ensure_shape(img, [SIDE, SIDE, 3])


def main():
    tf.keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        write_catalogue(folder, 960, np.random.default_rng(1))
        files = sorted(str(p) for p in folder.glob("*.jpg"))

        backbone = tf.keras.applications.ResNet50(
            input_shape=(SIDE, SIDE, 3), include_top=False, weights=None, pooling="avg")
        inp = tf.keras.Input((SIDE, SIDE, 3), dtype="uint8")
        x = tf.keras.layers.Rescaling(1 / 127.5, offset=-1.0)(inp)
        embedder = tf.keras.Model(inp, backbone(x, training=False))
        embedder.compile(jit_compile=False)

        ds = (tf.data.Dataset.from_tensor_slices(files)
              .map(load, num_parallel_calls=tf.data.AUTOTUNE)
              .batch(BATCH)
              .prefetch(tf.data.AUTOTUNE))
        vectors = embedder.predict(ds, verbose=0)

    vectors -= vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    sim = vectors @ vectors.T
    np.fill_diagonal(sim, -1)
    best = sim.argmax(1)
    print("embedded", vectors.shape)
    print("pairs found: %.1f%%" % (100 * np.mean(best // 2 == np.arange(len(best)) // 2)))


if __name__ == "__main__":
    main()
