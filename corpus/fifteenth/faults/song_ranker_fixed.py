"""Two-tower playlist/track retrieval trained on listening events."""
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras


@dataclass
class Args:
    events: int = 60_000
    users: int = 4_000
    tracks: int = 6_000
    dim: int = 32
    batch: int = 512
    epochs: int = 3
    lr: float = 2e-3


def listening_log(a: Args):
    """User numbers are dense; track numbers are the catalogue's own keys."""
    rng = np.random.default_rng(77)
    catalogue = rng.choice(400_000, size=a.tracks, replace=False)
    taste = rng.integers(0, 20, a.users)
    users = rng.integers(0, a.users, a.events)
    shelf = a.tracks // 20
    tracks = catalogue[taste[users] * shelf + rng.integers(0, shelf, a.events)]
    return users.astype("int32"), tracks.astype("int32")


class TwoTower(keras.Model):
    def __init__(self, n_users, n_tracks, dim):
        super().__init__()
        self.user_table = keras.layers.Embedding(n_users, dim)
        self.track_table = keras.layers.Embedding(n_tracks, dim)
        self.user_mlp = keras.Sequential(
            [keras.layers.Dense(64, activation="relu"), keras.layers.Dense(dim)]
        )
        self.track_mlp = keras.Sequential(
            [keras.layers.Dense(64, activation="relu"), keras.layers.Dense(dim)]
        )

    def call(self, inputs):
        users, tracks = inputs
        u = tf.math.l2_normalize(self.user_mlp(self.user_table(users)), axis=-1)
        t = tf.math.l2_normalize(self.track_mlp(self.track_table(tracks)), axis=-1)
        return tf.matmul(u, t, transpose_b=True) / 0.1

    def train_step(self, data):
        with tf.GradientTape() as tape:
            scores = self(data, training=True)
            target = tf.range(tf.shape(scores)[0])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=scores)
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        top10 = tf.reduce_mean(tf.cast(tf.math.in_top_k(target, scores, 10), tf.float32))
        return {"loss": loss, "top10": top10}


def main(a: Args = Args()):
    keras.utils.set_random_seed(8)
    users, tracks = listening_log(a)
    known, tracks = np.unique(tracks, return_inverse=True)
    tracks = tracks.astype("int32")
    n_tracks = len(known)
    ds = (
        tf.data.Dataset.from_tensor_slices((users, tracks))
        .shuffle(a.events, seed=3)
        .batch(a.batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    model = TwoTower(a.users, n_tracks, a.dim)
    model.compile(optimizer=keras.optimizers.Adam(a.lr))
    hist = model.fit(ds, epochs=a.epochs, verbose=2)
    print("last loss", hist.history["loss"][-1])


if __name__ == "__main__":
    main()
