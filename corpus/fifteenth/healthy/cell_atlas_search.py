"""Embed a gallery of cell crops and answer nearest-neighbour queries.

The encoder is applied to the whole gallery in large batches, embeddings are
normalised once and the queries go through one matmul per block.
"""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

GALLERY = 12_000
QUERIES = 2400
SIDE = 64
EMBED = 64
TOP = 5


def crops(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    radius = rng.uniform(8, 24, (n, 1, 1)).astype("float32")
    ecc = rng.uniform(0.6, 1.4, (n, 1, 1)).astype("float32")
    d = np.sqrt(((xx - SIDE / 2) * ecc) ** 2 + (yy - SIDE / 2) ** 2)
    img = 1 / (1 + np.exp((d - radius) / 2))
    img += rng.standard_normal((n, SIDE, SIDE), dtype="float32") * 0.05
    return img[..., None], radius[:, 0, 0]


def encoder():
    tf.keras.utils.set_random_seed(21)
    inp = layers.Input((SIDE, SIDE, 1))
    x = inp
    for filters in (16, 32, 64):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inp, layers.Dense(EMBED)(x))


@tf.function
def nearest(gallery, block):
    scores = tf.matmul(block, gallery, transpose_b=True)
    return tf.math.top_k(scores, TOP)


def main():
    net = encoder()
    gallery, gallery_radius = crops(GALLERY, 0)
    query, query_radius = crops(QUERIES, 1)
    g = tf.math.l2_normalize(net.predict(gallery, batch_size=80, verbose=0), axis=1)
    q = tf.math.l2_normalize(net.predict(query, batch_size=80, verbose=0), axis=1)

    error, best = [], []
    for start in range(0, QUERIES, 400):
        top = nearest(g, q[start:start + 400])
        found = gallery_radius[top.indices.numpy()].mean(1)
        error.append(np.abs(found - query_radius[start:start + 400]))
        best.append(top.values[:, 0].numpy())
    print("gallery", GALLERY, "queries", QUERIES)
    print("radius error %.3f px" % np.concatenate(error).mean(),
          "mean best similarity %.5f" % np.concatenate(best).mean())


if __name__ == "__main__":
    main()
