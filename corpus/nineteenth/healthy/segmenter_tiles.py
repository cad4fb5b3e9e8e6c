"""Tiled inference of a small U-Net over a few large micrographs."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def conv(x, n):
    for _ in range(2):
        x = layers.Conv2D(n, 3, padding="same", activation="relu")(x)
    return x


def unet(base=16, classes=3):
    inputs = tf.keras.Input((None, None, 1))
    skips, x = [], inputs
    for depth in range(3):
        x = conv(x, base * 2**depth)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv(x, base * 8)
    for depth in reversed(range(3)):
        x = layers.UpSampling2D(interpolation="bilinear")(x)
        x = layers.Concatenate()([x, skips[depth]])
        x = conv(x, base * 2**depth)
    return tf.keras.Model(inputs, layers.Conv2D(classes, 1)(x))


class TiledPredictor:
    def __init__(self, model, tile=128, halo=16, batch=8):
        self.model = model
        self.tile, self.halo, self.batch = tile, halo, batch
        size = tile + 2 * halo
        spec = tf.TensorSpec([None, size, size, 1], tf.float32)
        self.forward = tf.function(self._forward, input_signature=[spec])

    def _forward(self, tiles):
        h = self.halo
        logits = self.model(tiles, training=False)[:, h:-h, h:-h]
        return tf.argmax(logits, axis=-1, output_type=tf.int32)

    def __call__(self, image):
        h, t = self.halo, self.tile
        padded = np.pad(image, h, mode="reflect")
        corners = [
            (r, c) for r in range(0, image.shape[0], t) for c in range(0, image.shape[1], t)
        ]
        out = np.zeros(image.shape, np.int32)
        for i in range(0, len(corners), self.batch):
            group = corners[i : i + self.batch]
            tiles = np.stack([padded[r : r + t + 2 * h, c : c + t + 2 * h] for r, c in group])
            for (r, c), labels in zip(group, self.forward(tiles[..., None]).numpy()):
                out[r : r + t, c : c + t] = labels
        return out


def micrograph(size, rng):
    yy, xx = np.mgrid[:size, :size].astype(np.float32)
    img = np.zeros((size, size), np.float32)
    for _ in range(25):
        cy, cx, r = rng.uniform(0, size, 2).tolist() + [rng.uniform(8, 30)]
        img += np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))
    return img + rng.normal(0, 0.1, img.shape).astype(np.float32)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    predictor = TiledPredictor(unet())
    for k in range(4):
        labels = predictor(micrograph(768, rng))
        print(k, np.bincount(labels.ravel(), minlength=3).tolist())
