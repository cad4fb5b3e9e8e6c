"""SciPy trains a small network, all of whose weights are one vector."""

import numpy as np
import tensorflow as tf
from scipy import optimize

rng = np.random.default_rng(4)
x = tf.constant(rng.normal(size=(100, 40)), tf.float64)
y = tf.constant(rng.normal(size=(100, 1)), tf.float64)
SHAPES = [(40, 30), (30,), (30, 10), (10,), (10, 1)]
SIZES = [int(np.prod(shape)) for shape in SHAPES]


@tf.function
def loss_and_slope(weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        first, shift, second, bias, last = [
            tf.reshape(part, shape) for part, shape in zip(tf.split(weights, SIZES), SHAPES)
        ]
        hidden = tf.tanh(tf.tanh(x @ first + shift) @ second + bias)
        loss = tf.reduce_mean(tf.square(hidden @ last - y))
    return loss, tape.gradient(loss, weights)


def evaluate(weights):
    loss, slope = loss_and_slope(tf.constant(weights))
    return loss.numpy(), slope.numpy()


def train(**how):
    start = 0.1 * rng.normal(size=sum(SIZES))
    return optimize.minimize(evaluate, start, jac=True, options={"maxiter": 60}, **how)


print("loss", round(float(train(method="L-BFGS-B").fun), 4))
