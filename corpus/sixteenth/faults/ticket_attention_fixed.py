"""Support-ticket priority from token ids: attention pooling, length-bucketed batches, custom loop."""
import numpy as np
import tensorflow as tf

VOCAB, EMB, CLASSES, BATCH = 3000, 48, 4, 16
rng = np.random.default_rng(8)


def make_tickets(n=1600):
    tickets, labels = [], []
    for _ in range(n):
        label = rng.integers(CLASSES)
        length = int(np.clip(rng.gamma(3.0, 25.0), 8, 240))
        words = rng.zipf(1.3, length) % (VOCAB - 200) + 200
        marks = rng.random(length) < 0.08
        words[marks] = rng.integers(1, 40, marks.sum()) + 40 * label
        tickets.append(words.astype(np.int32))
        labels.append(label)
    return tickets, np.array(labels, np.int32)


def batches(tickets, labels):
    order = np.argsort([len(t) for t in tickets], kind="stable")
    groups = [order[i:i + BATCH] for i in range(0, len(order) - BATCH + 1, BATCH)]
    rng.shuffle(groups)
    for g in groups:
        width = max(len(tickets[i]) for i in g)
        ids = np.zeros((BATCH, width), np.int32)
        for row, i in enumerate(g):
            ids[row, :len(tickets[i])] = tickets[i]
        yield tf.constant(ids), tf.constant(labels[g])


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, EMB)
        self.conv = tf.keras.layers.Conv1D(64, 5, padding="same", activation="relu")
        self.query = tf.keras.layers.Dense(1)
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(CLASSES)

    def call(self, ids):
        keep = tf.cast(ids > 0, tf.float32)[..., None]
        h = self.conv(self.embed(ids) * keep)
        score = self.query(h) - 1e9 * (1.0 - keep)
        pooled = tf.reduce_sum(tf.nn.softmax(score, axis=1) * h, axis=1)
        return self.out(self.hidden(pooled))


tf.keras.utils.set_random_seed(8)
model = Classifier()
model(tf.ones((1, 8), tf.int32))
optimizer = tf.keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(input_signature=[tf.TensorSpec([BATCH, None], tf.int32),
                              tf.TensorSpec([BATCH], tf.int32)])
def train_step(ids, y):
    with tf.GradientTape() as tape:
        logits = model(ids)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    hits = tf.reduce_sum(tf.cast(tf.argmax(logits, 1, output_type=tf.int32) == y, tf.int32))
    return loss, hits


tickets, labels = make_tickets()
for epoch in range(4):
    losses, hits, seen = [], 0, 0
    for ids, y in batches(tickets, labels):
        loss, h = train_step(ids, y)
        losses.append(loss)
        hits += h
        seen += BATCH
    print(f"epoch {epoch} loss {float(tf.reduce_mean(losses)):.4f} accuracy {int(hits) / seen:.3f}")
