"""Monte Carlo prices of a book of Asian options.

Every contract of the book is an object; its price() is a compiled simulation.
"""
import time

import numpy as np
import tensorflow as tf


class AsianOption:
    """Arithmetic average call or put under geometric Brownian motion."""

    def __init__(self, spot, strike, vol, rate, maturity, kind="call",
                 paths=2000, steps=52, seed=0):
        self.spot = float(spot)
        self.strike = float(strike)
        self.vol = float(vol)
        self.rate = float(rate)
        self.maturity = float(maturity)
        self.kind = kind
        self.paths = paths
        self.steps = steps
        self.seed = seed

    def price(self):
        return simulate(self.spot, self.strike, self.vol, self.rate, self.maturity,
                        1.0 if self.kind == "call" else -1.0, self.seed, self.paths, self.steps)


@tf.function
def _simulate(spot, strike, vol, rate, maturity, sign, seed, paths, steps):
    dt = maturity / steps
    drift = (rate - 0.5 * vol ** 2) * dt
    scale = vol * tf.sqrt(dt)
    log_s = tf.fill([paths], tf.math.log(spot))
    total = tf.zeros([paths])
    for k in range(steps):
        z = tf.random.stateless_normal([paths // 2], seed=tf.stack([seed, k]))
        z = tf.concat([z, -z], 0)                     # antithetic pairs
        log_s = log_s + drift + scale * z
        total = total + tf.exp(log_s)
    payoff = tf.nn.relu(sign * (total / steps - strike))
    disc = tf.exp(-rate * maturity)
    return disc * tf.reduce_mean(payoff), disc * tf.math.reduce_std(payoff)


def simulate(spot, strike, vol, rate, maturity, sign, seed, paths, steps):
    # the numbers of a contract go in as tensors: one trace serves the whole book
    floats = [tf.constant(v, tf.float32) for v in (spot, strike, vol, rate, maturity, sign)]
    return _simulate(*floats, tf.constant(seed), paths, steps)


def make_book(n, seed=8):
    rng = np.random.default_rng(seed)
    book = []
    for i in range(n):
        book.append(AsianOption(
            spot=100.0,
            strike=rng.uniform(80, 120),
            vol=rng.uniform(0.1, 0.5),
            rate=rng.uniform(0.0, 0.05),
            maturity=rng.choice([0.25, 0.5, 1.0, 2.0]),
            kind=rng.choice(["call", "put"]),
            seed=i))
    return book


def value_book(book):
    start = time.time()
    prices, errors = [], []
    for i, option in enumerate(book):
        p, sd = option.price()
        prices.append(float(p))
        errors.append(float(sd) / np.sqrt(option.paths))
        if i % 10 == 0:
            print("%4d contracts, %5.1f s" % (i, time.time() - start))
    return np.array(prices), np.array(errors)


if __name__ == "__main__":
    book = make_book(34)
    prices, errors = value_book(book)
    print("value of the book: %.4f +- %.4f" % (prices.sum(), np.sqrt((errors ** 2).sum())))
    calls = np.array([o.kind == "call" for o in book])
    print("calls %.4f, puts %.4f" % (prices[calls].sum(), prices[~calls].sum()))
