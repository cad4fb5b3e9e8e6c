"""Evaluates an ordinal severity model on a held-out table."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf


@keras.saving.register_keras_serializable("ordinal")
class CornHead(keras.layers.Layer):
    def __init__(self, num_classes, **kwargs):
        super().__init__(**kwargs)
        self.num_classes = num_classes

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], 1), name="kernel")
        self.bias = self.add_weight(
            shape=(self.num_classes - 1,), initializer="zeros", name="bias"
        )

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel) + self.bias


class OrdinalCrossEntropy(keras.losses.Loss):
    def __init__(self, num_classes, name="ordinal_crossentropy"):
        super().__init__(name=name)
        self.num_classes = num_classes

    def label_to_levels(self, labels):
        labels = tf.cast(tf.reshape(labels, [-1]), tf.int32)
        return tf.sequence_mask(labels, self.num_classes - 1, dtype=tf.float32)

    def call(self, y_true, y_pred):
        levels = self.label_to_levels(y_true)
        levels = tf.ensure_shape(levels, [None, self.num_classes - 1])
        log_p = tf.math.log_sigmoid(y_pred)
        return -tf.reduce_sum(
            log_p * levels + (log_p - y_pred) * (1.0 - levels), axis=1
        )


class MeanAbsoluteErrorLabels(keras.metrics.Metric):
    def __init__(self, name="mae_labels"):
        super().__init__(name=name)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        probs = tf.math.cumprod(tf.sigmoid(y_pred), axis=1)
        labels = tf.reduce_sum(tf.cast(probs > 0.5, tf.float32), axis=1)
        y_true = tf.cast(tf.reshape(y_true, [-1]), tf.float32)
        self.total.assign_add(tf.reduce_sum(tf.abs(labels - y_true)))
        self.count.assign_add(tf.cast(tf.size(y_true), tf.float32))

    def result(self):
        return self.total / self.count


def build_model(features, num_classes):
    return keras.Sequential(
        [
            keras.Input((features,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(16, activation="relu"),
            CornHead(num_classes),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=600000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=1000)
    args = parser.parse_args()

    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    x = rng.normal(size=(args.rows, args.features)).astype("float32")
    y = rng.integers(0, args.classes, size=(args.rows, 1)).astype("int32")

    model = build_model(args.features, args.classes)
    model.compile(
        loss=OrdinalCrossEntropy(args.classes),
        metrics=[MeanAbsoluteErrorLabels()],
        jit_compile=False,
    )
    scores = model.evaluate(x, y, batch_size=args.batch_size, verbose=0, return_dict=True)
    print({k: round(float(v), 4) for k, v in scores.items()})


if __name__ == "__main__":
    main()
