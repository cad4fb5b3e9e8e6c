"""Generate names with a character GRU and beam search."""
import numpy as np
import tensorflow as tf

CHARS = "^abcdefghijklmnopqrstuvwxyz$"
END = len(CHARS) - 1


class Speller(tf.keras.Model):
    def __init__(self, units=48):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(len(CHARS), 16)
        self.cell = tf.keras.layers.GRUCell(units)
        self.out = tf.keras.layers.Dense(len(CHARS))

    def call(self, token, state):
        h, _ = self.cell(self.emb(token), [state])
        return tf.nn.log_softmax(self.out(h)), h


class BeamDecoder:
    def __init__(self, speller, width, max_len):
        self.speller = speller
        self.width = width
        self.max_len = max_len

    def decode(self, seed_state):
        beams = [(0.0, [0], seed_state)]
        for _ in range(self.max_len):
            grown = []
            for score, tokens, state in beams:
                logp, new_state = self.speller(tf.constant([tokens[-1]]), state)
                logp = logp.numpy()[0]
                for c in np.argsort(-logp)[: self.width]:
                    grown.append((score + float(logp[c]), tokens + [int(c)], new_state))
            grown.sort(key=lambda b: -b[0])
            beams = grown[: self.width]
        return beams[0][0], "".join(CHARS[c] for c in beams[0][1][1:])


def main():
    tf.keras.utils.set_random_seed(23)
    speller = Speller()
    decoder = BeamDecoder(speller, width=8, max_len=14)
    rng = np.random.default_rng(23)
    total = 0.0
    for i in range(22):
        state = tf.constant(rng.normal(size=(1, 48)), tf.float32)
        score, word = decoder.decode(state)
        total += score
    print("last name", word, "mean score %.4f" % (total / 22))


if __name__ == "__main__":
    main()
