# House prices, tabular MLP with entity embeddings.  Kaggle-style, K-fold = single split.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2023)
N = 40000
CAT = {"district": 120, "type": 8, "heating": 6}
NUM = 24


def load_table():
    rng = np.random.default_rng(0)
    cats = {k: rng.integers(0, n, N).astype("int32") for k, n in CAT.items()}
    num = rng.normal(size=(N, NUM)).astype("float32")
    effect = {k: rng.normal(0, 0.4, n) for k, n in CAT.items()}
    w = rng.normal(0, 0.2, NUM)
    price = 5 + num @ w + 0.3 * np.tanh(num[:, 0] * num[:, 1])
    for k in CAT:
        price = price + effect[k][cats[k]]
    return {**cats, "num": num}, (price + rng.normal(0, 0.1, N)).astype("float32")


def take(table, idx):
    return {k: v[idx] for k, v in table.items()}


def build():
    inputs = {k: keras.Input((), dtype="int32", name=k) for k in CAT}
    inputs["num"] = keras.Input((NUM,), name="num")
    parts = [layers.Embedding(n, 16)(inputs[k]) for k, n in CAT.items()]
    x = layers.Concatenate()(parts + [inputs["num"]])
    for units in (768, 768, 384):
        x = layers.Dense(units, activation="relu")(x)
    out = layers.Dense(1)(x)
    model = keras.Model(inputs, out)
    model.compile(keras.optimizers.Adam(1e-3), loss="mse")
    return model


table, price = load_table()
perm = np.random.default_rng(1).permutation(N)
tr, va = perm[:34000], perm[34000:]
x_va, y_va = take(table, va), price[va]

model = build()
stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
model.fit(take(table, tr), price[tr], validation_data=(x_va, y_va),
          epochs=6, batch_size=512, callbacks=[stop], verbose=2)

pred = model.predict(x_va, batch_size=2048, verbose=0)[:, 0]
rmse = float(np.sqrt(np.mean((pred - y_va) ** 2)))
print("validation RMSE: %.4f" % rmse)
for k, n in CAT.items():
    err = np.bincount(x_va[k], weights=np.abs(pred - y_va), minlength=n)
    cnt = np.bincount(x_va[k], minlength=n)
    worst = int(np.argmax(err / np.maximum(cnt, 1)))
    print(f"worst {k}: {worst}  mae {err[worst] / max(cnt[worst], 1):.4f}")
