"""Store-sales regression, tabular: one shared embedding table, Normalization adapted once, fit on arrays."""
import logging

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger(__name__)
SIZES = [1000, 12, 7, 4, 31, 53, 3, 2]
keras.utils.set_random_seed(36)


def sales(n, rng):
    cats = np.stack([rng.integers(0, s, n) for s in SIZES], 1)
    nums = rng.lognormal(0, 0.7, (n, 6)).astype("float32")
    effect = [rng.normal(0, 0.3, s) for s in SIZES]
    y = sum(e[cats[:, j]] for j, e in enumerate(effect)) + 0.4 * np.log(nums[:, 0]) - 0.2 * nums[:, 1]
    return cats.astype("int32"), nums, (y + rng.normal(0, 0.1, n)).astype("float32")


def build(normalizer):
    cats, nums = keras.Input((len(SIZES),), dtype="int32"), keras.Input((6,))
    shift = np.cumsum([0] + SIZES[:-1]).astype("int32")
    e = layers.Flatten()(layers.Embedding(sum(SIZES), 16)(cats + shift))
    x = layers.Concatenate()([e, normalizer(nums)])
    for width in (512, 512, 256):
        x = layers.Dense(width, activation="relu")(x)
    return keras.Model([cats, nums], layers.Dense(1)(x))


def main():
    cats, nums, y = sales(60_000, np.random.default_rng(36))
    cut = 54_000
    norm = layers.Normalization()
    norm.adapt(nums[:cut])
    model = build(norm)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    hist = model.fit([cats[:cut], nums[:cut]], y[:cut], batch_size=512, epochs=6,
                     validation_data=([cats[cut:], nums[cut:]], y[cut:]), validation_batch_size=3000, verbose=0,
                     callbacks=[keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)])
    for i, (a, b) in enumerate(zip(hist.history["loss"], hist.history["val_mae"]), 1):
        log.info("epoch %d mse %.4f val mae %.4f", i, a, b)
    pred = model.predict([cats[cut:], nums[cut:]], batch_size=3000, verbose=0)[:, 0]
    log.info("R2 %.3f", 1 - np.var(pred - y[cut:]) / np.var(y[cut:]))


if __name__ == "__main__":
    main()
