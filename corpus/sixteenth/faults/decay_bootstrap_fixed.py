"""Bootstrap confidence intervals for a bi-exponential decay with background (photon counts)."""
import numpy as np
import tensorflow as tf

RESAMPLES = 100
STEPS = 150
NAMES = ["amp1", "tau1", "amp2", "tau2", "background"]


def decay(log_p, t):
    a1, t1, a2, t2, b = tf.unstack(tf.exp(log_p))
    return a1 * tf.exp(-t / t1) + a2 * tf.exp(-t / t2) + b


log_p = tf.Variable(tf.zeros([5], tf.float64))


@tf.function
def descend(t, counts):
    m, s = tf.zeros_like(log_p), tf.zeros_like(log_p)
    loss = tf.constant(0.0, tf.float64)
    for k in tf.range(1, STEPS + 1):
        with tf.GradientTape() as tape:
            mu = decay(log_p, t)
            loss = tf.reduce_mean(mu - counts * tf.math.log(mu))
        g = tape.gradient(loss, log_p)
        m = 0.9 * m + 0.1 * g
        s = 0.99 * s + 0.01 * g * g
        n = tf.cast(k, tf.float64)
        m_hat, s_hat = m / (1.0 - 0.9 ** n), s / (1.0 - 0.99 ** n)
        log_p.assign_sub(0.03 * m_hat / (tf.sqrt(s_hat) + 1e-8))
    return loss


def fit(t, counts, start):
    log_p.assign(np.log(start))
    loss = descend(t, counts)
    return np.exp(log_p.numpy()), float(loss)


def main():
    rng = np.random.default_rng(21)
    t_np = np.linspace(0.0, 25.0, 1500)
    truth = np.array([120.0, 1.2, 60.0, 6.0, 4.0])
    t = tf.constant(t_np)
    counts = rng.poisson(decay(np.log(truth), t).numpy()).astype(np.float64)

    best, loss = fit(t, tf.constant(counts), np.array([100.0, 1.0, 50.0, 5.0, 5.0]))
    print("fit", dict(zip(NAMES, best.round(3))), "loss", round(loss, 4))

    expected = decay(np.log(best), t).numpy()
    samples = []
    for _ in range(RESAMPLES):
        fake = tf.constant(rng.poisson(expected).astype(np.float64))
        params, _ = fit(t, fake, best)
        samples.append(params)
    lo, hi = np.percentile(samples, [5, 95], axis=0)
    for name, value, a, b in zip(NAMES, best, lo, hi):
        print(f"{name:10s} {value:8.3f}   90% [{a:8.3f}, {b:8.3f}]")


if __name__ == "__main__":
    main()
