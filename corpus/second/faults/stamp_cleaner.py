"""Clean scanned stamps and describe their colours."""
import numpy as np
import tensorflow as tf


class StampCleaner:
    def __init__(self, gamma):
        self.gamma = gamma

    def clean(self, picture):
        picture = tf.image.adjust_contrast(picture, 1.4).numpy()
        picture = np.clip(picture, 0.0, 1.0) ** self.gamma
        picture = tf.image.resize(picture, (40, 40)).numpy()
        picture = picture - picture.min(axis=(0, 1), keepdims=True)
        picture = picture / (picture.max(axis=(0, 1), keepdims=True) + 1e-6)
        colours = tf.image.rgb_to_hsv(picture).numpy()
        edges = tf.image.sobel_edges(tf.constant(picture[None])).numpy()
        strength = np.sqrt((edges ** 2).sum(axis=-1)).mean()
        return np.append(colours.mean(axis=(0, 1)), strength)

    def clean_all(self, pictures):
        features = []
        for picture in pictures:
            features.append(self.clean(picture))
        return np.asarray(features)


def scan(count, seed):
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.1, 0.9, size=(count, 1, 1, 3))
    noise = rng.normal(scale=0.1, size=(count, 32, 32, 3))
    return np.clip(base + noise, 0, 1).astype("float32")


def main():
    pictures = scan(3600, 41)
    features = StampCleaner(0.8).clean_all(pictures)
    print("features", features.shape, np.round(features.mean(axis=0), 4))


if __name__ == "__main__":
    main()
