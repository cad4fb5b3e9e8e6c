"""Evaluate a swing-up policy on a batch of held-out initial states.

The actor is a small MLP; the environment is a plain NumPy pendulum, one
episode after the other, the way our training code logs its evaluation.
"""
import math

import numpy as np
import tensorflow as tf

EPISODES = 4
HORIZON = 60
DT = 0.05


class Pendulum:
    """Torque-limited pendulum, observation = (cos, sin, angular velocity)."""

    def __init__(self, rng):
        self.rng = rng
        self.theta = 0.0
        self.omega = 0.0

    def reset(self):
        self.theta = self.rng.uniform(-math.pi, math.pi)
        self.omega = self.rng.uniform(-1.0, 1.0)
        return self.observe()

    def observe(self):
        return np.array(
            [math.cos(self.theta), math.sin(self.theta), self.omega], dtype="float32"
        )

    def step(self, torque):
        angle = (self.theta + math.pi) % (2 * math.pi) - math.pi
        cost = angle**2 + 0.1 * self.omega**2 + 0.001 * torque**2
        self.omega += (15.0 * math.sin(self.theta) + 3.0 * torque) * DT
        self.omega = min(max(self.omega, -8.0), 8.0)
        self.theta += self.omega * DT
        return self.observe(), -cost


def build_actor():
    tf.keras.utils.set_random_seed(7)
    obs = tf.keras.Input((3,))
    h = tf.keras.layers.Dense(128, activation="relu")(obs)
    h = tf.keras.layers.Dense(128, activation="relu")(h)
    mean = tf.keras.layers.Dense(1, activation="tanh")(h)
    return tf.keras.Model(obs, mean * 2.0)


class Agent:
    def __init__(self, actor):
        self.actor = tf.function(lambda x: actor(x, training=False))

    def act(self, obs):
        action = self.actor(tf.constant(obs[None, :]))
        return float(action[0, 0])


def evaluate(agent, env, episodes, horizon):
    returns = []
    for _ in range(episodes):
        obs = env.reset()
        total = 0.0
        for _ in range(horizon):
            torque = agent.act(obs)
            obs, reward = env.step(torque)
            total += reward
        returns.append(total)
    return np.array(returns)


def main():
    env = Pendulum(np.random.default_rng(2024))
    agent = Agent(build_actor())
    returns = evaluate(agent, env, EPISODES, HORIZON)
    print(f"episodes {len(returns)}  mean return {returns.mean():.3f}  "
          f"std {returns.std():.3f}  best {returns.max():.3f}")


if __name__ == "__main__":
    main()
