"""Price a basket option with Monte Carlo in compiled chunks."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--chunks", type=int, default=65)
parser.add_argument("--paths", type=int, default=60000)
args = parser.parse_args()

ASSETS, STEPS, RATE, STRIKE = 5, 26, 0.02, 100.0
rng = np.random.default_rng(10)
volatility = rng.uniform(0.15, 0.35, ASSETS).astype("float32")
correlation = (0.4 + 0.6 * np.eye(ASSETS)).astype("float32")
factor = tf.constant(np.linalg.cholesky(correlation), tf.float32)
dt = 1.0 / STEPS


@tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
def chunk(seed):
    log_price = tf.fill([args.paths, ASSETS], tf.math.log(100.0))
    running = tf.zeros([args.paths])
    drift = (RATE - 0.5 * volatility ** 2) * dt
    for step in tf.range(STEPS):
        seed += tf.constant([1000, 0])
        normal = tf.random.stateless_normal([args.paths, ASSETS], seed)
        log_price += drift + volatility * np.sqrt(dt) * tf.matmul(normal, factor, transpose_b=True)
        running += tf.reduce_mean(tf.exp(log_price), axis=1)
    payoff = tf.nn.relu(running / STEPS - STRIKE) * np.exp(-RATE)
    return tf.reduce_mean(payoff), tf.math.reduce_variance(payoff)


means, variances = [], []
for number in range(args.chunks):
    mean, variance = chunk(tf.constant([number, 7]))
    means.append(mean)
    variances.append(variance)
error = np.sqrt(np.mean(variances) / (args.chunks * args.paths))
print("price %.4f +- %.4f" % (np.mean(means), error))
