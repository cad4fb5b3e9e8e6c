"""GRU4Rec-like next-item recommendation from click sessions."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def simulate_sessions(n, n_items, length, rng):
    """Users walk on a ring of items inside a category, with occasional jumps."""
    start = rng.integers(0, n_items, n)
    stride = rng.integers(1, 7, n)
    steps = np.cumsum(np.where(rng.random((n, length)) < 0.1, rng.integers(0, n_items, (n, length)),
                               stride[:, None]), axis=1)
    return ((start[:, None] + steps) % n_items).astype("int32")


def session_model(n_items, dim, units):
    clicks = keras.Input((None,), dtype="int32", name="clicks")
    x = layers.Embedding(n_items, dim)(clicks)
    x = layers.Dropout(0.1)(x)
    x = layers.GRU(units)(x)
    logits = layers.Dense(n_items, name="item_scores")(x)
    return keras.Model(clicks, logits)


class RecallAtK(keras.callbacks.Callback):
    def __init__(self, x, y, k=20):
        super().__init__()
        self.x, self.y, self.k = x, y, k

    def on_epoch_end(self, epoch, logs=None):
        scores = self.model.predict(self.x, batch_size=256, verbose=0)
        top = np.argpartition(-scores, self.k, axis=1)[:, : self.k]
        recall = np.mean(np.any(top == self.y[:, None], axis=1))
        print(f"epoch {epoch + 1}: loss {logs['loss']:.4f}  recall@{self.k} {recall:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--sessions", type=int, default=4500)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--units", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    keras.utils.set_random_seed(77)
    rng = np.random.default_rng(77)
    sessions = simulate_sessions(args.sessions, args.items, args.length + 1, rng)
    x, y = sessions[:, :-1], sessions[:, -1]
    n_test = 512
    train = (tf.data.Dataset.from_tensor_slices((x[n_test:], y[n_test:]))
             .shuffle(args.sessions, seed=1).batch(args.batch_size, drop_remainder=True)
             .prefetch(tf.data.AUTOTUNE))

    model = session_model(args.items, args.dim, args.units)
    model.compile(optimizer=keras.optimizers.Adam(3e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    print(f"{model.count_params():,} parameters, {len(x) - n_test} training sessions")
    t0 = time.time()
    model.fit(train, epochs=args.epochs, verbose=0, callbacks=[RecallAtK(x[:n_test], y[:n_test])])
    print(f"training took {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
