"""Insurance claims: wide MLP on numeric + categorical columns, NumPy arrays straight into fit."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers, optimizers

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

N = 40_000
CARDINALITY = {"region": 22, "vehicle": 11, "occupation": 300, "channel": 6}

numeric = rng.normal(size=(N, 24)).astype("float32")
codes = {k: rng.integers(0, c, N).astype("int32") for k, c in CARDINALITY.items()}
effect = {k: rng.normal(size=c) for k, c in CARDINALITY.items()}
risk = numeric[:, :6].sum(1) * 0.3 + sum(effect[k][codes[k]] for k in codes) * 0.4
claims = rng.poisson(np.exp(np.clip(risk - 1.0, -4, 2))).astype("float32")

num_in = Input((24,), name="numeric")
cat_in = {k: Input((), dtype="int32", name=k) for k in CARDINALITY}
parts = [num_in] + [
    layers.Embedding(c, min(16, c // 2 + 1))(cat_in[k]) for k, c in CARDINALITY.items()
]
h = layers.Concatenate()(parts)
for width in (768, 768, 384):
    h = layers.Dense(width, activation="swish")(h)
    h = layers.Dropout(0.1)(h)
rate = layers.Dense(1, activation="exponential", name="rate")(h)

model = Model({"numeric": num_in, **cat_in}, rate)
model.compile(optimizer=optimizers.Adam(1e-3), loss="poisson", steps_per_execution=8)

features = {"numeric": numeric, **codes}
cut = int(0.9 * N)
train = {k: v[:cut] for k, v in features.items()}
held = {k: v[cut:] for k, v in features.items()}
model.fit(
    train,
    claims[:cut],
    validation_data=(held, claims[cut:]),
    batch_size=512,
    epochs=4,
    verbose=2,
)
pred = model.predict(held, batch_size=2048, verbose=0)[:, 0]
print("held-out: actual %.4f expected %.4f" % (claims[cut:].mean(), pred.mean()))
