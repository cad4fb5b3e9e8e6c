"""Prey and hunters on many islands, integrated with Runge-Kutta."""
import argparse

import numpy as np
import tensorflow as tf


def slope(prey, hunters, rates):
    birth, catch, growth, death = rates
    meet = prey * hunters
    return birth * prey - catch * meet, growth * meet - death * hunters


@tf.function
def integrate(prey, hunters, rates, steps):
    h = 0.01
    for _ in tf.range(steps):
        p1, q1 = slope(prey, hunters, rates)
        p2, q2 = slope(prey + h / 2 * p1, hunters + h / 2 * q1, rates)
        p3, q3 = slope(prey + h / 2 * p2, hunters + h / 2 * q2, rates)
        p4, q4 = slope(prey + h * p3, hunters + h * q3, rates)
        prey = prey + h / 6 * (p1 + 2 * p2 + 2 * p3 + p4)
        hunters = hunters + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
    return prey, hunters


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islands", type=int, default=256)
    parser.add_argument("--steps", type=int, default=270)
    parser.add_argument("--years", type=int, default=8)
    args = parser.parse_args()

    rng = np.random.default_rng(12)
    rates = tuple(tf.constant(rng.uniform(lo, hi, args.islands), tf.float32)
                  for lo, hi in [(0.9, 1.1), (0.08, 0.12), (0.06, 0.09), (1.3, 1.6)])
    prey = tf.constant(rng.uniform(8, 12, args.islands), tf.float32)
    hunters = tf.constant(rng.uniform(4, 6, args.islands), tf.float32)
    for year in range(args.years):
        prey, hunters = integrate(prey, hunters, rates, args.steps)
        print("year", year, "prey %.3f hunters %.3f" % (tf.reduce_mean(prey), tf.reduce_mean(hunters)))


if __name__ == "__main__":
    main()
