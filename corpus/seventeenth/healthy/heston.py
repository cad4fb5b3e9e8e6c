"""Monte Carlo prices of Asian options under the Heston model."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from dataclasses import dataclass

import tensorflow as tf


@dataclass(frozen=True)
class Heston:
    spot: float = 100.0
    rate: float = 0.02
    v0: float = 0.04
    kappa: float = 1.5
    theta: float = 0.05
    sigma: float = 0.4
    rho: float = -0.6


class PathSimulator:
    def __init__(self, model, maturity, n_steps):
        self.model = model
        self.maturity = maturity
        self.n_steps = n_steps

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)])
    def averages(self, seed, n_paths):
        m = self.model
        dt = self.maturity / self.n_steps
        root = dt ** 0.5
        log_s = tf.fill([n_paths], tf.math.log(m.spot))
        v = tf.fill([n_paths], m.v0)
        total = tf.zeros([n_paths])
        for step in tf.range(self.n_steps):
            z = tf.random.stateless_normal([2, n_paths], seed=tf.stack([seed, step]))
            z_v = m.rho * z[0] + (1.0 - m.rho ** 2) ** 0.5 * z[1]
            v_pos = tf.maximum(v, 0.0)
            vol = tf.sqrt(v_pos)
            log_s += (m.rate - 0.5 * v_pos) * dt + vol * root * z[0]
            v += m.kappa * (m.theta - v_pos) * dt + m.sigma * vol * root * z_v
            total += tf.exp(log_s)
        return total / self.n_steps


class AsianPricer:
    def __init__(self, simulator, strikes):
        self.simulator = simulator
        self.strikes = tf.constant(strikes, tf.float32)

    def price(self, n_blocks, block):
        discount = tf.exp(-self.simulator.model.rate * self.simulator.maturity)
        sums = tf.zeros_like(self.strikes)
        squares = tf.zeros_like(self.strikes)
        for b in range(n_blocks):
            avg = self.simulator.averages(tf.constant(b), tf.constant(block))
            payoff = discount * tf.nn.relu(avg[:, None] - self.strikes[None, :])
            sums += tf.reduce_mean(payoff, 0)
            squares += tf.reduce_mean(payoff ** 2, 0)
        mean = sums / n_blocks
        error = tf.sqrt((squares / n_blocks - mean ** 2) / (n_blocks * block))
        return mean.numpy(), error.numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--block-size", type=int, default=50000)
    parser.add_argument("--steps", type=int, default=250)
    args = parser.parse_args()

    strikes = [80.0, 90.0, 100.0, 110.0, 120.0]
    pricer = AsianPricer(PathSimulator(Heston(), 1.0, args.steps), strikes)
    means, errors = pricer.price(args.blocks, args.block_size)
    for k, p, e in zip(strikes, means, errors):
        print(f"K={k:6.1f}  price={p:8.4f}  +/- {e:.4f}")


if __name__ == "__main__":
    main()
