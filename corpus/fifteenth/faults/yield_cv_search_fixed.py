"""Repeated cross-validation of the learning rate for the crop-yield net.

The architecture is fixed; for each learning rate we run three folds and report the
mean validation error with its spread.
"""
import numpy as np
import tensorflow as tf

RATES = [1e-3, 1e-2]
FOLDS = 3
EPOCHS = 6
BATCH = 40
ROWS = 1200
FEATURES = 24


def field_trials():
    rng = np.random.default_rng(31)
    soil = rng.normal(size=(ROWS, FEATURES)).astype("float32")
    coef = rng.normal(size=FEATURES) / np.sqrt(FEATURES)
    response = soil @ coef + 0.6 * np.tanh(soil[:, 0] * soil[:, 1]) + 0.1 * rng.normal(size=ROWS)
    return soil, response.astype("float32")[:, None]


def yield_net():
    inp = tf.keras.Input((FEATURES,))
    x = tf.keras.layers.BatchNormalization()(inp)
    for width in (64, 64, 32):
        h = tf.keras.layers.Dense(width, activation="swish")(x)
        h = tf.keras.layers.LayerNormalization()(h)
        x = tf.keras.layers.Concatenate()([x, h])
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(x))


def folds(n, k):
    index = np.random.default_rng(0).permutation(n)
    parts = np.array_split(index, k)
    for i in range(k):
        yield np.concatenate([p for j, p in enumerate(parts) if j != i]), parts[i]


def prepare():
    tf.keras.utils.set_random_seed(9)
    model = yield_net()
    model.compile(tf.keras.optimizers.Adam(), "mse")
    model.optimizer.build(model.trainable_variables)
    return model, model.get_weights(), [v.numpy() for v in model.optimizer.variables]


def run_fold(prepared, x, y, train, val, rate):
    model, weights, slots = prepared
    tf.keras.utils.set_random_seed(9)
    model.set_weights(weights)
    for variable, value in zip(model.optimizer.variables, slots):
        variable.assign(value)
    model.optimizer.learning_rate = rate
    model.fit(x[train], y[train], batch_size=BATCH, epochs=EPOCHS, verbose=0)
    return model.evaluate(x[val], y[val], batch_size=BATCH, verbose=0)


def main():
    x, y = field_trials()
    results = {}
    prepared = prepare()
    for rate in RATES:
        errors = [run_fold(prepared, x, y, tr, va, rate) for tr, va in folds(ROWS, FOLDS)]
        results[rate] = (np.mean(errors), np.std(errors))
        print(f"rate {rate:7.4f}  mse {results[rate][0]:.4f} +- {results[rate][1]:.4f}", flush=True)
    best = min(results, key=lambda r: results[r][0])
    print("best rate", best)


if __name__ == "__main__":
    main()
