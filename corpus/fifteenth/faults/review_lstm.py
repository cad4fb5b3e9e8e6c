# Sentiment of short product reviews, masked LSTM.
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Bidirectional, Dense, Embedding, Input
from tensorflow.keras.models import Model
from tensorflow.keras.utils import pad_sequences

np.random.seed(4)
tf.random.set_seed(4)

MAX_FEATURES = 4000
BATCH = 64
EPOCHS = 3

# ---------------------------------------------------------------- data
n = 2560
lengths = np.clip(np.random.lognormal(3.0, 0.55, n), 5, 256).astype(int)
lengths[:4] = 256
labels = np.random.randint(0, 2, n)
reviews = []
for length, y in zip(lengths, labels):
    words = np.random.randint(20, MAX_FEATURES, length)
    hits = np.random.rand(length) < 0.2
    words[hits] = np.random.randint(1, 10, hits.sum()) + (10 if y else 0)
    reviews.append(words.tolist())

perm = np.random.permutation(n)
reviews = [reviews[i] for i in perm]
labels = labels[perm].astype("float32")
cut = int(n * 0.9)
maxlen = max(len(r) for r in reviews)


def to_dataset(texts, targets, shuffle):
    x = pad_sequences(texts, maxlen=maxlen, padding="post")
    ds = tf.data.Dataset.from_tensor_slices((x, targets))
    if shuffle:
        ds = ds.shuffle(len(texts), seed=0)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


train_ds = to_dataset(reviews[:cut], labels[:cut], True)
val_ds = to_dataset(reviews[cut:], labels[cut:], False)

# ---------------------------------------------------------------- model
inp = Input((None,), dtype="int32")
h = Embedding(MAX_FEATURES, 32, mask_zero=True)(inp)
h = Bidirectional(LSTM(32))(h)
out = Dense(1, activation="sigmoid")(h)
model = Model(inp, out)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.summary()

# ---------------------------------------------------------------- training
model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=2)
loss, acc = model.evaluate(val_ds, verbose=0)
print(f"final: loss {loss:.4f} accuracy {acc:.4f}")
