"""Character model trained with a hand-written loop that prints a running average."""
import numpy as np
import tensorflow as tf

VOCAB, SEQ, BATCH = 40, 24, 16


def text_batches(n):
    rng = np.random.default_rng(50)
    for _ in range(n):
        start = rng.integers(0, VOCAB, size=(BATCH, 1))
        seq = (start + 3 * np.arange(SEQ + 1)) % VOCAB
        yield tf.constant(seq[:, :-1]), tf.constant(seq[:, 1:])


class Trainer:
    def __init__(self):
        self.net = tf.keras.Sequential([
            tf.keras.layers.Embedding(VOCAB, 16),
            tf.keras.layers.Conv1D(32, 3, padding="causal", activation="relu"),
            tf.keras.layers.Dense(VOCAB),
        ])
        self.opt = tf.keras.optimizers.Adam(2e-3)
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.average = tf.keras.metrics.Mean()
        self.seen = 0

    @tf.function
    def update(self, x, y):
        with tf.GradientTape() as tape:
            value = self.loss(y, self.net(x, training=True))
        g = tape.gradient(value, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        self.average.update_state(value)

    def run(self, batches):
        for x, y in batches:
            self.update(x, y)
            self.seen += 1
            if self.seen % 200 == 0:
                print(self.seen, "%.4f" % float(self.average.result()))
        return float(self.average.result())


tf.keras.utils.set_random_seed(50)
print("average loss %.5f" % Trainer().run(text_batches(800)))
