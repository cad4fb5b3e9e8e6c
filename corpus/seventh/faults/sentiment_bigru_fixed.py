"""Review sentiment with an embedding + GRU.  Reviews are synthetic token lists of varying length."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 21
VOCAB = 6000
N_REVIEWS = 2000
BATCH_SIZE = 64
EPOCHS = 2
POSITIVE = np.arange(50, 250)
NEGATIVE = np.arange(250, 450)


def fake_reviews(n, seed):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.1, 0.5, n), 5, 120).astype(int)
    lengths[rng.choice(n, 4)] = rng.integers(350, 520, 4)
    labels = rng.integers(0, 2, n)
    reviews = []
    for length, label in zip(lengths, labels):
        tokens = rng.zipf(1.3, length) % (VOCAB - 500) + 500
        marked = rng.random(length) < 0.15
        lexicon = POSITIVE if label else NEGATIVE
        tokens[marked] = rng.choice(lexicon, marked.sum())
        reviews.append(tokens.astype("int32"))
    return reviews, labels.astype("float32")


reviews, labels = fake_reviews(N_REVIEWS, SEED)
max_len = max(len(r) for r in reviews)
print(f"{len(reviews)} reviews, longest {max_len}, median {int(np.median([len(r) for r in reviews]))}")

cut = int(0.85 * N_REVIEWS)


def as_dataset(seqs, targets, training):
    ragged = tf.ragged.constant(seqs)
    ds = tf.data.Dataset.from_tensor_slices((ragged, targets))
    ds = ds.map(lambda s, t: (s.to_tensor() if isinstance(s, tf.RaggedTensor) else s, t))
    if training:
        ds = ds.shuffle(len(targets), seed=SEED)
    ds = ds.padded_batch(BATCH_SIZE, padded_shapes=([None], []))
    return ds.prefetch(tf.data.AUTOTUNE)


train_ds = as_dataset(reviews[:cut], labels[:cut], training=True)
test_ds = as_dataset(reviews[cut:], labels[cut:], training=False)


def build_model():
    inputs = keras.Input(shape=(None,), dtype="int32")
    x = layers.Embedding(VOCAB, 64, mask_zero=True)(inputs)
    x = layers.GRU(48)(x)
    x = layers.Dense(32, activation="relu")(x)
    x = layers.Dropout(0.3)(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(inputs, outputs, name="sentiment")


keras.utils.set_random_seed(SEED)
model = build_model()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=EPOCHS, verbose=2)

loss, acc = model.evaluate(test_ds, verbose=0)
print(f"test loss {loss:.4f}  accuracy {acc:.3f}")

probs = model.predict(test_ds, verbose=0)[:, 0]
worst = np.argsort(-np.abs(probs - labels[cut:]))[:3]
for i in worst:
    print(f"  review {i}: label {int(labels[cut + i])} predicted {probs[i]:.2f}, "
          f"{len(reviews[cut + i])} tokens")
