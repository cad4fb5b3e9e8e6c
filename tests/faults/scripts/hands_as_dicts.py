"""A network rates hands of cards, which Python keeps as a dict and tuples for each hand."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
faces = rng.normal(size=(52, 8)).astype("float32")
network = tf.keras.Sequential([tf.keras.Input((40,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1)])
rate = tf.function(lambda hands: network(hands, training=False))
dealt = []


def deal(count):
    cards = rng.integers(0, 52, (count, 5)).tolist()  # FAULT
    return [{"pair": (a, b), "rest": (c, d, e)} for a, b, c, d, e in cards]  # FAULT


best = []
for number in range(80):
    hands = deal(20000)
    dealt.append(hands)
    rows = np.array([hand["pair"] + hand["rest"] for hand in hands])  # FAULT
    rated = rate(tf.constant(faces[rows].reshape(len(rows), -1)))
    best.append(float(tf.reduce_max(rated)))
print("best", round(max(best), 3))


# /// fault
# style = "custom"
# kind = "time"
# cause = "A dict and two tuples are made for each of 20,000 rows in every iteration and kept, so Python collects garbage again and again"
# codes = ["STP017", "LIN001"]
# families = ["step"]
# source = "docs.python.org, gc (thresholds, freeze); questions on loops that get slower as lists of lists grow while the garbage collector is on"
# renamed = true
# ///
