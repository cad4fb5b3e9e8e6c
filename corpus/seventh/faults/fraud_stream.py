"""Card-fraud detection from transaction rows that come out of a (simulated) warehouse cursor."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

COLUMNS = ["amount", "hour", "merchant_risk", "distance", "n_last_day", "n_last_hour",
           "foreign", "age_account", "limit_used", "device_age", "chip", "declined"]


class Warehouse:
    """Holds the table column-wise and hands it out in pages, like a database cursor."""

    def __init__(self, n_rows, seed):
        rng = np.random.default_rng(seed)
        self.table = rng.normal(size=(n_rows, len(COLUMNS))).astype("float32")
        score = self.table[:, 0] + 1.5 * self.table[:, 2] + self.table[:, 5] * self.table[:, 6]
        self.label = (score + rng.normal(0, 1, n_rows) > 3.2).astype("float32")

    def pages(self, start, stop, page=1024):
        for i in range(start, stop, page):
            j = min(i + page, stop)
            yield self.table[i:j], self.label[i:j]


def stream(warehouse, start, stop, batch_size, shuffle):
    def rows():
        for features, labels in warehouse.pages(start, stop):
            for f, l in zip(features, labels):
                yield f, l

    ds = tf.data.Dataset.from_generator(
        rows,
        output_signature=(tf.TensorSpec([len(COLUMNS)], tf.float32), tf.TensorSpec([], tf.float32)))
    if shuffle:
        ds = ds.shuffle(8192, seed=1)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def make_model(class_prior):
    bias = keras.initializers.Constant(np.log(class_prior / (1 - class_prior)))
    model = keras.Sequential([
        keras.Input((len(COLUMNS),)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid", bias_initializer=bias),
    ])
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy",
                  metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")])
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=45000)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    keras.utils.set_random_seed(90)
    wh = Warehouse(args.rows, 90)
    cut = int(args.rows * 0.85)
    train = stream(wh, 0, cut, args.batch_size, shuffle=True)
    valid = stream(wh, cut, args.rows, 1024, shuffle=False)
    model = make_model(float(wh.label.mean()))
    t0 = time.time()
    hist = model.fit(train, validation_data=valid, epochs=args.epochs, verbose=0)
    print(f"fit: {time.time() - t0:.1f}s")
    for e in range(args.epochs):
        print(f"epoch {e + 1}: loss {hist.history['loss'][e]:.4f} "
              f"val pr-auc {hist.history['val_pr_auc'][e]:.3f}")
    prob = model.predict(wh.table[cut:], batch_size=2048, verbose=0)[:, 0]
    k = int(wh.label[cut:].sum())
    caught = wh.label[cut:][np.argsort(-prob)[:k]].mean()
    print(f"precision at {k} alerts: {caught:.3f}")


if __name__ == "__main__":
    main()
