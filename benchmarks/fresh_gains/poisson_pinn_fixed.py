"""A network that solves Poisson's equation on a square: second derivatives by nested tapes."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
tf.random.set_seed(2)


class Solver:
    def __init__(self):
        hidden = [tf.keras.layers.Dense(32, activation="tanh") for _ in range(4)]
        self.net = tf.keras.Sequential([tf.keras.Input((2,)), *hidden, tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam(1e-3)

    def laplacian(self, x, y):
        with tf.GradientTape(persistent=True) as second:
            second.watch([x, y])
            with tf.GradientTape(persistent=True) as first:
                first.watch([x, y])
                u = self.net(tf.concat([x, y], axis=1))
            u_x, u_y = first.gradient(u, x), first.gradient(u, y)
        return second.gradient(u_x, x) + second.gradient(u_y, y)

    @tf.function
    def fit_once(self, x, y, border):
        with tf.GradientTape() as tape:
            source = -2 * np.pi**2 * tf.sin(np.pi * x) * tf.sin(np.pi * y)
            inside = tf.reduce_mean(tf.square(self.laplacian(x, y) - source))
            loss = inside + 10.0 * tf.reduce_mean(tf.square(self.net(border)))
        weights = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss


solver = Solver()
x, y = (tf.constant(rng.random((1000, 1)).astype("float32")) for _ in range(2))
sides = rng.random((200, 2)).astype("float32")
sides[np.arange(200), rng.integers(0, 2, 200)] = rng.integers(0, 2, 200)
border = tf.constant(sides)
for number in range(120):
    loss = solver.fit_once(x, y, border)
    if number % 40 == 0:
        print(number, float(loss))
