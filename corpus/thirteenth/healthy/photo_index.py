"""Index pictures with a convnet and look for near duplicates."""
import numpy as np
import keras
import tensorflow as tf
from keras import layers


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    small = rng.random((n, 12, 12, 3), dtype=np.float32)
    return tf.image.resize(small, (96, 96), method="bicubic").numpy()


def feature_net():
    inp = keras.Input((96, 96, 3))
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(inp)
    for width in (48, 64, 96):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        y = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(layers.add([x, y]))
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(128)(x)
    return keras.Model(inp, layers.UnitNormalization()(x))


class Index:
    def __init__(self, net):
        self.net = net
        self.vectors = None

    def add(self, imgs):
        v = self.net.predict(imgs, batch_size=64, verbose=0)
        self.vectors = v if self.vectors is None else np.vstack([self.vectors, v])

    def search(self, imgs, k=3):
        q = self.net.predict(imgs, batch_size=64, verbose=0)
        return self._top(tf.constant(q), tf.constant(self.vectors), k)

    @staticmethod
    @tf.function
    def _top(q, v, k):
        return tf.math.top_k(tf.matmul(q, v, transpose_b=True), k)


def main():
    keras.utils.set_random_seed(13)
    idx = Index(feature_net())
    for part in range(3):
        idx.add(pictures(1500, part))
        print("indexed", idx.vectors.shape[0])
    rng = np.random.default_rng(50)
    originals = pictures(1500, 1)[:600]
    noisy = originals + rng.normal(0, 0.02, originals.shape).astype("float32")
    _, ids = idx.search(noisy)
    found = np.mean(ids.numpy()[:, 0] == np.arange(1500, 2100))
    print(f"duplicates found: {found:.3f}")


if __name__ == "__main__":
    main()
