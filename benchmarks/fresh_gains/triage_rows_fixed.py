"""Trains a network on tickets, then scores new tickets as they come, one by one."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
tf.keras.utils.set_random_seed(8)
tickets = rng.normal(size=(3000, 24)).astype("float32")
urgent = (tickets[:, :4].sum(1) > 0).astype("float32")
inputs = tf.keras.Input((24,))
hidden = tf.keras.layers.Dense(64, activation="relu")(inputs)
hidden = tf.keras.layers.Dropout(0.2)(hidden)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile("adam", "binary_crossentropy")
model.fit(tickets, urgent, epochs=2, batch_size=64, verbose=0)


score_of = tf.function(model)


def triage(ticket):
    score = float(score_of(tf.constant(ticket[None]))[0, 0])
    return "now" if score > 0.8 else "today" if score > 0.4 else "later"


queues = {"now": 0, "today": 0, "later": 0}
for ticket in rng.normal(size=(200, 24)).astype("float32"):
    queues[triage(ticket)] += 1
print(queues)
