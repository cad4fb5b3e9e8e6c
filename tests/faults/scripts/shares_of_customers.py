"""How many customers bring 60 % of each shop's revenue, and how much the largest of them bring, week by week."""

import numpy as np
import tensorflow as tf

SHOPS, CUSTOMERS, WEEKS = 8, 60_000, 150
rng = np.random.default_rng(6)


@tf.function
def concentration(spent):
    shares = spent / tf.reduce_sum(spent, axis=-1, keepdims=True)
    ordered = tf.sort(shares, axis=-1, direction="DESCENDING")  # FAULT
    within = tf.cumsum(ordered, axis=-1) <= 0.6
    largest = tf.where(within, ordered, tf.zeros_like(ordered))
    return tf.reduce_sum(tf.cast(within, tf.int32), axis=-1), tf.reduce_sum(largest, axis=-1)


for week in range(WEEKS):
    spent = rng.pareto(0.9, (SHOPS, CUSTOMERS)).astype("float32")
    customers, share = concentration(tf.constant(spent))
    if week % 30 == 29:
        print("week", week + 1, "customers", int(customers.numpy().max()), "share %.3f" % float(share.numpy().mean()))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A compiled function sorts whole rows, of which a mask of the cumulative sum keeps few"
# codes = ["GRF039"]
# families = ["graph"]
# source = "keras-nlp #980, which gave the top-p sampler a k; questions on slow nucleus sampling"
# ///
