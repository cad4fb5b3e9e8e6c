"""Small architecture search on tabular data, with mixup drawn anew every epoch."""
import numpy as np
import scipy.stats
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

ROWS = 16384
FEATURES = 64
BATCH = 1024
EPOCHS = 2
SEARCH = ((768, 1), (1024, 1))     # width, depth


def make_table():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS + 8192, FEATURES), dtype=np.float32)
    w = rng.normal(size=(FEATURES, 12)) / 8
    score = np.tanh(x @ w).sum(1) + x[:, 0] * x[:, 1]
    y = (score + rng.normal(0, 0.5, len(x)) > 0).astype(np.float32)
    return (x[:ROWS], y[:ROWS]), (x[ROWS:], y[ROWS:])


class MixupSequence(keras.utils.PyDataset):
    """Convex combinations of random pairs of rows; new pairs in each epoch."""

    def __init__(self, x, y, alpha, seed):
        super().__init__()
        self.x, self.y, self.alpha = x, y, alpha
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return len(self.x) // BATCH

    def on_epoch_end(self):
        self.first = self.rng.permutation(len(self.x))
        self.second = self.rng.permutation(len(self.x))
        self.lam = self.rng.beta(self.alpha, self.alpha, len(self.x)).astype(np.float32)

    def __getitem__(self, i):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        a, b, lam = self.first[rows], self.second[rows], self.lam[rows]
        x = lam[:, None] * self.x[a] + (1 - lam[:, None]) * self.x[b]
        return x, lam * self.y[a] + (1 - lam) * self.y[b]


def roc_auc(y, score):
    """Mann-Whitney form of the area under the ROC curve."""
    ranks = scipy.stats.rankdata(score.astype(np.float64))
    positives = y.sum()
    u = ranks[y == 1].sum() - positives * (positives + 1) / 2
    return u / (positives * (len(y) - positives))


def build(width, depth):
    inputs = keras.Input((FEATURES,))
    x = layers.Dense(width)(inputs)
    for _ in range(depth):
        h = layers.LayerNormalization()(x)
        h = layers.Dense(width, activation="relu")(h)
        x = layers.add([x, layers.Dense(width)(h)])
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))


def main():
    (x, y), (x_val, y_val) = make_table()
    results = []
    for width, depth in SEARCH:
        keras.utils.set_random_seed(7)
        model = build(width, depth)
        model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
        history = model.fit(MixupSequence(x, y, 0.2, seed=5), epochs=EPOCHS, shuffle=False, verbose=0)
        loss = history.history["loss"][-1]
        auc = roc_auc(y_val, model.predict(x_val, batch_size=4096, verbose=0)[:, 0])
        results.append((auc, width, depth))
        print(f"width {width} depth {depth}: loss {loss:.4f} auc {auc:.4f}")
        keras.backend.clear_session()
    print("best", max(results)[1:])


if __name__ == "__main__":
    main()
