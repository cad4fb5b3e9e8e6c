import numpy as np
import tensorflow as tf

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the slow red cat " * 40
alphabet = sorted(set(TEXT))
codes = np.array([alphabet.index(c) for c in TEXT], dtype=np.int32)
LENGTH = 16


class CharModel(tf.keras.Model):
    def __init__(self, size):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(size, 16)
        self.cell = tf.keras.layers.LSTMCell(48)
        self.out = tf.keras.layers.Dense(size)

    def call(self, ids):
        h = self.embed(ids)
        state = [tf.zeros((ids.shape[0], 48)), tf.zeros((ids.shape[0], 48))]
        outputs = []
        for t in range(ids.shape[1]):  # FAULT
            y, state = self.cell(h[:, t], state)  # FAULT
            outputs.append(self.out(y))  # FAULT
        return tf.stack(outputs, axis=1)


model = CharModel(len(alphabet))
optimizer = tf.keras.optimizers.Adam(1e-2)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train_batch(inputs, targets):  # FAULT
    with tf.GradientTape() as tape:
        loss = cross_entropy(targets, model(inputs))  # FAULT
    gradients = tape.gradient(loss, model.trainable_variables)  # FAULT
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


rng = np.random.default_rng(4)
for step in range(60):
    starts = rng.integers(0, len(codes) - LENGTH - 1, 16)
    window = np.stack([codes[s : s + LENGTH + 1] for s in starts])
    loss = train_batch(tf.constant(window[:, :-1]), tf.constant(window[:, 1:]))
    if step % 20 == 0:
        print(step, float(loss))
print("final", float(loss))

# /// fault
# style = "text"
# kind = "time"
# cause = "A Python loop runs the cell for one character after another, each operation eagerly"
# codes = ["EAG005", "EAG001"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #38910 'Simple loop is slow'; Stack Overflow questions on decoding loops in sequence models"
# renamed = true
# ///
