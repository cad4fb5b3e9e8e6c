# Kaggle-style: severity of insurance claims (regression on 120 anonymised columns)
import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 2024
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, D = 60_000, 120
X = rng.standard_normal((N, D), dtype=np.float32)
w1, w2 = rng.normal(size=(2, D)).astype(np.float32) / np.sqrt(D)
y = np.exp(0.5 * X @ w1 + 0.3 * np.tanh(2 * X @ w2) + rng.normal(0, 0.2, N)).astype(np.float32)
y = np.log1p(y)

folds = np.arange(N) % 10
tr, va = folds != 0, folds == 0


def get_model():
    m = keras.Sequential([
        keras.layers.Input((D,)),
        keras.layers.Dense(768, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(768, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(384, activation="relu"),
        keras.layers.Dense(1),
    ])
    m.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"], jit_compile=False)
    return m


model = get_model()
callbacks = [
    keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
    keras.callbacks.EarlyStopping(patience=6, restore_best_weights=True),
]
model.fit(
    X[tr], y[tr],
    validation_data=(X[va], y[va]),
    batch_size=512,
    epochs=7,
    callbacks=callbacks,
    verbose=2,
)
pred = np.expm1(model.predict(X[va], batch_size=2048, verbose=0)[:, 0])
true = np.expm1(y[va])
print("MAE on original scale: %.4f" % np.abs(pred - true).mean())
deciles = np.quantile(true, np.linspace(0, 1, 11))
which = np.clip(np.digitize(true, deciles) - 1, 0, 9)
bias = np.bincount(which, weights=pred - true, minlength=10) / np.bincount(which, minlength=10)
print("bias by decile:", bias.round(3))
