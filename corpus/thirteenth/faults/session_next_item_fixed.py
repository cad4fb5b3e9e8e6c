# Session based recommendation: which item will be opened next?
# Input: the last 40 items of a session, target: item number 41.
import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(11)

N_ITEMS = 12000
MAXLEN = 40
EMB = 64
UNITS = 64
BATCH = 64
SESSIONS = 6400
EPOCHS = 1


def synth_sessions(n, seed):
    """Random walks over a ring of categories; good enough to show learning."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, N_ITEMS, size=(n, 1))
    hops = rng.integers(1, 6, size=(n, MAXLEN)).cumsum(axis=1)
    walk = (np.concatenate([start, start + hops], axis=1)) % N_ITEMS
    return walk[:, :MAXLEN].astype("int32"), walk[:, MAXLEN].astype("int32")


class LastStep(layers.Layer):
    """Keep what belongs to the last click."""

    def call(self, x):
        return x[:, -1, :]

    def compute_output_shape(self, s):
        return (s[0], s[2])


def build():
    inp = keras.Input((MAXLEN,), dtype="int32")
    h = layers.Embedding(N_ITEMS, EMB, name="items")(inp)
    h = layers.GRU(UNITS, return_sequences=True)(h)
    h = layers.LayerNormalization()(h)
    h = LastStep()(h)
    out = layers.Dense(N_ITEMS, name="scores")(h)
    return keras.Model(inp, out)


x, y = synth_sessions(SESSIONS, 5)
xv, yv = synth_sessions(640, 6)

ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(SESSIONS, seed=1).batch(BATCH).prefetch(2)
val = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(BATCH).prefetch(2)

model = build()
model.summary()
model.compile(
    optimizer=keras.optimizers.Adagrad(0.05),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseTopKCategoricalAccuracy(k=20, name="hit20")],
)

hist = model.fit(ds, validation_data=val, epochs=EPOCHS, verbose=2)

for e, (tr, va) in enumerate(zip(hist.history["loss"], hist.history["val_loss"])):
    print(f"epoch {e}: loss {tr:.4f}  val {va:.4f}")
best = hist.history["val_hit20"][-1]
print("hit@20 on held-out sessions:", round(float(best), 4))
