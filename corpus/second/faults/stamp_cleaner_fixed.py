"""Clean scanned stamps and describe their colours."""
import numpy as np
import tensorflow as tf


class StampCleaner:
    def __init__(self, gamma):
        self.gamma = gamma

    @tf.function(reduce_retracing=True)
    def clean(self, pictures):
        pictures = tf.image.adjust_contrast(pictures, 1.4)
        pictures = tf.clip_by_value(pictures, 0.0, 1.0) ** self.gamma
        pictures = tf.image.resize(pictures, (40, 40))
        pictures -= tf.reduce_min(pictures, axis=(1, 2), keepdims=True)
        pictures /= tf.reduce_max(pictures, axis=(1, 2), keepdims=True) + 1e-6
        colours = tf.image.rgb_to_hsv(pictures)
        edges = tf.image.sobel_edges(pictures)
        strength = tf.reduce_mean(tf.sqrt(tf.reduce_sum(edges ** 2, axis=-1)), axis=(1, 2, 3))
        return tf.concat([tf.reduce_mean(colours, axis=(1, 2)), strength[:, None]], axis=1)

    def clean_all(self, pictures):
        features = []
        for start in range(0, len(pictures), 128):
            features.append(self.clean(tf.constant(pictures[start:start + 128])).numpy())
        return np.concatenate(features)


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
