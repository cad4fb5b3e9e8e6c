"""Cut annotated tiles out of scanned slides and store their features."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

TILE = 96
HEIGHT, WIDTH = 1500, 2200


def scan_slides(folder, n=3):
    paths = []
    for i in range(n):
        rng = np.random.RandomState(i)
        coarse = rng.randint(150, 240, (HEIGHT // 20, WIDTH // 20, 3)).astype(np.float32)
        image = tf.image.resize(coarse, (HEIGHT, WIDTH), method="bicubic").numpy()
        image += rng.randint(-10, 11, (HEIGHT, WIDTH, 1))
        jpeg = tf.io.encode_jpeg(np.clip(image, 0, 255).astype(np.uint8), quality=92)
        paths.append(os.path.join(folder, "slide%d.jpg" % i))
        tf.io.write_file(paths[-1], jpeg)
    return paths


def annotations(paths, per_slide=90, seed=9):
    rng = np.random.RandomState(seed)
    files, corners, labels = [], [], []
    for path in paths:
        for _ in range(per_slide):
            files.append(path)
            corners.append((rng.randint(0, HEIGHT - TILE), rng.randint(0, WIDTH - TILE)))
            labels.append(rng.randint(0, 4))
    return np.array(files), np.array(corners, np.int32), np.array(labels, np.int32)


def load_tile(path, corner, label):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    tile = tf.image.crop_to_bounding_box(image, corner[0], corner[1], TILE, TILE)
    tile = tf.image.convert_image_dtype(tile, tf.float32)
    return tile, label


def build_encoder():
    return tf.keras.Sequential([
        tf.keras.Input((TILE, TILE, 3)),
        tf.keras.layers.Conv2D(16, 5, strides=4, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
    ])


def main():
    tf.keras.utils.set_random_seed(3)
    with tempfile.TemporaryDirectory() as tmp:
        files, corners, labels = annotations(scan_slides(tmp))
        ds = tf.data.Dataset.from_tensor_slices((files, corners, labels))
        ds = ds.map(load_tile, num_parallel_calls=tf.data.AUTOTUNE)
        ds = ds.batch(16).prefetch(tf.data.AUTOTUNE)
        encoder = build_encoder()
        features, targets = [], []
        for tiles, y in ds:
            features.append(encoder(tiles, training=False).numpy())
            targets.append(y.numpy())
    features, targets = np.concatenate(features), np.concatenate(targets)
    for label in range(4):
        print(label, (targets == label).sum(), "%.5f" % features[targets == label].mean())


if __name__ == "__main__":
    main()
