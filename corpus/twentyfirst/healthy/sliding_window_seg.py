"""Sliding window inference of a 3D segmentation network over whole CT volumes."""
import numpy as np
import tensorflow as tf


def build_net(n_classes=3):
    inputs = tf.keras.Input((None, None, None, 1))
    x = tf.keras.layers.Conv3D(16, 3, padding='same', activation='relu')(inputs)
    skip = x = tf.keras.layers.Conv3D(16, 3, padding='same', activation='relu')(x)
    x = tf.keras.layers.Conv3D(32, 3, strides=2, padding='same', activation='relu')(x)
    x = tf.keras.layers.Conv3D(32, 3, padding='same', activation='relu')(x)
    x = tf.keras.layers.UpSampling3D(2)(x)
    x = tf.keras.layers.Concatenate()([x, skip])
    x = tf.keras.layers.Conv3D(16, 3, padding='same', activation='relu')(x)
    return tf.keras.Model(inputs, tf.keras.layers.Conv3D(n_classes, 1, activation='softmax')(x))


def gaussian_importance(size, sigma_scale=0.125):
    axes = []
    for n in size:
        t = np.arange(n, dtype=np.float64) - (n - 1) / 2.0
        axes.append(np.exp(-0.5 * (t / (sigma_scale * n)) ** 2))
    importance = axes[0][:, None, None] * axes[1][None, :, None] * axes[2][None, None, :]
    return np.maximum(importance, 1e-3)


def window_starts(length, window, overlap):
    stride = int(window * (1 - overlap))
    starts = list(range(0, max(length - window, 0) + 1, stride))
    if starts[-1] != length - window:
        starts.append(length - window)
    return starts


class SlidingWindowInferer(object):
    def __init__(self, model, roi_size, sw_batch_size=4, overlap=0.25):
        self.model = model
        self.roi_size = roi_size
        self.sw_batch_size = sw_batch_size
        self.overlap = overlap
        self.importance = gaussian_importance(roi_size)[..., None]
        self.forward = tf.function(
            lambda x: model(x, training=False),
            input_signature=[tf.TensorSpec((None,) + roi_size + (1,), tf.float32)])

    def __call__(self, volume, n_classes):
        # the sums are kept in double precision: many windows overlap
        total = np.zeros(volume.shape + (n_classes,), np.float64)
        weight = np.zeros(volume.shape + (1,), np.float64)
        slices = []
        for z in window_starts(volume.shape[0], self.roi_size[0], self.overlap):
            for y in window_starts(volume.shape[1], self.roi_size[1], self.overlap):
                for x in window_starts(volume.shape[2], self.roi_size[2], self.overlap):
                    slices.append((slice(z, z + self.roi_size[0]), slice(y, y + self.roi_size[1]),
                                   slice(x, x + self.roi_size[2])))
        for i in range(0, len(slices), self.sw_batch_size):
            group = slices[i:i + self.sw_batch_size]
            patches = np.stack([volume[s] for s in group])[..., None]
            probs = self.forward(patches).numpy()
            for s, p in zip(group, probs):
                total[s] += self.importance * p
                weight[s] += self.importance
        return total / weight


def make_volume(shape, seed):
    rng = np.random.RandomState(seed)
    grid = np.meshgrid(*[np.linspace(-1, 1, n) for n in shape], indexing='ij')
    volume = 0.1 * rng.randn(*shape)
    for _ in range(4):
        centre = rng.uniform(-0.6, 0.6, 3)
        volume += np.exp(-sum((g - c) ** 2 for g, c in zip(grid, centre)) / 0.08)
    return volume.astype(np.float32)


def dice(a, b):
    return 2.0 * np.sum(a & b) / max(np.sum(a) + np.sum(b), 1)


def main():
    tf.keras.utils.set_random_seed(2)
    n_classes = 3
    inferer = SlidingWindowInferer(build_net(n_classes), (32, 32, 32))
    previous = None
    for seed in range(10):
        volume = make_volume((64, 80, 80), seed)
        probs = inferer(volume, n_classes)
        labels = probs.argmax(-1)
        counts = np.bincount(labels.ravel(), minlength=n_classes)
        overlap = [] if previous is None else [round(float(dice(labels == c, previous == c)), 4) for c in range(n_classes)]
        print('volume', seed, 'voxels', counts.tolist(), 'mean', np.round(probs.mean((0, 1, 2)), 5), overlap)
        previous = labels


if __name__ == '__main__':
    main()
