# Slot tagging for voice-assistant commands, conv encoder + per-token softmax.
import numpy as np
import tensorflow as tf

VOCAB = 2000
TAGS = 12
BATCH = 32
STEPS = 150

tf.random.set_seed(3)
rng = np.random.default_rng(3)


def sample_utterance():
    n = int(np.clip(rng.gamma(4.0, 2.2), 4, 18))
    words = rng.integers(1, VOCAB, n)
    tags = (words * 7 + np.roll(words, 1)) % (TAGS - 1) + 1
    return words.astype(np.int32), tags.astype(np.int32)


corpus = [sample_utterance() for _ in range(6000)]


def pad(seqs, length):
    out = np.zeros((len(seqs), length), np.int32)
    for i, s in enumerate(seqs):
        out[i, :len(s)] = s
    return out


def batches():
    order = np.argsort([len(w) for w, _ in corpus], kind="stable")
    groups = [order[i:i + BATCH] for i in range(0, len(order) - BATCH + 1, BATCH)]
    while True:
        for g in rng.permutation(len(groups)):
            words = [corpus[i][0] for i in groups[g]]
            tags = [corpus[i][1] for i in groups[g]]
            length = -(-max(len(w) for w in words) // 9) * 9
            yield pad(words, length), pad(tags, length)


class Tagger(tf.keras.Model):
    def __init__(self, width=64, depth=2):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, width)
        self.convs = [tf.keras.layers.Conv1D(width, 3, padding="same", activation="relu")
                      for _ in range(depth)]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(depth)]
        self.out = tf.keras.layers.Dense(TAGS)

    def call(self, ids):
        mask = tf.cast(ids > 0, tf.float32)[:, :, None]
        h = self.embed(ids) * mask
        for conv, norm in zip(self.convs, self.norms):
            h = h + norm(conv(h)) * mask
        return self.out(h)


model = Tagger()
model(tf.zeros([1, 8], tf.int32))
optimizer = tf.keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)


@tf.function(
    input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None], tf.int32)],
    jit_compile=True,
)
def train_step(words, tags):
    with tf.GradientTape() as tape:
        logits = model(words)
        mask = tf.cast(words > 0, tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
        loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    hit = tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == tags, tf.float32)
    return loss, tf.reduce_sum(hit * mask) / tf.reduce_sum(mask)


running = []
for step, (words, tags) in enumerate(batches()):
    if step == STEPS:
        break
    loss, acc = train_step(tf.constant(words), tf.constant(tags))
    running.append((loss, acc))
    if (step + 1) % 50 == 0:
        l, a = np.mean([(float(x), float(y)) for x, y in running], axis=0)
        print(f"step {step + 1:4d}  loss {l:.4f}  token accuracy {a:.3f}")
        running = []
