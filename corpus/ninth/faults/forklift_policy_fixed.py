"""Evaluate a stored forklift policy in the aisle simulator and print a score card."""
import os
import tempfile

import numpy as np
from tensorflow import keras


class Aisle:
    """Forklift on a 2-D floor; has to reach a pallet without touching the racks."""

    def __init__(self, seed, limit=70):
        self.rng = np.random.default_rng(seed)
        self.limit = limit

    def reset(self):
        self.xy = self.rng.uniform([0, 0], [2, 10])
        self.heading = self.rng.uniform(-np.pi, np.pi)
        self.goal = self.rng.uniform([14, 0], [16, 10])
        self.racks = self.rng.uniform([4, 0], [12, 10], (4, 2))
        self.ticks = 0
        return self._obs()

    def _obs(self):
        delta = self.goal - self.xy
        rel = self.racks - self.xy
        return np.concatenate([delta / 10, [np.sin(self.heading), np.cos(self.heading)],
                               (rel / 10).ravel()]).astype("float32")

    def step(self, turn):
        self.heading += 0.4 * float(np.clip(turn, -1, 1))
        self.xy = self.xy + 0.35 * np.array([np.cos(self.heading), np.sin(self.heading)])
        self.ticks += 1
        bumped = bool((np.linalg.norm(self.racks - self.xy, axis=1) < 0.4).any())
        arrived = np.linalg.norm(self.goal - self.xy) < 0.8
        reward = -0.01 - 1.0 * bumped + 5.0 * arrived
        return self._obs(), reward, arrived or self.ticks >= self.limit


def stored_policy(folder):
    keras.utils.set_random_seed(14)
    policy = keras.Sequential([
        keras.Input((12,)),
        keras.layers.Dense(128, activation="tanh"),
        keras.layers.Dense(128, activation="tanh"),
        keras.layers.Dense(1, activation="tanh"),
    ])
    path = os.path.join(folder, "policy.keras")
    policy.save(path)
    return keras.models.load_model(path)


def evaluate(policy, episodes):
    card = []
    for ep in range(episodes):
        env = Aisle(seed=100 + ep)
        obs, done, total = env.reset(), False, 0.0
        while not done:
            turn = policy(obs[None], training=False).numpy()[0, 0]
            steer = np.arctan2(obs[1], obs[0]) - np.arctan2(obs[2], obs[3])
            obs, reward, done = env.step(0.2 * turn + np.sin(steer))
            total += reward
        card.append((total, env.ticks))
    return np.array(card)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        card = evaluate(stored_policy(folder), episodes=5)
    print("mean return %.3f, mean ticks %.1f, successes %d of %d" % (
        card[:, 0].mean(), card[:, 1].mean(), (card[:, 1] < 70).sum(), len(card)))
