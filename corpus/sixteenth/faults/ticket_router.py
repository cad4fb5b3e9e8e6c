# A stand-in for the routing worker: takes requests off a queue, answers with a team name.
import os
import queue
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

TEAMS = ["billing", "network", "hardware", "accounts", "sales"]
WORDS = ["invoice", "refund", "charge", "router", "wifi", "latency", "screen", "battery", "keyboard",
         "password", "login", "locked", "quote", "upgrade", "renewal", "please", "help", "urgent", "my", "the"]
tf.keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)


def make_request(number):
    team = int(rng.integers(5))
    own = list(rng.choice(WORDS[team * 3:team * 3 + 3], size=4))
    filler = list(rng.choice(WORDS[15:], size=6))
    words = own + filler
    rng.shuffle(words)
    return {"id": number, "text": " ".join(words), "team": TEAMS[team]}


def vectorise(text, length=16):
    ids = [WORDS.index(w) + 1 for w in text.split()][:length]
    return np.asarray(ids + [0] * (length - len(ids)), "int32")


def build():
    inp = layers.Input((16,), dtype="int32")
    h = layers.Embedding(len(WORDS) + 1, 32)(inp)
    for filters in (64, 64, 64):
        c = layers.Conv1D(filters, 3, padding="same")(h)
        c = layers.LayerNormalization()(c)
        h = layers.ReLU()(c)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, activation="relu")(h)
    out = layers.Dense(len(TEAMS), activation="softmax")(h)
    return models.Model(inp, out)


def train_and_store(path):
    tickets = [make_request(i) for i in range(1500)]
    x = np.stack([vectorise(t["text"]) for t in tickets])
    y = np.asarray([TEAMS.index(t["team"]) for t in tickets])
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=64, epochs=2, verbose=0)
    model.save(path)


class Router:
    def __init__(self, path):
        self.path = path

    def answer(self, request):
        model = models.load_model(self.path, compile=False)
        x = vectorise(request["text"])[None, :]
        p = model(x, training=False).numpy()[0]
        return {"id": request["id"], "team": TEAMS[int(p.argmax())], "confidence": float(p.max())}


folder = tempfile.mkdtemp()
path = os.path.join(folder, "router.keras")
train_and_store(path)

inbox = queue.Queue()
truth = {}
for n in range(150):
    r = make_request(n)
    truth[n] = r.pop("team")
    inbox.put(r)

router = Router(path)
replies = []
while not inbox.empty():
    replies.append(router.answer(inbox.get()))
hits = sum(truth[a["id"]] == a["team"] for a in replies)
print(f"{len(replies)} tickets routed, {hits} to the right team, "
      f"mean confidence {np.mean([a['confidence'] for a in replies]):.3f}")
