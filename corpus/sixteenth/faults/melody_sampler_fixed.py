# Samples melodies, note by note, from a small causal convolution network.
import numpy as np
import tensorflow as tf

SEED_LEN = 48
N_NOTES = 40
STEPS = 110
MELODIES = 3


class CausalBlock(tf.keras.layers.Layer):
    def __init__(self, width, dilation):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(width, 3, dilation_rate=dilation,
                                           padding="causal", activation="relu")
        self.norm = tf.keras.layers.LayerNormalization()

    def call(self, h):
        return self.norm(h + self.conv(h))


def make_net(width=48):
    notes = tf.keras.Input((SEED_LEN,), dtype="int32")
    h = tf.keras.layers.Embedding(N_NOTES, width)(notes)
    for d in (1, 2, 4, 8):
        h = CausalBlock(width, d)(h)
    out = tf.keras.layers.Dense(N_NOTES)(h[:, -1])
    return tf.keras.Model(notes, out)


def corpus(rng, n):
    # random walks on a scale, so the network has something to pick up
    steps = rng.choice([-2, -1, 1, 2], size=(n, SEED_LEN + 1))
    walk = np.cumsum(steps, axis=1) + rng.integers(10, 30, size=(n, 1))
    return np.abs(walk) % N_NOTES


def draw(logits, temperature, rng):
    z = logits.astype("float64") / temperature
    p = np.exp(z - z.max())
    p /= p.sum()
    return int(np.searchsorted(np.cumsum(p), rng.random()).clip(0, N_NOTES - 1))


tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
net = make_net()
walks = corpus(rng, 3000)
net.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(walks[:, :-1], walks[:, -1], batch_size=128, epochs=1, verbose=0)

next_note = tf.function(lambda window: net(window, training=False))

songs = []
for m in range(MELODIES):
    song = list(corpus(rng, 1)[0, :SEED_LEN])
    for _ in range(STEPS):
        window = np.asarray(song[-SEED_LEN:], "int32")[None, :]
        logits = next_note(tf.constant(window)).numpy()[0]
        song.append(draw(logits, 0.9, rng))
    songs.append(song[SEED_LEN:])
    print(f"melody {m}: range {min(songs[-1])}..{max(songs[-1])}, "
          f"mean step {np.abs(np.diff(songs[-1])).mean():.2f}")
print("notes written:", sum(len(s) for s in songs))
