"""Which columns does the credit model use? Permutation importance after a short training."""
import numpy as np
from tensorflow import keras

FEATURES = 14
NAMES = [f"f{i:02d}" for i in range(FEATURES)]


def make_loans(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES)).astype("float32")
    score = X[:, 0] - 0.7 * X[:, 3] + 0.5 * X[:, 5] * X[:, 6] + rng.logistic(size=n)
    return X, (score > 0).astype("float32")


def accuracy(model, X, y):
    return float(np.mean((model.predict(X, verbose=0)[:, 0] > 0.5) == y))


def permutation_importance(model, X, y, repeats):
    rng = np.random.default_rng(1)
    base = accuracy(model, X, y)
    drops = np.zeros((X.shape[1], repeats))
    for column in range(X.shape[1]):
        for r in range(repeats):
            mixed = X.copy()
            rng.shuffle(mixed[:, column])
            drops[column, r] = base - accuracy(model, mixed, y)
    return drops.mean(1), drops.std(1)


keras.utils.set_random_seed(1)
X, y = make_loans(34000)
X_train, y_train, X_test, y_test = X[:24000], y[:24000], X[24000:], y[24000:]
model = keras.Sequential([
    keras.layers.Input((FEATURES,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=3, batch_size=256, verbose=0)
mean, spread = permutation_importance(model, X_test, y_test, repeats=2)
for i in np.argsort(-mean)[:6]:
    print(f"{NAMES[i]}  {mean[i]:.4f} +- {spread[i]:.4f}")
