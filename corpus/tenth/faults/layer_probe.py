"""
Which layers of a trained network separate the classes best?

For every image the mean activation of each convolution channel is recorded, then a
Fisher ratio (between-class / within-class variance) is reported per layer.
"""
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_IMAGES = 36
SIDE = 32
CLASSES = 3
PROBED = ["conv1", "conv2", "conv3", "conv4", "conv5"]


def load_network(path=None):
    tf.keras.utils.set_random_seed(17)
    inp = layers.Input((SIDE, SIDE, 3), name="image")
    x = inp
    for i, f in enumerate([16, 16, 32, 32, 48]):
        x = layers.Conv2D(f, 3, padding="same", activation="relu", name=f"conv{i + 1}")(x)
        if i % 2 == 1:
            x = layers.MaxPooling2D(name=f"pool{i + 1}")(x)
    x = layers.GlobalAveragePooling2D(name="gap")(x)
    x = layers.Dense(CLASSES, activation="softmax", name="probs")(x)
    net = tf.keras.Model(inp, x, name="probe_net")
    if path and os.path.exists(path):
        net.load_weights(path)
    return net


def load_images():
    rng = np.random.default_rng(5)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    images, labels = [], []
    for i in range(N_IMAGES):
        k = i % CLASSES
        freq = 0.3 + 0.3 * k
        phase = rng.uniform(0, 6.28)
        if k == 0:
            g = np.sin(freq * xx + phase)
        elif k == 1:
            g = np.sin(freq * yy + phase)
        else:
            g = np.sin(freq * (xx + yy) + phase)
        img = np.stack([g, np.roll(g, 3, 0), rng.normal(0, 0.3, g.shape)], -1)
        images.append(img.astype("float32"))
        labels.append(k)
    return images, np.array(labels)


def get_activations(net, image, layer_name):
    probe = tf.keras.Model(net.input, net.get_layer(layer_name).output)
    act = probe.predict(image[None, ...], verbose=0)
    return act[0]


def channel_means(net, images):
    table = {name: [] for name in PROBED}
    for i, image in enumerate(images):
        for name in PROBED:
            act = get_activations(net, image, name)
            table[name].append(act.mean(axis=(0, 1)))
        if (i + 1) % 12 == 0:
            print(f"{i + 1}/{len(images)} images", file=sys.stderr)
    return {name: np.stack(rows) for name, rows in table.items()}


def fisher_ratio(features, labels):
    overall = features.mean(0)
    between = np.zeros(features.shape[1])
    within = np.zeros(features.shape[1])
    for k in np.unique(labels):
        part = features[labels == k]
        between += len(part) * (part.mean(0) - overall) ** 2
        within += ((part - part.mean(0)) ** 2).sum(0)
    return float(np.mean(between / (within + 1e-8)))


def main():
    net = load_network(sys.argv[1] if len(sys.argv) > 1 else None)
    images, labels = load_images()
    table = channel_means(net, images)
    print("layer    channels  fisher")
    for name in PROBED:
        f = table[name]
        print(f"{name:8s} {f.shape[1]:8d}  {fisher_ratio(f, labels):.4f}")


if __name__ == "__main__":
    main()
