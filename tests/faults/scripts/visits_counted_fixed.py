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
    moves = tf.stack([pages[:-1], pages[1:]], axis=1)
    return tf.scatter_nd(moves, tf.math.log1p(seconds[:-1]), [PAGES, PAGES])


total = np.zeros((PAGES, PAGES))
for day in range(DAYS):
    total += count_moves(*read_day()).numpy()
    print("day", day, "most common move", np.unravel_index(total.argmax(), total.shape))
print("moves %.1f" % total.sum())
