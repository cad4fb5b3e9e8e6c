"""Monte-Carlo price of a path-dependent basket option (Asian, 8 correlated assets) in TensorFlow."""
import numpy as np
import tensorflow as tf

ASSETS, STEPS, PATHS = 8, 64, 32768
BATCHES = 60
RATE, T, STRIKE = 0.03, 1.0, 100.0


def correlation(seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(ASSETS, 3))
    c = a @ a.T + np.diag(rng.uniform(0.5, 1.5, ASSETS))
    d = np.sqrt(np.diag(c))
    return c / d[:, None] / d[None, :]


CHOL = tf.constant(np.linalg.cholesky(correlation()), tf.float32)
SIGMA = tf.constant(np.linspace(0.15, 0.4, ASSETS), tf.float32)
WEIGHTS = tf.constant(np.full(ASSETS, 1.0 / ASSETS), tf.float32)


@tf.function
def simulate(seed):
    dt = T / STEPS
    drift = (RATE - 0.5 * SIGMA ** 2) * dt
    vol = tf.transpose(CHOL) * (SIGMA * dt ** 0.5)
    log_s = tf.fill([PATHS, ASSETS], tf.math.log(100.0))
    total = tf.zeros([PATHS])
    for i in tf.range(STEPS):
        z = tf.random.stateless_normal([PATHS, ASSETS], seed=tf.stack([seed, i]))
        log_s += drift + tf.matmul(z, vol)
        total += tf.linalg.matvec(tf.exp(log_s), WEIGHTS)
    payoff = tf.nn.relu(total / STEPS - STRIKE) * tf.exp(-RATE * T)
    return tf.reduce_mean(payoff), tf.math.reduce_variance(payoff)


def main():
    means, variances = [], []
    for b in range(BATCHES):
        m, v = simulate(tf.constant(b))
        means.append(m)
        variances.append(v)
    price = float(np.mean(means))
    error = float(np.sqrt(np.mean(variances) / (PATHS * BATCHES)))
    print("price %.4f +- %.4f" % (price, error))
    print("spread between batches %.4f" % float(np.std(means)))


if __name__ == "__main__":
    main()
