"""Assign an urgency score to the week's complaint mails with the stored GRU model."""
import numpy as np
import tensorflow as tf

VOCAB = 5000
MAILS = 11_000
BATCH = 50


def week_of_mails(seed=18):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.3, 0.9, MAILS).astype(int), 4, 900)
    return [rng.integers(1, VOCAB, n).astype("int32") for n in lengths]


class Urgency(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, 32)
        self.gru = tf.keras.layers.GRU(48)
        self.score = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, tokens):
        x = self.embed(tokens)
        h = self.gru(x, mask=tf.not_equal(tokens, 0))
        return self.score(h)[:, 0]


def pad(rows, width):
    out = np.zeros((len(rows), width), "int32")
    for i, row in enumerate(rows):
        out[i, :len(row)] = row
    return out


def score_mails(model, mails):
    run = tf.function(model, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    scores = np.empty(len(mails), "float32")
    order = np.argsort([len(m) for m in mails], kind="stable")
    for lo in range(0, len(mails), BATCH):
        rows = order[lo:lo + BATCH]
        tokens = pad([mails[i] for i in rows], len(mails[rows[-1]]))
        scores[rows] = run(tokens).numpy()
    return scores


def report(scores, mails):
    order = np.argsort(-scores)
    print("mails %d, mean urgency %.5f, spread %.5f" % (len(scores), scores.mean(), scores.std()))
    for rank, i in enumerate(order[:5], 1):
        print(f"{rank}. mail {i:5d}  {len(mails[i]):4d} words  {scores[i]:.5f}")


def main():
    tf.keras.utils.set_random_seed(18)
    mails = week_of_mails()
    model = Urgency()
    model(tf.zeros([1, 3], tf.int32))
    report(score_mails(model, mails), mails)


if __name__ == "__main__":
    main()
