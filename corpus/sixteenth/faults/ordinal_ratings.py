"""Ordinal regression of star ratings (cumulative logits, shared slope)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(19)

STARS = 7
FEATURES = 30


class CumulativeHead(keras.layers.Layer):
    """One score, STARS - 1 thresholds."""

    def __init__(self, stars, **kwargs):
        super().__init__(**kwargs)
        self.stars = stars

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 1), name="w")
        self.b = self.add_weight(shape=(self.stars - 1,), initializer="zeros", name="b")

    def call(self, x):
        return tf.matmul(x, self.w) + self.b


def encode(label, stars):
    """3 of 7 stars -> [1, 1, 1, 0, 0, 0]"""
    return tf.cast(tf.range(stars - 1) < label, tf.float32)


class OrdinalLoss(keras.losses.Loss):
    def __init__(self, stars, importance=None):
        super().__init__(name="ordinal")
        self.stars = stars
        w = np.ones(stars - 1) if importance is None else importance
        self.importance = tf.constant(w, tf.float32)

    def call(self, y_true, y_pred):
        labels = tf.cast(tf.reshape(y_true, [-1]), tf.int32)

        def one(args):
            label, logits = args
            levels = encode(label, self.stars)
            ce = tf.nn.sigmoid_cross_entropy_with_logits(levels, logits)
            return tf.reduce_sum(ce * self.importance)

        return tf.map_fn(one, (labels, y_pred), fn_output_signature=tf.float32)


class StarError(keras.metrics.Mean):
    def update_state(self, y_true, y_pred, sample_weight=None):
        stars = tf.reduce_sum(tf.cast(y_pred > 0.0, tf.float32), axis=-1)
        error = tf.abs(stars - tf.cast(tf.reshape(y_true, [-1]), tf.float32))
        return super().update_state(error, sample_weight)


def ratings(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, FEATURES)).astype(np.float32)
    w = np.linspace(-1, 1, FEATURES).astype(np.float32)
    score = np.tanh(x @ w / 3) + 0.3 * x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n)
    edges = np.quantile(score, np.arange(1, STARS) / STARS)
    return x, np.searchsorted(edges, score).astype(np.int32)


x, y = ratings(16_000, 1)
x_test, y_test = ratings(4_000, 2)

inputs = keras.Input((FEATURES,))
h = keras.layers.Dense(128, activation="relu")(inputs)
h = keras.layers.Dropout(0.1)(h)
h = keras.layers.Dense(64, activation="relu")(h)
model = keras.Model(inputs, CumulativeHead(STARS)(h))
model.compile(
    optimizer=keras.optimizers.AdamW(1e-3),
    loss=OrdinalLoss(STARS, importance=np.array([1.2, 1, 1, 1, 1, 1.2])),
    metrics=[StarError(name="mae")],
)
stop = keras.callbacks.EarlyStopping("val_mae", mode="min", patience=4, restore_best_weights=True)
model.fit(x, y, validation_data=(x_test, y_test), batch_size=256, epochs=8, verbose=2, callbacks=[stop])
print("test", model.evaluate(x_test, y_test, batch_size=500, verbose=0, return_dict=True))
