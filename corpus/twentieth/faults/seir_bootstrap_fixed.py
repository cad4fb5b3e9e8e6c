"""Stochastic SEIR outbreak on a metapopulation, replicated over bootstrap parameter draws."""
import random

import numpy as np
import tensorflow as tf

PATCHES, DAYS, STEPS_PER_DAY = 60, 120, 4


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)


def mobility_matrix(seed=0):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(size=(PATCHES, 2))
    d = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    m = np.exp(-d / 0.15)
    return (m / m.sum(axis=1, keepdims=True)).astype("float32")


MOBILITY = tf.constant(mobility_matrix())
POPULATION = tf.constant(np.random.default_rng(1).integers(20000, 200000, PATCHES).astype("float32"))


def draw_events(rate, population, noise):
    mean = population * (1.0 - tf.exp(-rate))
    spread = tf.sqrt(tf.maximum(mean * tf.exp(-rate), 0.0))
    return tf.clip_by_value(tf.round(mean + spread * noise), 0.0, population)


def step(s, e, i, r, beta, sigma, gamma, contact, dt, noise):
    pressure = tf.linalg.matvec(MOBILITY, i / POPULATION)
    new_e = draw_events(beta * contact * pressure * dt, s, noise[0])
    new_i = draw_events(sigma * dt * tf.ones_like(e), e, noise[1])
    new_r = draw_events(gamma * dt * tf.ones_like(i), i, noise[2])
    return s - new_e, e + new_e - new_i, i + new_i - new_r, r + new_r, new_i


@tf.function
def outbreak(beta, sigma, gamma, lockdown_day, noise):
    seeds = tf.one_hot(tf.range(3), PATCHES)
    i = 10.0 * tf.reduce_sum(seeds, axis=0)
    s, e, r = POPULATION - i, tf.zeros_like(i), tf.zeros_like(i)
    dt = 1.0 / STEPS_PER_DAY
    incidence = tf.TensorArray(tf.float32, size=DAYS)
    for day in tf.range(DAYS):
        contact = tf.where(day >= lockdown_day, 0.55, 1.0)
        cases = tf.zeros_like(i)
        for k in range(STEPS_PER_DAY):
            s, e, i, r, new_i = step(s, e, i, r, beta, sigma, gamma, contact, dt, noise[day, k])
            cases += new_i
        incidence = incidence.write(day, cases)
    daily = incidence.stack()
    totals = tf.reduce_sum(daily, axis=1)
    return totals, tf.argmax(totals), tf.reduce_sum(daily, axis=0) / POPULATION


def replicate(index):
    set_seed(1000 + index)
    beta = np.random.gamma(60.0, 0.45 / 60.0)
    sigma = 1.0 / np.random.normal(4.0, 0.3)
    gamma = 1.0 / np.random.normal(6.0, 0.4)
    lockdown = random.randint(30, 50)
    noise = np.random.normal(size=(DAYS, STEPS_PER_DAY, 3, PATCHES)).astype("float32")
    totals, peak, attack = outbreak(
        tf.constant(beta, tf.float32), tf.constant(sigma, tf.float32), tf.constant(gamma, tf.float32),
        tf.constant(lockdown), tf.constant(noise))
    return totals.numpy(), int(peak), attack.numpy()


def main(replicates=65):
    tf.random.set_seed(1000)
    curves, peaks, attacks = zip(*[replicate(i) for i in range(replicates)])
    low, mid, high = np.quantile(np.array(curves).sum(axis=1), [0.05, 0.5, 0.95])
    print("total cases %.0f [%.0f, %.0f]  peak day %.1f +- %.1f  attack rate %.4f" % (
        mid, low, high, np.mean(peaks), np.std(peaks), np.mean(attacks)))


if __name__ == "__main__":
    main()
