import random
import time
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras


class WaterTank:
    """Keep the level of two coupled tanks near the set point. 3 valve positions."""

    def reset(self):
        self.h = np.random.uniform(0.2, 0.8, 2)
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.array([self.h[0], self.h[1], self.h[0] - 0.5, self.h[1] - 0.5], "float32")

    def step(self, a):
        flow = (0.0, 0.04, 0.08)[a]
        q = 0.05 * np.sign(self.h[0] - self.h[1]) * np.sqrt(abs(self.h[0] - self.h[1]))
        self.h[0] += flow - q
        self.h[1] += q - 0.03 * np.sqrt(max(self.h[1], 0))
        self.h = np.clip(self.h + np.random.normal(0, 0.002, 2), 0, 1)
        self.t += 1
        reward = 1.0 - 4 * abs(self.h[1] - 0.5)
        return self._obs(), reward, self.t >= 60


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.action_size = action_size
        self.memory = deque(maxlen=2000)
        self.gamma = 0.95
        self.epsilon = 1.0
        self.epsilon_min = 0.05
        self.epsilon_decay = 0.99
        self.model = keras.Sequential([
            keras.Input((state_size,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(action_size, activation="linear"),
        ])
        self.model.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        return int(np.argmax(self.model.predict_on_batch(state[None])[0]))

    def replay(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        s, a, r, s2, done = map(np.array, zip(*batch))
        q_next = self.model.predict_on_batch(s2.astype("float32"))
        target = self.model.predict_on_batch(s.astype("float32"))
        target[np.arange(batch_size), a] = r + (~done) * self.gamma * q_next.max(axis=1)
        self.model.train_on_batch(s.astype("float32"), target)
        self.epsilon = max(self.epsilon_min, self.epsilon * self.epsilon_decay)


if __name__ == "__main__":
    EPISODES = 5
    BATCH = 32
    random.seed(1)
    keras.utils.set_random_seed(1)
    env = WaterTank()
    agent = DQNAgent(4, 3)
    start = time.time()
    for e in range(EPISODES):
        state, total, done = env.reset(), 0.0, False
        while not done:
            action = agent.act(state)
            nxt, reward, done = env.step(action)
            agent.memory.append((state, action, reward, nxt, done))
            state = nxt
            total += reward
            if len(agent.memory) > BATCH:
                agent.replay(BATCH)
        print(f"episode {e + 1}/{EPISODES} score {total:.2f} eps {agent.epsilon:.2f} "
              f"{time.time() - start:.1f}s", flush=True)
