import re
import numpy as np
import tensorflow as tf

MAX_TOKENS = 8000
MAX_LEN = 60
BATCH_SIZE = 64
EPOCHS = 5

STOPWORDS = {"the", "a", "an", "and", "or", "of", "to", "in", "is", "it"}
TAG = re.compile(r"<[^>]+>")
URL = re.compile(r"https?://\S+")
WORD = re.compile(r"[a-z']+")


def make_posts(n, seed=0):
    rng = np.random.default_rng(seed)
    syll = ["ba", "ko", "ri", "ten", "mu", "sal", "vor", "ni", "pla", "dre", "ost", "ig"]
    words = np.array(["".join(rng.choice(syll, rng.integers(2, 5))) for _ in range(6000)])
    good, bad = set(words[:300]), set(words[300:600])
    fill = np.array(sorted(STOPWORDS))
    posts, labels = [], []
    for _ in range(n):
        label = int(rng.random() < 0.5)
        body = list(rng.choice(words[600:], 25)) + list(rng.choice(fill, 15))
        body += list(rng.choice(words[:300] if label else words[300:600], 4))
        rng.shuffle(body)
        text = " ".join(body).capitalize()
        posts.append(f"<p>{text}!</p> see https://forum.example/{rng.integers(1e6)} <br/>")
        labels.append(label)
    return posts, np.array(labels, "int32")


def tokenize(text):
    text = URL.sub(" ", TAG.sub(" ", text.lower()))
    return [w for w in WORD.findall(text) if w not in STOPWORDS]


def build_vocab(posts):
    counts = {}
    for p in posts:
        for w in tokenize(p):
            counts[w] = counts.get(w, 0) + 1
    best = sorted(counts, key=counts.get, reverse=True)[:MAX_TOKENS - 2]
    return {w: i + 2 for i, w in enumerate(best)}


def encode(text):
    ids = [vocab.get(w, 1) for w in tokenize(text)][:MAX_LEN]
    return np.array(ids + [0] * (MAX_LEN - len(ids)), "int32")


def encode_all(posts):
    return np.stack([encode(p) for p in posts])


posts, labels = make_posts(12000)
train_posts, val_posts = posts[:11000], posts[11000:]
train_labels, val_labels = labels[:11000], labels[11000:]
vocab = build_vocab(train_posts)
print("vocabulary:", len(vocab))

train_ds = tf.data.Dataset.from_tensor_slices((encode_all(train_posts), train_labels))
train_ds = train_ds.shuffle(11000, seed=1)
train_ds = train_ds.batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
val_ds = tf.data.Dataset.from_tensor_slices((encode_all(val_posts), val_labels))
val_ds = val_ds.batch(256).cache()

model = tf.keras.Sequential([
    tf.keras.layers.Embedding(MAX_TOKENS, 32),
    tf.keras.layers.Conv1D(64, 3, activation="relu"),
    tf.keras.layers.GlobalMaxPooling1D(),
    tf.keras.layers.Dropout(0.3),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"], jit_compile=False)
model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=2)
