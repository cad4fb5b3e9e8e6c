"""Hail claims in three phases: fit the normalisation, train, report by region."""
import numpy as np
import tensorflow as tf


def claims(n, seed):
    rng = np.random.default_rng(seed)
    columns = {
        "area": rng.gamma(2.0, 40.0, n), "stone": rng.gamma(3.0, 0.8, n), "age": rng.integers(0, 60, n),
        "slope": rng.uniform(0, 50, n), "wind": rng.gamma(2.0, 9.0, n),
    }
    damage = 0.02 * columns["area"] * columns["stone"] + 0.05 * columns["age"] + rng.normal(0, 1, n)
    region = rng.integers(0, 6, n)
    return np.stack(list(columns.values()), 1).astype("float32"), damage.astype("float32"), region


features, damage, region = claims(7000, 19)
train_ds = tf.data.Dataset.from_tensor_slices((features, damage))

# Phase 1: mean and variance
normalization = tf.keras.layers.Normalization()
normalization.adapt(train_ds.map(lambda x, y: x).batch(1024))

# Phase 2: training
tf.keras.utils.set_random_seed(19)
model = tf.keras.Sequential([
    tf.keras.layers.Input((5,)), normalization,
    tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mae")
model.fit(train_ds.shuffle(7000, seed=1).batch(128).prefetch(tf.data.AUTOTUNE), epochs=8, verbose=2)

# Phase 3: report
guess = model.predict(features, batch_size=1024, verbose=0)[:, 0]
for r in range(6):
    print("region", r, "bias", round(float(np.mean(guess[region == r] - damage[region == r])), 3))
