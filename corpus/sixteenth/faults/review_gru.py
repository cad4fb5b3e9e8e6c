"""Sentiment of short reviews of very different length, own training loop."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)

VOCAB = 2000
BATCH = 64
N_TRAIN, N_TEST = 1280, 384


def make_reviews(n, seed):
    r = np.random.default_rng(seed)
    lengths = np.clip(r.gamma(3.0, 14.0, n).astype(int), 6, 150)
    labels = r.integers(0, 2, n)
    texts = []
    for length, label in zip(lengths, labels):
        ids = r.integers(40, VOCAB, length)
        hits = r.random(length) < 0.12
        ids[hits] = r.integers(1, 20, hits.sum()) + 20 * label
        texts.append(ids.astype(np.int32))
    return texts, labels.astype(np.float32)


def batches(texts, labels, shuffle):
    """Reviews of similar length share a batch, padded to its longest one."""
    order = np.argsort([len(t) for t in texts], kind="stable")
    groups = [order[i:i + BATCH] for i in range(0, len(order), BATCH)]
    if shuffle:
        np.random.shuffle(groups)
    for group in groups:
        longest = max(len(texts[i]) for i in group)
        ids = np.zeros((len(group), longest), np.int32)
        for row, i in enumerate(group):
            ids[row, :len(texts[i])] = texts[i]
        yield tf.constant(ids), tf.constant(labels[group])


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, 32)
        self.left = tf.keras.layers.GRU(32)
        self.right = tf.keras.layers.GRU(32, go_backwards=True)
        self.head = tf.keras.layers.Dense(1)

    def call(self, ids, training=False):
        mask = tf.not_equal(ids, 0)
        x = self.embed(ids)
        x = tf.concat([self.left(x, mask=mask), self.right(x, mask=mask)], axis=-1)
        return self.head(x)[:, 0]


model = Classifier()
optimizer = tf.keras.optimizers.Adam(3e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean()
accuracy = tf.keras.metrics.BinaryAccuracy(threshold=0.0)


@tf.function
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        logits = model(ids, training=True)
        loss = bce(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


@tf.function
def test_step(ids, labels):
    accuracy.update_state(labels, model(ids, training=False))


train_set = make_reviews(N_TRAIN, 1)
test_set = make_reviews(N_TEST, 2)

for epoch in range(5):
    train_loss.reset_state()
    accuracy.reset_state()
    for ids, labels in batches(*train_set, shuffle=True):
        train_step(ids, labels)
    for ids, labels in batches(*test_set, shuffle=False):
        test_step(ids, labels)
    print(f"epoch {epoch + 1}: loss {train_loss.result():.4f} test accuracy {accuracy.result():.4f}")
