"""Evolution strategies on a pendulum; every environment step needs the state of the one before."""
import numpy as np
import tensorflow as tf


class LinearTanhPolicy(tf.Module):
    def __init__(self, obs_dim, hidden):
        super().__init__()
        self.shapes = [(obs_dim, hidden), (hidden, 1)]
        self.size = sum(a * b for a, b in self.shapes)

    def act(self, theta, obs):
        i, out = 0, obs[:, tf.newaxis]
        for a, b in self.shapes:
            w = tf.reshape(theta[:, i:i + a * b], (-1, a, b))
            out = tf.tanh(tf.matmul(out, w))
            i += a * b
        return 2.0 * out[:, 0, 0]


class Pendulum:
    dt, g = 0.05, 10.0

    def observe(self, th, om):
        return tf.stack([tf.cos(th), tf.sin(th), om / 8.0], axis=1)

    def step(self, th, om, torque):
        cost = tf.square(tf.math.floormod(th + np.pi, 2 * np.pi) - np.pi) + 0.1 * tf.square(om) + 0.001 * tf.square(torque)
        om = tf.clip_by_value(om + (1.5 * self.g * tf.sin(th) + 3.0 * torque) * self.dt, -8.0, 8.0)
        return th + om * self.dt, om, cost


class Trainer:
    def __init__(self, population=512, horizon=200, sigma=0.1, seed=0):
        self.policy, self.env = LinearTanhPolicy(3, 16), Pendulum()
        self.horizon, self.sigma, self.population = horizon, sigma, population
        self.rng = np.random.RandomState(seed)

    @tf.function(reduce_retracing=True)
    def rollout(self, theta, th, om):
        total = tf.zeros_like(th)
        for _ in tf.range(self.horizon):
            torque = self.policy.act(theta, self.env.observe(th, om))
            th, om, cost = self.env.step(th, om, torque)
            total += cost
        return total

    def train(self, generations):
        mean = np.zeros(self.policy.size, np.float32)
        for g in range(generations):
            noise = self.rng.randn(self.population, len(mean)).astype(np.float32)
            th = self.rng.uniform(-np.pi, np.pi, self.population).astype(np.float32)
            cost = self.rollout(tf.constant(mean + self.sigma * noise), tf.constant(th),
                                tf.zeros(self.population)).numpy()
            rank = cost.argsort().argsort() / (self.population - 1.0) - 0.5
            mean = (mean - 0.8 / (self.population * self.sigma) * noise.T @ rank).astype(np.float32)
            if g % 10 == 0:
                print("generation", g, "cost %.0f" % cost.mean())
        return mean


if __name__ == "__main__":
    Trainer().train(generations=60)
