"""Learns which question an answer belongs to: every answer is encoded again next to each question."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH, WIDTH = 48, 64


def encoder(name):
    return keras.Sequential(
        [keras.Input((WIDTH,)), keras.layers.Dense(128, activation="relu"), keras.layers.Dense(32)], name=name
    )


class Matcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.question, self.answer = encoder("question"), encoder("answer")

    def call(self, inputs):
        questions, answers = inputs
        left = self.question(tf.repeat(questions, BATCH, axis=0))  # FAULT
        right = self.answer(tf.tile(answers, [BATCH, 1]))  # FAULT
        return tf.reshape(tf.reduce_sum(left * right, axis=1), [BATCH, BATCH])


keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
questions = rng.normal(size=(BATCH * 40, WIDTH)).astype("float32")
answers = questions[:, ::-1] + 0.3 * rng.normal(size=questions.shape).astype("float32")
matcher = Matcher()
optimizer = keras.optimizers.Adam(1e-3)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
own = tf.range(BATCH)


@tf.function
def train_step(question, answer):
    with tf.GradientTape() as tape:
        loss = loss_of(own, matcher([question, answer], training=True))
    weights = matcher.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


data = tf.data.Dataset.from_tensor_slices((questions, answers)).shuffle(2000).repeat()
for question, answer in data.batch(BATCH, drop_remainder=True).prefetch(2).take(250):
    loss = train_step(question, answer)
print(f"loss {float(loss):.3f}")

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "Questions and answers are repeated into all pairs before their encoders run"
# codes = ["GRF015"]
# families = ["graph"]
# source = "GitHub questions on two-tower models that score all pairs slowly"
# ///
