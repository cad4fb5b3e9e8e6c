"""Finds near duplicates in a photo collection: features from a network, then one cosine search."""
import numpy as np
import tensorflow as tf

SIDE = 96
N = 640
BATCH = 64


def collection(seed=0):
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 255, size=(N // 2, 12, 12, 3)).astype("float32")
    base = tf.image.resize(small, (SIDE, SIDE), method="bicubic").numpy()
    twin = base[:, :, ::-1] * 0.9 + rng.normal(scale=4, size=base.shape)
    return np.concatenate([base, twin]).clip(0, 255).astype("uint8")


def extractor():
    tf.keras.utils.set_random_seed(1)
    inp = tf.keras.Input((SIDE, SIDE, 3), dtype="uint8")
    x = tf.keras.layers.Rescaling(1 / 127.5, offset=-1)(inp)
    for width in (48, 96, 192):
        x = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.MaxPooling2D()(x)
    return tf.keras.Model(inp, tf.keras.layers.GlobalAveragePooling2D()(x))


@tf.function
def nearest(unit, k):
    sims = tf.matmul(unit, unit, transpose_b=True)
    sims = tf.linalg.set_diag(sims, tf.fill([tf.shape(unit)[0]], -1.0))
    return tf.math.top_k(sims, k=k)


photos = collection()
features = extractor().predict(photos, batch_size=BATCH, verbose=0)
features -= features.mean(axis=0)
unit = tf.math.l2_normalize(tf.constant(features), axis=1)
values, ids = nearest(unit, 5)
partner = (np.arange(N) + N // 2) % N
hit1 = (ids.numpy()[:, 0] == partner).mean()
hit5 = (ids.numpy() == partner[:, None]).any(axis=1).mean()
print(f"{N} photos, features {features.shape[1]}; twin found first {hit1:.3f}, among five {hit5:.3f}")
