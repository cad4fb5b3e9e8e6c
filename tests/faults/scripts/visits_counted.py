"""Count which pages are visited one after the other, day by day, and find the most common moves."""

import numpy as np
import tensorflow as tf

PAGES, VISITS, DAYS = 600, 3000, 8
rng = np.random.default_rng(0)


def read_day():
    """Return the pages of one day's visits, and how long each took."""
    pages = rng.zipf(1.3, VISITS) % PAGES
    return tf.constant(pages, tf.int32), tf.constant(rng.gamma(2.0, 1.0, VISITS), tf.float32)


@tf.function
def count_moves(pages, seconds):
    moves = tf.zeros([PAGES, PAGES])
    for i in tf.range(VISITS - 1):
        move = tf.stack([pages[i], pages[i + 1]])[None]
        moves = tf.tensor_scatter_nd_add(moves, move, tf.math.log1p(seconds[i])[None])  # FAULT
    return moves


total = np.zeros((PAGES, PAGES))
for day in range(DAYS):
    total += count_moves(*read_day()).numpy()
    print("day", day, "most common move", np.unravel_index(total.argmax(), total.shape))
print("moves %.1f" % total.sum())

# /// fault
# style = "custom"
# kind = "time"
# cause = "A loop in a compiled function adds one number to a large tensor in each iteration, which copies all of it"
# codes = ["GRF035"]
# families = ["graph"]
# source = "tensorflow.org API page of tf.tensor_scatter_nd_add; a script of the nineteenth blind batch, a file of a repository, adds samples one by one with SparseAdd in a loop of a graph"
# ///
