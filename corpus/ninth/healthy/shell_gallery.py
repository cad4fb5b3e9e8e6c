"""Index a gallery of sea-shell photos with a conv encoder and look up the queries."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)

KINDS, SIDE = 40, 64
prototype = rng.integers(0, 256, (KINDS, 8, 8, 3))


def photos(n):
    kind = rng.integers(0, KINDS, n)
    small = prototype[kind] + rng.normal(0, 40, (n, 8, 8, 3))
    big = small.repeat(8, axis=1).repeat(8, axis=2)
    return np.clip(big, 0, 255).astype("uint8"), kind


encoder = tf.keras.Sequential([
    tf.keras.Input((SIDE, SIDE, 3), dtype="uint8"),
    layers.Rescaling(1 / 127.5, offset=-1.0),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(2),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(2),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.AveragePooling2D(4),
    layers.Flatten(),
])
encoder.compile(jit_compile=False)

gallery, gallery_kind = photos(3600)
query, query_kind = photos(600)
g = encoder.predict(gallery, batch_size=64, verbose=0)
q = encoder.predict(query, batch_size=64, verbose=0)
centre = g.mean(axis=0)
g = tf.math.l2_normalize(g - centre, axis=1)
q = tf.math.l2_normalize(q - centre, axis=1)

score, nearest = tf.math.top_k(tf.matmul(q, g, transpose_b=True), k=5)
votes = gallery_kind[nearest.numpy()]
top1 = (votes[:, 0] == query_kind).mean()
top5 = (votes == query_kind[:, None]).any(axis=1).mean()
print(f"top-1 {top1:.3f} top-5 {top5:.3f} mean similarity {float(tf.reduce_mean(score)):.4f}")
