"""Windowed step-size and mass adaptation for a random-effects model (HMC)."""
import collections

import numpy as np
import tensorflow as tf

State = collections.namedtuple("State", "position log_step running_mean running_var count")


class RandomEffects(tf.Module):
    def __init__(self, groups=12, per_group=15, seed=2):
        super().__init__()
        rng = np.random.RandomState(seed)
        effects = 1.0 + 0.8 * rng.randn(groups)
        self.groups = groups
        self.index = tf.constant(np.repeat(np.arange(groups), per_group))
        self.y = tf.constant((effects[:, None] + rng.randn(groups, per_group)).ravel(), tf.float32)

    def log_prob(self, z):
        mu, log_tau, eta = z[0], z[1], z[2:]
        theta = mu + tf.exp(log_tau) * eta
        lp = -0.5 * tf.reduce_sum(tf.square(self.y - tf.gather(theta, self.index)))
        return lp - 0.5 * tf.reduce_sum(tf.square(eta)) - 0.5 * tf.square(mu / 5.0) - 0.5 * tf.square(log_tau)

    def grad(self, z):
        with tf.GradientTape() as tape:
            tape.watch(z)
            lp = self.log_prob(z)
        return lp, tape.gradient(lp, z)


def leapfrog(model, z, p, step, scale, n=8):
    _, g = model.grad(z)
    p = p + 0.5 * step * g
    for i in range(n):
        z = z + step * scale * p
        lp, g = model.grad(z)
        p = p + (step if i < n - 1 else 0.5 * step) * g
    return z, p, lp


def hmc_step(model, state, scale, seed):
    seeds = tf.random.split(seed, 2)
    p = tf.random.stateless_normal(tf.shape(state.position), seeds[0]) / tf.sqrt(scale)
    step = tf.exp(state.log_step)
    old = model.log_prob(state.position) - 0.5 * tf.reduce_sum(scale * p * p)
    z, p, lp = leapfrog(model, state.position, p, step, scale)
    accept = tf.exp(tf.minimum(0.0, lp - 0.5 * tf.reduce_sum(scale * p * p) - old))
    accept = tf.where(tf.math.is_finite(accept), accept, 0.0)
    keep = tf.random.stateless_uniform((), seeds[1]) < accept
    z = tf.where(keep, z, state.position)
    count = state.count + 1.0
    mean = state.running_mean + (z - state.running_mean) / count
    var = state.running_var + ((z - state.running_mean) * (z - mean) - state.running_var) / count
    return State(z, state.log_step + 0.05 * (accept - 0.8), mean, var, count), accept


@tf.function(autograph=False)
def adaptation_interval(model, state, scale, num_steps, seed):
    def body(i, state, total):
        state, accept = hmc_step(model, state, scale, tf.random.experimental.stateless_fold_in(seed, i))
        return i + 1, state, total + accept

    _, state, total = tf.while_loop(lambda i, *_: i < num_steps, body,
                                    (tf.constant(0), state, tf.constant(0.0)))
    return state, total / tf.cast(num_steps, tf.float32)


def window_sizes(first, growth, total):
    size, done = float(first), 0
    while done < total:
        yield min(int(size), total - done)
        done += int(size)
        size *= growth


def warm_up(model, seed=1):
    dim = model.groups + 2
    state = State(tf.zeros(dim), tf.constant(-3.0), tf.zeros(dim), tf.ones(dim), tf.constant(1.0))
    scale = tf.ones(dim)
    for w, num_steps in enumerate(window_sizes(8, 1.16, 200)):
        state, rate = adaptation_interval(model, state, scale, num_steps, tf.constant([seed, w]))
        scale = tf.clip_by_value(state.running_var, 1e-2, 10.0)
        state = state._replace(count=tf.constant(1.0))
    return state, rate


if __name__ == "__main__":
    state, rate = warm_up(RandomEffects())
    print("acceptance of last window %.2f" % float(rate))
    print("step size %.2f  mean mu %.2f" % (float(tf.exp(state.log_step)), float(state.running_mean[0])))
