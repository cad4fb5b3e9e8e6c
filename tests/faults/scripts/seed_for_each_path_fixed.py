import numpy as np
import tensorflow as tf

WEEKS, STORES = 24, 24
start = tf.constant(np.random.default_rng(2).uniform(20.0, 60.0, STORES).astype("float32"))


@tf.function
def stock_levels(demand, reorder, lead):
    stock, ordered, cost = start, tf.zeros_like(start), tf.zeros_like(start)
    levels = []
    for week in range(WEEKS):
        stock = stock + ordered - tf.minimum(demand[week], stock)
        short = tf.nn.relu(demand[week] - stock)
        ordered = tf.where(stock < reorder, lead * (reorder - stock), tf.zeros_like(stock))
        cost = cost + 0.1 * stock + 2.0 * short + tf.sqrt(ordered + 1.0)
        levels.append(tf.reduce_mean(stock))
    return tf.stack(levels), tf.reduce_sum(cost)


def simulate(path):
    rng = np.random.default_rng(path)
    demand = rng.gamma(4.0, 3.0, (WEEKS, STORES)).astype("float32")
    reorder, lead = rng.uniform(20.0, 40.0), rng.uniform(0.5, 1.0)
    levels, cost = stock_levels(tf.constant(demand), tf.constant(reorder, tf.float32), tf.constant(lead, tf.float32))
    return float(levels[-1]), float(cost)


tf.random.set_seed(0)
paths = [simulate(path) for path in range(50)]
print("stock %.2f cost %.1f" % tuple(np.mean(paths, axis=0)))
