import random

import numpy as np
from tensorflow.keras import Input, Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.optimizers import Adam

GAMMA = 0.9


class Agent:
    def __init__(self, n_states, n_actions):
        self.memory = []
        self.model = Sequential(
            [
                Input((n_states,)),
                Dense(24, activation="relu"),
                Dense(24, activation="relu"),
                Dense(n_actions),
            ]
        )
        self.model.compile(loss="mse", optimizer=Adam(learning_rate=0.01))

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self, size):
        batch = random.sample(self.memory, size)
        states = np.concatenate([item[0] for item in batch])
        actions = np.array([item[1] for item in batch])
        rewards = np.array([item[2] for item in batch])
        followings = np.concatenate([item[3] for item in batch])
        running = 1.0 - np.array([item[4] for item in batch], dtype=float)
        target = np.array(self.model(states))
        target[np.arange(size), actions] = rewards + GAMMA * running * np.max(self.model(followings), axis=1)
        return self.model.train_on_batch(states, target)


agent = Agent(6, 3)
rng = np.random.default_rng(0)
state = rng.normal(size=(1, 6))
for t in range(60):
    action = int(rng.integers(3))
    following = 0.9 * state + rng.normal(size=(1, 6)) * 0.1
    agent.remember(state, action, float(following[0, action]), following, t % 20 == 19)
    state = following
for update in range(6):
    print("update", update, "loss", agent.replay(8))
