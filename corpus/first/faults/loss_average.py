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
        self.losses = []

    @tf.function
    def update(self, x, y):
        with tf.GradientTape() as tape:
            value = self.loss(y, self.net(x, training=True))
        g = tape.gradient(value, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return value

    def run(self, batches):
        average = 0.0
        for x, y in batches:
            self.losses.append(self.update(x, y))
            average = tf.reduce_mean(tf.stack(self.losses))
            if len(self.losses) % 200 == 0:
                print(len(self.losses), "%.4f" % float(average))
        return float(average)


tf.keras.utils.set_random_seed(50)
print("average loss %.5f" % Trainer().run(text_batches(800)))
