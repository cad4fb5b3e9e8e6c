# Collaborative filtering with matrix factorisation and biases, explicit ratings.
import logging
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("mf")


@dataclass
class Config:
    n_users: int = 120_000
    n_items: int = 60_000
    n_ratings: int = 120_000
    dim: int = 48
    batch_size: int = 512
    epochs: int = 2
    lr: float = 0.5
    l2: float = 1e-6
    seed: int = 3


def synth_ratings(cfg):
    rng = np.random.default_rng(cfg.seed)
    users = rng.integers(0, cfg.n_users, cfg.n_ratings)
    items = np.minimum((rng.pareto(1.1, cfg.n_ratings) * 300).astype("int64"), cfg.n_items - 1)
    ub = rng.normal(0, 0.4, cfg.n_users)
    ib = rng.normal(0, 0.5, cfg.n_items)
    r = 3.5 + ub[users] + ib[items] + rng.normal(0, 0.3, cfg.n_ratings)
    r = np.clip(np.round(r * 2) / 2, 0.5, 5.0)
    return users.astype("int32"), items.astype("int32"), ((r - 0.5) / 4.5).astype("float32")


class RecommenderNet(keras.Model):
    def __init__(self, cfg, **kwargs):
        super().__init__(**kwargs)
        reg = keras.regularizers.l2(cfg.l2)
        self.user_embedding = layers.Embedding(
            cfg.n_users, cfg.dim, embeddings_initializer="he_normal", activity_regularizer=reg)
        self.user_bias = layers.Embedding(cfg.n_users, 1)
        self.item_embedding = layers.Embedding(
            cfg.n_items, cfg.dim, embeddings_initializer="he_normal", activity_regularizer=reg)
        self.item_bias = layers.Embedding(cfg.n_items, 1)

    def call(self, inputs):
        user, item = inputs
        u = self.user_embedding(user)
        v = self.item_embedding(item)
        dot = tf.reduce_sum(u * v, axis=-1, keepdims=True)
        return tf.nn.sigmoid(dot + self.user_bias(user) + self.item_bias(item))


def make_ds(users, items, ratings, cfg, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(((users, items), ratings[:, None]))
    if shuffle:
        ds = ds.shuffle(50_000, seed=cfg.seed)
    return ds.batch(cfg.batch_size).prefetch(2)


def recommend(model, user_id, cfg, k=5):
    u = tf.gather(model.user_embedding.embeddings, user_id)
    scores = tf.linalg.matvec(model.item_embedding.embeddings, u) + model.item_bias.embeddings[:, 0]
    return tf.math.top_k(scores, k).indices.numpy().tolist()


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    users, items, ratings = synth_ratings(cfg)
    cut = int(0.9 * cfg.n_ratings)
    train = make_ds(users[:cut], items[:cut], ratings[:cut], cfg, True)
    valid = make_ds(users[cut:], items[cut:], ratings[cut:], cfg, False)
    log.info("ratings: %d train / %d valid", cut, cfg.n_ratings - cut)

    model = RecommenderNet(cfg)
    model.compile(loss=keras.losses.MeanSquaredError(),
                  optimizer=keras.optimizers.SGD(learning_rate=cfg.lr))
    t0 = time.perf_counter()
    history = model.fit(train, validation_data=valid, epochs=cfg.epochs, verbose=2)
    log.info("fit took %.1fs", time.perf_counter() - t0)
    log.info("val_loss %.4f", history.history["val_loss"][-1])
    for uid in (1, 17, 4242):
        log.info("user %d -> %s", uid, recommend(model, uid, cfg))


if __name__ == "__main__":
    main()
