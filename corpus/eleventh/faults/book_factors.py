"""Matrix factorisation for a book-rating table (Goodreads-like sizes)."""
import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras


def make_ratings(n_users, n_books, n_ratings, seed=7):
    rng = np.random.default_rng(seed)
    users = rng.integers(0, n_users, n_ratings).astype("int32")
    # popularity is heavy-tailed
    books = np.minimum(rng.pareto(0.6, n_ratings) * 400, n_books - 1).astype("int32")
    taste = rng.normal(size=(64, 4)).astype("float32")
    kind = rng.normal(size=(64, 4)).astype("float32")
    score = np.sum(taste[users % 64] * kind[books % 64], axis=1)
    ratings = np.clip(np.round(3.4 + 0.5 * score + rng.normal(0, 0.4, n_ratings)), 1, 5)
    return users, books, ratings.astype("float32")


class BookFactors(keras.Model):
    def __init__(self, n_users, n_books, dim=32, l2=1e-6):
        super().__init__()
        reg = keras.regularizers.l2(l2)
        self.user_vectors = keras.layers.Embedding(n_users, dim, embeddings_regularizer=reg)
        self.book_vectors = keras.layers.Embedding(n_books, dim, embeddings_regularizer=reg)
        self.user_bias = keras.layers.Embedding(n_users, 1, embeddings_initializer="zeros")
        self.book_bias = keras.layers.Embedding(n_books, 1, embeddings_initializer="zeros")
        self.l2 = l2

    def call(self, inputs):
        user, book = inputs
        u = self.user_vectors(user)
        b = self.book_vectors(book)
        dot = tf.reduce_sum(u * b, axis=1)
        bias = tf.squeeze(self.user_bias(user) + self.book_bias(book), 1)
        return 3.5 + dot + bias


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=150_000)
    p.add_argument("--books", type=int, default=300_000)
    p.add_argument("--ratings", type=int, default=160_000)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=2048)
    p.add_argument("--lr", type=float, default=0.5)
    args = p.parse_args()

    keras.utils.set_random_seed(1)
    users, books, ratings = make_ratings(args.users, args.books, args.ratings)
    n_val = len(ratings) // 20
    train = (
        tf.data.Dataset.from_tensor_slices(((users[n_val:], books[n_val:]), ratings[n_val:]))
        .shuffle(50_000)
        .batch(args.batch_size, drop_remainder=True)
        .cache()
        .prefetch(tf.data.AUTOTUNE)
    )

    model = BookFactors(args.users, args.books, args.dim)
    model.compile(
        optimizer=keras.optimizers.SGD(args.lr),
        loss="mse",
        metrics=["mae"],
        jit_compile=False,
    )
    model.fit(train, epochs=args.epochs, verbose=2)

    pred = model.predict((users[:n_val], books[:n_val]), batch_size=8192, verbose=0)
    rmse = float(np.sqrt(np.mean((pred.ravel() - ratings[:n_val]) ** 2)))
    print("validation rmse %.4f" % rmse)

    top = np.argsort(-model.book_bias.get_weights()[0][:, 0])[:10]
    print("best liked books:", top.tolist())


if __name__ == "__main__":
    main()
