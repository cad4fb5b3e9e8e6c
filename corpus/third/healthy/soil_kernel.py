"""Gaussian process over soil samples: hyperparameters by gradient, each step one Cholesky."""
import numpy as np
import tensorflow as tf


class SoilProcess(tf.Module):
    def __init__(self, places, values):
        super().__init__()
        self.places, self.values = tf.constant(places), tf.constant(values)
        self.log_length = tf.Variable(0.0)
        self.log_scale = tf.Variable(0.0)
        self.log_noise = tf.Variable(-1.0)
        squares = tf.reduce_sum(self.places ** 2, 1)
        self.distance = squares[:, None] - 2.0 * self.places @ tf.transpose(self.places) + squares[None]

    def covariance(self):
        near = tf.exp(-0.5 * self.distance * tf.exp(-2.0 * self.log_length))
        noise = tf.exp(self.log_noise) + 1e-3
        return tf.exp(self.log_scale) * near + noise * tf.eye(tf.shape(self.places)[0])

    def loss(self):
        chol = tf.linalg.cholesky(self.covariance())
        alpha = tf.linalg.triangular_solve(chol, self.values[:, None])
        return 0.5 * tf.reduce_sum(alpha ** 2) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))


def samples(count, seed=30):
    rng = np.random.default_rng(seed)
    places = rng.uniform(-2, 2, (count, 2)).astype("float32")
    values = np.sin(2 * places[:, 0]) + np.cos(places[:, 1]) + rng.normal(scale=0.2, size=count)
    return places, values.astype("float32")


def main(steps=40):
    process = SoilProcess(*samples(1100))
    optimizer = tf.keras.optimizers.Adam(0.05)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = process.loss()
        variables = process.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    for number in range(steps):
        loss = step()
        if number % 10 == 0:
            print(number, float(loss))
    print("length", float(tf.exp(process.log_length)), "noise", float(tf.exp(process.log_noise)))


if __name__ == "__main__":
    main()
