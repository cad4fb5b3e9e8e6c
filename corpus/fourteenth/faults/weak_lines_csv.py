"""Predict machine failure from a big log in csv form (tf.data + Keras)."""
import os
import tempfile

import numpy as np
import tensorflow as tf
import keras

ROWS = 90_000
COLS = 24
BATCH = 512
EPOCHS = 2
keras.utils.set_random_seed(0)


def write_log(path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, COLS)).round(3)
    w = rng.normal(size=COLS)
    y = (x @ w + rng.normal(size=ROWS) > 1.0).astype(int)
    with open(path, "w") as f:
        f.write(",".join([f"s{i}" for i in range(COLS)] + ["failed"]) + "\n")
        for row, label in zip(x, y):
            f.write(",".join(map(str, row)) + f",{label}\n")


DEFAULTS = [[0.0]] * COLS + [[0]]


def parse_line(line):
    fields = tf.io.decode_csv(line, record_defaults=DEFAULTS)
    features = tf.stack(fields[:COLS], axis=-1)
    return features, fields[COLS]


def clean(features, label):
    # sensors saturate; two of them are logarithmic
    features = tf.clip_by_value(features, -3.0, 3.0)
    heavy = tf.math.log1p(tf.abs(features[..., :2]))
    features = tf.concat([heavy, features[..., 2:]], axis=-1)
    return features, tf.cast(label, tf.float32)


def make_dataset(path):
    ds = tf.data.TextLineDataset(path).skip(1)
    ds = ds.map(parse_line).map(clean)
    ds = ds.batch(BATCH, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


def make_model():
    model = keras.Sequential([
        keras.Input((COLS,)),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
    )
    return model


with tempfile.TemporaryDirectory() as tmp:
    log = os.path.join(tmp, "log.csv")
    write_log(log)
    print("wrote %.1f MB" % (os.path.getsize(log) / 1e6))
    model = make_model()
    model.fit(make_dataset(log), epochs=EPOCHS, verbose=2)
    loss, acc = model.evaluate(make_dataset(log).take(50), verbose=0)
    print("loss %.4f accuracy %.4f" % (loss, acc))
