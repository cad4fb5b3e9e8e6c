# sentiment of reviews, two transformer blocks, fixed 128 tokens
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(2)
VOCAB, LEN, DIM, HEADS = 6000, 128, 96, 4


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(200, VOCAB, (n, LEN))
    y = rng.integers(0, 2, n)
    for i in range(n):
        # signed words: 1..99 bad, 100..199 good
        where = rng.choice(LEN, 6, replace=False)
        good = rng.random(6) < (0.85 if y[i] else 0.15)
        x[i, where] = rng.integers(1, 100, 6) + 99 * good
    return x.astype("int32"), y.astype("float32")


class Embed(layers.Layer):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, DIM)
        self.pos = layers.Embedding(LEN, DIM)

    def call(self, x):
        return self.tok(x) + self.pos(keras.ops.arange(LEN))


class Block(layers.Layer):
    def __init__(self, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(HEADS, DIM // HEADS, dropout=rate)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.ff = keras.Sequential([layers.Dense(4 * DIM, activation="gelu"), layers.Dense(DIM), layers.Dropout(rate)])

    def call(self, x, training=False):
        n = self.n1(x)
        x = x + self.att(n, n, training=training)
        return x + self.ff(self.n2(x), training=training)


inp = keras.Input((LEN,), dtype="int32")
h = Embed()(inp)
for _ in range(2):
    h = Block()(h)
h = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(h))
model = keras.Model(inp, layers.Dense(1)(h))

x, y = reviews(64 * 24, 0)
xv, yv = reviews(64 * 4, 1)
schedule = keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=48, warmup_steps=8, warmup_target=1e-3)
model.compile(keras.optimizers.AdamW(schedule),
              keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
h = model.fit(x, y, batch_size=64, epochs=2, validation_data=(xv, yv), verbose=2,
              callbacks=[keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)])
print("best val accuracy", max(h.history["val_binary_accuracy"]))
