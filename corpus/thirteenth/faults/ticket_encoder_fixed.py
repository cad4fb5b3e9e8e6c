"""Encode support tickets with a small transformer, write one vector per ticket.

usage: ticket_encoder.py [--tickets N] [--batch B]
"""
import argparse
import time

import numpy as np
import keras
import tensorflow as tf
from keras import layers, ops

MAX_TOKENS = 512
VOCAB = 8000
DIM = 128
WORDS = ("printer login invoice refund password broken screen late order parcel account "
         "reset charge twice please help urgent cannot open attachment error code network "
         "slow update install licence key expired contract cancel phone number change").split()


def fake_tickets(n, seed):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        length = int(np.clip(rng.lognormal(3.0, 0.45), 5, 120))
        out.append(" ".join(WORDS[j] + str(rng.integers(0, 100)) for j in rng.integers(0, len(WORDS), length)))
    return out


def tokenize(texts):
    table, rows = {}, []
    for t in texts:
        rows.append([table.setdefault(w, 1 + len(table) % (VOCAB - 1)) for w in t.split()][:MAX_TOKENS])
    return rows


def pad(rows, width):
    out = np.zeros((len(rows), width), dtype="int32")
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return out


class TokenAndPosition(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(VOCAB, DIM)
        self.pos = layers.Embedding(MAX_TOKENS, DIM)

    def call(self, ids):
        n = ops.shape(ids)[1]
        return self.tok(ids) + self.pos(ops.arange(n))[None]


def block(x, mask, i):
    a = layers.MultiHeadAttention(4, DIM // 4, name=f"att{i}")(x, x, attention_mask=mask)
    x = layers.LayerNormalization()(x + a)
    f = layers.Dense(4 * DIM, activation="gelu")(x)
    return layers.LayerNormalization()(x + layers.Dense(DIM)(f))


def build(n_blocks=3):
    ids = keras.Input((None,), dtype="int32")
    keep = layers.Lambda(lambda t: ops.not_equal(t, 0))(ids)
    mask = layers.Lambda(lambda m: m[:, None, :])(keep)
    x = TokenAndPosition()(ids)
    for i in range(n_blocks):
        x = block(x, mask, i)
    w = layers.Lambda(lambda m: ops.cast(m, "float32")[:, :, None])(keep)
    vec = layers.Lambda(lambda z: ops.sum(z[0] * z[1], axis=1) / ops.sum(z[1], axis=1))([x, w])
    return keras.Model(ids, vec)


def encode_all(model, rows, batch):
    run = tf.function(lambda ids: model(ids, training=False),
                      input_signature=[tf.TensorSpec((None, None), tf.int32)])
    vecs = np.zeros((len(rows), DIM), dtype="float32")
    order = np.argsort([len(r) for r in rows], kind="stable")
    for start in range(0, len(rows), batch):
        sel = order[start:start + batch]
        chunk = [rows[i] for i in sel]
        ids = pad(chunk, -(-max(len(r) for r in chunk) // 8) * 8)
        vecs[sel] = run(tf.constant(ids)).numpy()
        if (start // batch) % 8 == 0:
            print(f"  {start + len(sel)}/{len(rows)}")
    return vecs


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tickets", type=int, default=800)
    ap.add_argument("--batch", type=int, default=32)
    a = ap.parse_args()
    keras.utils.set_random_seed(4)
    rows = tokenize(fake_tickets(a.tickets, 9))
    print("tickets:", len(rows), "mean tokens:", np.mean([len(r) for r in rows]).round(1))
    model = build()
    t = time.time()
    vecs = encode_all(model, rows, a.batch)
    print(f"encoded in {time.time() - t:.1f}s, mean norm {np.linalg.norm(vecs, axis=1).mean():.4f}, "
          f"first {np.round(vecs[0, :4], 4)}")


if __name__ == "__main__":
    main()
