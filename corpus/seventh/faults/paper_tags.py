"""Multi-label tagging of paper abstracts from bag-of-words features (custom training loop)."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

CONFIG = dict(docs=12000, vocab=1500, tags=220, batch=256, epochs=4, hidden=192, lr=1e-3, seed=4)


def make_corpus(cfg):
    rng = np.random.default_rng(cfg["seed"])
    tag_freq = 0.3 / np.arange(1, cfg["tags"] + 1) ** 0.6
    tags = rng.random((cfg["docs"], cfg["tags"])) < tag_freq
    loading = np.where(rng.random((cfg["tags"], cfg["vocab"])) < 0.01, rng.gamma(2.0, 1.0), 0)
    rate = 0.02 + tags @ loading * 0.3
    counts = rng.poisson(rate)
    tfidf = np.log1p(counts) * np.log(cfg["docs"] / (1 + (counts > 0).sum(0)))
    return tfidf.astype("float32"), tags.astype("float32")


class Tagger(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.drop = keras.layers.Dropout(0.2)
        self.hidden = keras.layers.Dense(cfg["hidden"], activation="relu")
        self.out = keras.layers.Dense(cfg["tags"], activation="sigmoid")

    def call(self, x, training=False):
        return self.out(self.drop(self.hidden(x), training=training))


def ranking_precision(y_true, y_pred):
    """Label-ranking average precision of each document."""
    above = tf.cast(y_pred[:, None, :] >= y_pred[:, :, None], tf.float32)
    rank = tf.reduce_sum(above, axis=2)
    hits = tf.reduce_sum(above * y_true[:, None, :], axis=2)
    precision = tf.reduce_sum(y_true * hits / rank, axis=1)
    return precision / tf.maximum(tf.reduce_sum(y_true, axis=1), 1.0)


def run(cfg):
    keras.utils.set_random_seed(cfg["seed"])
    x, y = make_corpus(cfg)
    n_val = cfg["docs"] // 6
    train = (tf.data.Dataset.from_tensor_slices((x[n_val:], y[n_val:]))
             .shuffle(cfg["docs"], seed=1).batch(cfg["batch"]).prefetch(2))
    valid = tf.data.Dataset.from_tensor_slices((x[:n_val], y[:n_val])).batch(512)

    model = Tagger(cfg)
    model(x[:1])
    optimizer = keras.optimizers.Adam(cfg["lr"])
    bce = keras.losses.BinaryCrossentropy()
    loss_metric = keras.metrics.Mean()
    train_lrap, val_lrap = keras.metrics.Mean(), keras.metrics.Mean()

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = bce(yb, pred)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        loss_metric.update_state(loss)
        train_lrap.update_state(ranking_precision(yb, pred))

    @tf.function
    def valid_step(xb, yb):
        val_lrap.update_state(ranking_precision(yb, model(xb, training=False)))

    for epoch in range(cfg["epochs"]):
        start = time.time()
        for m in (loss_metric, train_lrap, val_lrap):
            m.reset_state()
        for xb, yb in train:
            train_step(xb, yb)
        for xb, yb in valid:
            valid_step(xb, yb)
        print("epoch %d  loss %.4f  lrap %.3f  val lrap %.3f  (%.1fs)" % (
            epoch + 1, loss_metric.result(), train_lrap.result(), val_lrap.result(), time.time() - start))

    scores = model.predict(x[:n_val], batch_size=1024, verbose=0)
    top = np.argsort(-scores, axis=1)[:, :5]
    hits = np.take_along_axis(y[:n_val], top, 1)
    print("precision@5 %.3f" % hits.mean())


if __name__ == "__main__":
    run(CONFIG)
