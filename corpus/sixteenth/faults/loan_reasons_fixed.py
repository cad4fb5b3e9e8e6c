"""Reason codes for declined loan applications (occlusion of one field at a time)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

FIELDS = ["income", "debt", "age", "tenure", "cards", "limit", "late30", "late60",
          "inquiries", "mortgage", "savings", "dependents"]
rng = np.random.default_rng(11)
keras.utils.set_random_seed(11)


def make_applications(n):
    x = rng.normal(size=(n, len(FIELDS))).astype("float32")
    score = 1.4 * x[:, 0] - 1.1 * x[:, 1] - 0.8 * x[:, 6] - 1.2 * x[:, 7] + 0.3 * x[:, 0] * x[:, 10]
    y = (score + rng.normal(scale=0.7, size=n) > 0).astype("float32")
    return x, y


def build_model():
    model = keras.Sequential([
        keras.layers.Input((len(FIELDS),)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


def occluded_copies(row, reference):
    """The row itself, then one copy per field with that field set to the reference value."""
    block = np.repeat(row[None, :], len(FIELDS) + 1, axis=0)
    for j in range(len(FIELDS)):
        block[j + 1, j] = reference[j]
    return block


def reasons_for(declined, model, reference):
    blocks = np.concatenate([occluded_copies(row, reference) for row in declined])
    p = model.predict(blocks, batch_size=512, verbose=0)[:, 0]
    p = p.reshape(len(declined), len(FIELDS) + 1)
    return p[:, 1:] - p[:, :1]


def main():
    x, y = make_applications(12000)
    model = build_model()
    model.fit(x[:10000], y[:10000], batch_size=256, epochs=3, verbose=0)

    holdout = x[10000:]
    p = model.predict(holdout, batch_size=512, verbose=0)[:, 0]
    declined = holdout[p < 0.5][:220]
    approved_mean = x[:10000][y[:10000] == 1].mean(axis=0)

    effects = reasons_for(declined, model, approved_mean)
    top = np.argsort(-effects, axis=1)[:, :3]
    counts = np.bincount(top[:, 0], minlength=len(FIELDS))
    print("declined applications explained:", len(declined))
    for j in np.argsort(-counts)[:5]:
        print(f"  main reason {FIELDS[j]:<11} {counts[j]:4d}  mean effect {effects[:, j].mean():+.3f}")


if __name__ == "__main__":
    main()
