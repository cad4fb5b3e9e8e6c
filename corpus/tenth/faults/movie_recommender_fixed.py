"""Implicit-feedback recommender: two towers of latent factors plus a small MLP on top."""
import argparse

import numpy as np
import tensorflow as tf
import keras


class LatentFactors(keras.layers.Layer):
    """Maps an id in [0, count) to a trainable vector."""

    def __init__(self, count, dim, **kwargs):
        super().__init__(**kwargs)
        self.count = count
        self.dim = dim

    def build(self, input_shape):
        self.table = self.add_weight(
            name="table", shape=(self.count, self.dim),
            initializer=keras.initializers.RandomNormal(stddev=0.05, seed=5))

    def call(self, ids):
        return tf.gather(self.table, ids)


class Recommender(keras.Model):
    def __init__(self, n_users, n_movies, dim):
        super().__init__()
        self.users = LatentFactors(n_users, dim, name="users")
        self.movies = LatentFactors(n_movies, dim, name="movies")
        self.mlp = keras.Sequential([
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1),
        ])

    def call(self, inputs):
        u = self.users(inputs[:, 0])
        m = self.movies(inputs[:, 1])
        dot = tf.reduce_sum(u * m, axis=-1, keepdims=True)
        return dot + self.mlp(tf.concat([u, m], axis=-1))


def simulate_interactions(n_users, n_movies, n, seed=0):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_users, 4))
    genre = rng.normal(size=(n_movies, 4))
    users = rng.integers(0, n_users, n)
    movies = (rng.zipf(1.2, n) % n_movies).astype(int)
    score = (taste[users] * genre[movies]).sum(1)
    liked = (score + rng.normal(0, 0.5, n) > 0).astype("float32")
    return np.stack([users, movies], 1).astype("int32"), liked


def hit_rate(model, pairs, liked, k=0.5):
    probs = tf.sigmoid(model.predict(pairs, batch_size=1024, verbose=0)[:, 0]).numpy()
    return float(((probs > k) == (liked > 0.5)).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=15000)
    parser.add_argument("--movies", type=int, default=8000)
    parser.add_argument("--interactions", type=int, default=90000)
    parser.add_argument("--dim", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()

    keras.utils.set_random_seed(13)
    pairs, liked = simulate_interactions(args.users, args.movies, args.interactions)
    cut = int(0.9 * len(pairs))

    model = Recommender(args.users, args.movies, args.dim)
    model.compile(
        optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
    )
    for epoch in range(args.epochs):
        h = model.fit(pairs[:cut], liked[:cut], batch_size=args.batch_size,
                      epochs=epoch + 1, initial_epoch=epoch, verbose=0)
        print(f"epoch {epoch + 1}: loss {h.history['loss'][0]:.4f}")
    print("held-out hit rate: %.4f" % hit_rate(model, pairs[cut:], liked[cut:]))


if __name__ == "__main__":
    main()
