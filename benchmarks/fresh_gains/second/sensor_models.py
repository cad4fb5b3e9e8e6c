"""Scores the readings of sensors; each sensor's model is built and given its weights."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)


def build():
    inputs = tf.keras.Input((24,))
    hidden = tf.keras.layers.Dense(48, activation="relu")(inputs)
    hidden = tf.keras.layers.LayerNormalization()(hidden)
    hidden = tf.keras.layers.Dense(48, activation="relu")(hidden)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))


weights = build().get_weights()
alarms = 0
for sensor in range(45):
    model = build()
    model.set_weights([w + 0.01 * sensor for w in weights])
    scores = model.predict(rng.normal(size=(400, 24)), batch_size=100, verbose=0)
    alarms += int((scores > 1).sum())
print(alarms)
