"""Pick ten films for every visitor with a two-tower model."""
import numpy as np
import tensorflow as tf


def tower(width, name):
    return tf.keras.Sequential([
        tf.keras.layers.Input((width,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(32),
    ], name=name)


class Shelf(tf.Module):
    def __init__(self, user_width, film_width):
        super().__init__()
        self.user_tower = tower(user_width, "user")
        self.film_tower = tower(film_width, "film")

    @tf.function(reduce_retracing=True)
    def pick(self, users, films, k=10):
        u = self.user_tower(users)
        f = self.film_tower(films)
        scores = tf.matmul(u, f, transpose_b=True)
        return tf.math.top_k(scores, k).indices


class Catalogue:
    def __init__(self, seed, films, visitors):
        rng = np.random.default_rng(seed)
        self.films = rng.normal(size=(films, 48)).astype("float32")
        self.visitors = rng.normal(size=(visitors, 64)).astype("float32")


def main():
    tf.keras.utils.set_random_seed(14)
    data = Catalogue(14, films=1500, visitors=7500)
    shelf = Shelf(64, 48)
    films = tf.constant(data.films)
    picks = []
    for start in range(0, len(data.visitors), 50):
        batch = tf.constant(data.visitors[start:start + 50])
        picks.append(shelf.pick(batch, films).numpy())
    picks = np.concatenate(picks)
    top = np.bincount(picks.ravel(), minlength=1500)
    print("lists", picks.shape, "most picked", int(top.argmax()), int(top.max()))


if __name__ == "__main__":
    main()
