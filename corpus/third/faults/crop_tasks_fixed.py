"""One network, five questions about a field. Each batch has answers to some of the questions only."""
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

QUESTIONS = ("yield", "protein", "moisture", "rust", "weeds")


@dataclass(frozen=True)
class BatchInfo:
    answered: tuple


class FieldNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = [tf.keras.layers.Dense(96, activation="relu") for _ in range(3)]
        self.heads = {q: tf.keras.layers.Dense(1, name=q) for q in QUESTIONS}

    def call(self, x):
        for layer in self.trunk:
            x = layer(x)
        return {q: head(x)[:, 0] for q, head in self.heads.items()}


class Learner:
    def __init__(self):
        self.net = FieldNet()
        self.net(tf.zeros([1, 30]))
        self.optimizer = tf.keras.optimizers.SGD(1e-3)
        self.optimizer.build(self.net.trainable_variables)

    @tf.function
    def train(self, x, answers, known):
        with tf.GradientTape() as tape:
            guess = self.net(x, training=True)
            loss = 0.0
            for i, question in enumerate(QUESTIONS):
                loss += known[i] * tf.reduce_mean(tf.square(guess[question] - answers[:, i]))
        variables = self.net.trainable_variables
        grads = tape.gradient(loss, variables)
        grads = [tf.zeros(v.shape) if g is None else g for g, v in zip(grads, variables)]
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss


def field_batches(count, size, seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(30, len(QUESTIONS)))
    for _ in range(count):
        x = rng.normal(size=(size, 30)).astype("float32")
        known = sorted(rng.choice(QUESTIONS, 3, replace=False))
        yield x, (x @ truth).astype("float32"), BatchInfo(tuple(known))


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(4)
    learner = Learner()
    losses = []
    for x, answers, info in field_batches(40, 512, 12):
        known = tf.constant([float(q in info.answered) for q in QUESTIONS])
        losses.append(learner.train(tf.constant(x), tf.constant(answers), known))
        if len(losses) % 10 == 0:
            print(len(losses), float(tf.reduce_mean(losses[-10:])), flush=True)
