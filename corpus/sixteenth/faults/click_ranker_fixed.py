"""Click prediction from an in-memory log of impressions (wide & deep)."""
import numpy as np
import tensorflow as tf

SEED = 5
N_TRAIN, N_VAL = 18_000, 3_000
N_USERS, N_ITEMS, N_HOURS = 3000, 800, 24
tf.keras.utils.set_random_seed(SEED)


def make_log(n, seed):
    r = np.random.default_rng(seed)
    log = {
        "user": r.integers(0, N_USERS, n).astype(np.int32),
        "item": r.integers(0, N_ITEMS, n).astype(np.int32),
        "hour": r.integers(0, N_HOURS, n).astype(np.int32),
        "price": r.gamma(2.0, 1.0, n).astype(np.float32),
        "context": r.normal(size=(n, 12)).astype(np.float32),
    }
    logit = 0.8 * log["context"][:, 0] - 0.5 * log["price"] + 0.03 * (log["item"] % 30)
    click = (r.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return log, click


def make_dataset(log, click, batch_size, shuffle):
    ds = tf.data.Dataset.from_tensor_slices((log, click))
    if shuffle:
        ds = ds.shuffle(10_000, seed=SEED)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def make_model():
    keys = {
        "user": tf.keras.Input((), dtype="int32", name="user"),
        "item": tf.keras.Input((), dtype="int32", name="item"),
        "hour": tf.keras.Input((), dtype="int32", name="hour"),
        "price": tf.keras.Input((), name="price"),
        "context": tf.keras.Input((12,), name="context"),
    }
    parts = [
        tf.keras.layers.Embedding(N_USERS, 16)(keys["user"]),
        tf.keras.layers.Embedding(N_ITEMS, 16)(keys["item"]),
        tf.keras.layers.Embedding(N_HOURS, 4)(keys["hour"]),
        tf.keras.layers.Reshape((1,))(keys["price"]),
        keys["context"],
    ]
    x = tf.keras.layers.Concatenate()(parts)
    deep = tf.keras.layers.Dense(64, activation="relu")(x)
    deep = tf.keras.layers.Dense(32, activation="relu")(deep)
    out = tf.keras.layers.Dense(1, activation="sigmoid")(
        tf.keras.layers.Concatenate()([deep, keys["context"]]))
    return tf.keras.Model(keys, out)


def main():
    train = make_dataset(*make_log(N_TRAIN, 1), batch_size=256, shuffle=True)
    val = make_dataset(*make_log(N_VAL, 2), batch_size=1024, shuffle=False)
    model = make_model()
    model.compile(tf.keras.optimizers.Adam(2e-3), "binary_crossentropy",
                  metrics=[tf.keras.metrics.AUC(name="auc", num_thresholds=100)])
    hist = model.fit(train, validation_data=val, epochs=3, verbose=2)
    print("best val auc %.4f" % max(hist.history["val_auc"]))


if __name__ == "__main__":
    main()
