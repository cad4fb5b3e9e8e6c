"""Score a weld-inspection network on the hold-out parts.

Every part is photographed from six angles.  A part's probability is the mean
over its views and over the four flips; we report accuracy, AUC and a small
confusion table per defect class.
"""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CLASSES = 5
VIEWS = 6
PARTS = 90
SIZE = 64


def separable_block(x, filters, stride):
    x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    x = layers.Conv2D(filters, 1, use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU(6.0)(x)


def make_network():
    tf.keras.utils.set_random_seed(11)
    inp = layers.Input((SIZE, SIZE, 1))
    x = layers.Rescaling(1 / 127.5, offset=-1.0)(inp)
    x = layers.Conv2D(12, 3, strides=2, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(6.0)(x)
    for filters, stride in [(16, 1), (24, 2), (24, 1), (32, 1), (48, 2), (48, 1), (64, 1), (64, 1)]:
        x = separable_block(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    head = layers.Dense(CLASSES, kernel_initializer=tf.keras.initializers.RandomNormal(0, 40.0))
    return tf.keras.Model(inp, head(x))


def make_parts(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, PARTS)
    base = rng.normal(120, 25, (PARTS, VIEWS, SIZE, SIZE, 1))
    stripes = np.sin(np.arange(SIZE) / 3.0)[None, None, :, None, None] * 10
    photos = base + stripes * labels[:, None, None, None, None]
    return photos.clip(0, 255).astype("uint8"), labels.astype("int64")


def part_probability(network, views):
    views = tf.cast(views, tf.float32)
    variants = [
        views,
        tf.reverse(views, [1]),
        tf.reverse(views, [2]),
        tf.reverse(views, [1, 2]),
    ]
    total = tf.zeros([CLASSES])
    for v in variants:
        logits = network(v, training=False)
        total += tf.reduce_mean(tf.nn.softmax(logits), axis=0)
    return total / len(variants)


def main():
    network = make_network()
    photos, labels = make_parts(5)
    parts = tf.data.Dataset.from_tensor_slices((photos, labels)).prefetch(2)

    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    confusion = np.zeros((CLASSES, CLASSES), dtype=int)
    probabilities = []
    for views, label in parts:
        p = part_probability(network, views)
        probabilities.append(p)
        confusion[int(label), int(tf.argmax(p))] += 1

    probabilities = tf.stack(probabilities)
    accuracy.update_state(labels, probabilities)
    auc = tf.keras.metrics.AUC(multi_label=True, num_labels=CLASSES)
    auc.update_state(tf.one_hot(labels, CLASSES), probabilities)
    print("parts", len(labels), "accuracy %.4f" % float(accuracy.result()),
          "auc %.4f" % float(auc.result()))
    print(confusion)
    print("mean top probability %.5f" % float(tf.reduce_mean(tf.reduce_max(probabilities, 1))))


if __name__ == "__main__":
    main()
