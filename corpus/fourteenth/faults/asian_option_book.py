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

    @tf.function
    def price(self):
        dt = self.maturity / self.steps
        drift = (self.rate - 0.5 * self.vol ** 2) * dt
        scale = self.vol * np.sqrt(dt)
        log_s = tf.fill([self.paths], tf.math.log(tf.constant(self.spot)))
        total = tf.zeros([self.paths])
        for k in range(self.steps):
            z = tf.random.stateless_normal([self.paths // 2], seed=[self.seed, k])
            z = tf.concat([z, -z], 0)                     # antithetic pairs
            log_s = log_s + drift + scale * z
            total = total + tf.exp(log_s)
        mean = total / self.steps
        if self.kind == "call":
            payoff = tf.nn.relu(mean - self.strike)
        else:
            payoff = tf.nn.relu(self.strike - mean)
        disc = np.exp(-self.rate * self.maturity)
        return disc * tf.reduce_mean(payoff), disc * tf.math.reduce_std(payoff)


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
