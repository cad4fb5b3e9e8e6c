"""Hierarchical logistic regression for trial sites, multi-chain HMC with dual averaging warm-up."""
import numpy as np
import tensorflow as tf

SITES, COVARIATES, CHAINS = 24, 6, 8
DIM = COVARIATES + SITES + 1


def make_data(seed):
    rng = np.random.default_rng(seed)
    n = 1400
    site = rng.integers(SITES, size=n)
    x = rng.normal(size=(n, COVARIATES))
    logits = x @ rng.normal(scale=0.7, size=COVARIATES) + rng.normal(scale=0.8, size=SITES)[site]
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-logits))).astype("float64")
    return tf.constant(x), tf.constant(np.eye(SITES)[site]), tf.constant(y)


X, SITE, Y = make_data(13)


def log_prob(q):
    beta, z, log_tau = q[:, :COVARIATES], q[:, COVARIATES:-1], q[:, -1:]
    logits = tf.matmul(beta, X, transpose_b=True) + tf.matmul(z * tf.exp(log_tau), SITE, transpose_b=True)
    likelihood = tf.reduce_sum(Y * logits - tf.nn.softplus(logits), axis=1)
    prior = -0.5 * tf.reduce_sum(beta ** 2 / 4.0, axis=1) - 0.5 * tf.reduce_sum(z ** 2, axis=1)
    return likelihood + prior - 0.5 * log_tau[:, 0] ** 2


def value_and_grad(q):
    with tf.GradientTape() as tape:
        tape.watch(q)
        value = log_prob(q)
    return value, tape.gradient(value, q)


@tf.function
def hmc_step(q, value, grad, step_size, leapfrog_steps, seed):
    p0 = tf.random.stateless_normal(tf.shape(q), seed, dtype=tf.float64)
    q1, p, g, v1 = q, p0, grad, value
    for _ in tf.range(leapfrog_steps):
        p = p + 0.5 * step_size * g
        q1 = q1 + step_size * p
        v1, g = value_and_grad(q1)
        p = p + 0.5 * step_size * g
    log_accept = v1 - value - 0.5 * tf.reduce_sum(p ** 2 - p0 ** 2, axis=1)
    u = tf.math.log(tf.random.stateless_uniform([CHAINS], seed + 1, dtype=tf.float64))
    ok = u < log_accept
    rate = tf.reduce_mean(tf.exp(tf.minimum(log_accept, 0.0)))
    return (tf.where(ok[:, None], q1, q), tf.where(ok, v1, value), tf.where(ok[:, None], g, grad), rate)


def main(warmup=150, draws=700, leapfrog=10, target=0.8):
    rng = np.random.default_rng(0)
    q = tf.constant(0.1 * rng.normal(size=(CHAINS, DIM)))
    value, grad = value_and_grad(q)
    log_eps, log_eps_bar, h_bar, mu = np.log(0.02), 0.0, 0.0, np.log(0.2)
    steps = tf.constant(leapfrog)
    samples, rates = [], []
    for i in range(warmup + draws):
        eps = np.exp(log_eps if i < warmup else log_eps_bar)
        q, value, grad, rate = hmc_step(q, value, grad, tf.constant(eps, tf.float64), steps, tf.constant([i, 77]))
        if i < warmup:
            t = i + 1
            h_bar = (1 - 1 / (t + 10)) * h_bar + (target - float(rate)) / (t + 10)
            log_eps = mu - np.sqrt(t) / 0.05 * h_bar
            w = t ** -0.75
            log_eps_bar = w * log_eps + (1 - w) * log_eps_bar
        else:
            samples.append(q.numpy())
            rates.append(float(rate))
    samples = np.array(samples)
    within = samples.var(axis=0, ddof=1).mean(axis=0)
    between = draws * samples.mean(axis=0).var(axis=0, ddof=1)
    rhat = np.sqrt(((draws - 1) / draws * within + between / draws) / within)
    print("acceptance %.3f  max R-hat %.4f  tau %.4f" % (
        np.mean(rates), rhat.max(), np.exp(samples[..., -1]).mean()))


if __name__ == "__main__":
    main()
